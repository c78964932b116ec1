import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { makeBackup } from '../../src/backup/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { systemRandom } from '../../src/platform/index.ts'
import { newFolder, restored } from '../support/backups.ts'
import { type Bundle, verifyBundle } from '../support/evidence/bundle.ts'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'
import { place, signedLedger } from '../support/tamper.ts'

/** The disk as it was at one moment, which is what a kill -9 at that moment leaves. */
type Moment = { readonly what: string; readonly folder: string }

/** Copies the folder of a gateway in front of and behind each change of a file name among its keys, while `work` runs. */
async function momentsOf(t: Test, gateway: TestGateway, work: () => Promise<unknown>): Promise<Moment[]> {
  const moments: Moment[] = []
  const take = (what: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-moment-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    cpSync(gateway.folder, folder, { recursive: true, filter: (path) => !path.endsWith('-shm') })
    moments.push({ what, folder })
  }
  const { rename, rm } = fs
  const around =
    <Args extends unknown[], R>(verb: string, name: (args: Args) => unknown, real: (...args: Args) => Promise<R>) =>
    async (...args: Args): Promise<R> => {
      const isKey = String(name(args)).includes(join('keys', 'log'))
      if (isKey) take(`in front of ${verb} ${basename(String(name(args)))}`)
      const result = await real(...args)
      if (isKey) take(`behind ${verb} ${basename(String(name(args)))}`)
      return result
    }
  Object.assign(fs, {
    rename: around('writing', ([, to]: Parameters<typeof rename>) => to, rename),
    rm: around('removing', ([path]: Parameters<typeof rm>) => path, rm),
  })
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    Object.assign(fs, { rename, rm })
    syncBuiltinESMExports()
  }
  return moments
}

const keyOf = async (gateway: TestGateway): Promise<string> =>
  (await gateway.ask('GET', '/api/health', { by: people.ada })).body.logKey

/** A gateway that was killed at this moment starts, signs, verifies, proves to who has the old key, and can rotate again. */
async function goesOn(t: Test, { what, folder }: Moment, old: string): Promise<boolean> {
  const gateway = await testGateway({ folder })
  t.teardown(() => gateway.end())
  const { dataDir } = gateway.live.config
  t.match(verifyLedger(dataDir), { ok: true, mismatches: { length: 0 } }, `${what}: the disk verifies as it was left`)
  gateway.checkpoints.start()
  await place(gateway, 9)
  await gateway.checkpoints.make()
  const isRotated = (await keyOf(gateway)) !== old
  t.match(verifyLedger(dataDir), { ok: true, mismatches: { length: 0 } }, what)
  t.notOk(existsSync(join(dataDir, 'keys', 'log-next.key')), `${what}: nothing is left over`)
  t.notOk(
    readdirSync(join(dataDir, 'keys')).some((name) => name.includes('.part')),
    `${what}: no part either`,
  )
  const proof = async () => (await gateway.ask('GET', '/api/whms/events/7/proof', { by: people.vera })).body as Bundle
  t.match(verifyBundle(await proof(), { keys: [old] }), { ok: true }, what)
  await gateway.rotateKeys('root')
  t.match(verifyBundle(await proof(), { keys: [old] }), { ok: true }, `${what}, and rotated again`)
  t.match(verifyLedger(dataDir), { ok: true, mismatches: { length: 0 } }, `${what}, and rotated again`)
  await gateway.checkpoints.stop()
  return isRotated
}

t.test('a gateway that is killed at any step of a rotation starts, and finishes it or has undone it', async (t) => {
  const gateway = await signedLedger(t)
  const old = await keyOf(gateway)
  const moments = await momentsOf(t, gateway, () => gateway.rotateKeys('root'))
  const rotated: boolean[] = []
  for (const moment of moments) rotated.push(await goesOn(t, moment, old))
  t.strictSame(
    moments.map(({ what }, i) => `${what}: ${rotated[i] ? 'finished' : 'undone'}`),
    [
      'in front of writing log-next.key: undone',
      'behind writing log-next.key: undone',
      'in front of writing log.head: finished',
      'behind writing log.head: finished',
      'in front of writing log.key: finished',
      'behind writing log.key: finished',
      'in front of writing log-mldsa.key: finished',
      'behind writing log-mldsa.key: finished',
      'in front of removing log-next.key: finished',
      'behind removing log-next.key: finished',
    ],
  )
})

t.test('a backup of any step of a rotation comes back, with keys that fit its ledger', async (t) => {
  const gateway = await signedLedger(t)
  const moments = await momentsOf(t, gateway, () => gateway.rotateKeys('root'))
  for (const { what, folder } of moments.filter((_, i) => [1, 2, 5].includes(i))) {
    const file = join(newFolder(t), 'gatehouse.tar')
    const where = { dataDir: join(folder, 'state'), target: file, settings: [], reserveBytes: 0 }
    await makeBackup(
      { ...where, media: true, version: '1', nowMs: gateway.clock.now(), beside: false, sealed: false },
      systemRandom,
    )
    const target = newFolder(t)
    await restored(file, join(target, 'state'))
    const back = await testGateway({ folder: target })
    t.teardown(() => back.end())
    back.checkpoints.start()
    await back.rotateKeys('root')
    await place(back, 9)
    await back.checkpoints.make()
    t.match(verifyLedger(back.live.config.dataDir), { ok: true, mismatches: { length: 0 } }, what)
    for (const id of [1, 7]) {
      const proof = await back.ask('GET', `/api/whms/events/${id}/proof`, { by: people.vera })
      t.match(verifyBundle(proof.body), { ok: true }, `${what}: event ${id}`)
    }
    await back.checkpoints.stop()
  }
})
