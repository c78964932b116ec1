import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifyLedger } from '../../src/evidence/index.ts'
import { backedUp, barcodes, newFolder, opened, place, restored, sha256Of, stocked } from '../support/backups.ts'

t.test('a new box goes on from the backup, with a new log that states the break', async (t) => {
  const gateway = await stocked(t)
  const file = await backedUp(t, gateway, true)
  const { dataDir } = gateway.live.config
  const before = verifyLedger(dataDir)
  const folder = newFolder(t)
  const done = await restored(file, join(folder, 'state'))
  t.match(done, { size: 1, rootHash: before.root, events: 1, lacking: 0, erased: 0, aside: null })
  t.match(done.fork, { parentLogId: before.logId, parentSize: 1, parentRoot: before.root })
  t.match(done.lost, { from: /^2026-/, to: null, leaves: null })
  const verified = verifyLedger(join(folder, 'state'))
  t.match(verified, {
    ok: true,
    events: 1,
    logId: done.fork?.logId,
    logs: [{ logId: before.logId, root: before.root }, {}],
  })
  const again = await opened(t, folder)
  t.same(await barcodes(again), ['P-1'])
  await place(again, 2)
  t.equal((await again.checkpoints.make()).size, again.logIdentity.number === 2 ? 2 : 0)
  t.match(verifyLedger(join(folder, 'state')), { ok: true, events: 2 })
  t.equal(sha256Of(join(folder, 'state/keys/box.key')), sha256Of(join(dataDir, 'keys/box.key')))
  t.match(readFileSync(join(folder, 'state/restored-settings/1-gatehouse.yaml'), 'utf8'), 'test-site')
})

t.test('a restore that goes behind what was signed needs --accept-fork, and says which window is lost', async (t) => {
  const gateway = await stocked(t)
  const file = await backedUp(t, gateway)
  await place(gateway, 2)
  await place(gateway, 3)
  await gateway.checkpoints.make()
  gateway.close()
  const { dataDir } = gateway.live.config
  const refused = (await restored(file, dataDir).catch((error: Error) => error)) as Error
  t.match(refused.message, /is older than the signed log of this box: 3 leaves .*2 leaves.*up to 2026-.*--accept-fork/s)
  t.match(verifyLedger(dataDir), { ok: true, events: 3 }, 'nothing was changed')
  t.same(
    readdirSync(dataDir).filter((name) => /^(restore|replaced)/.test(name)),
    [],
  )
  const done = await restored(file, dataDir, { acceptFork: true })
  t.match(done, { lost: { leaves: 2, from: /^2026-/, to: /^2026-/ }, fork: { parentSize: 1 } })
  t.match(verifyLedger(dataDir), { ok: true, events: 1 })
  t.match(verifyLedger(done.aside ?? ''), { ok: true, events: 3 }, 'what was replaced is kept whole')
  t.same(await barcodes(await opened(t, gateway.folder)), ['P-1'])
})

t.test(
  'a backup that was restored here does not replace what was recorded since before somebody insists',
  async (t) => {
    const gateway = await stocked(t)
    const file = await backedUp(t, gateway)
    await place(gateway, 2)
    gateway.close()
    const { dataDir } = gateway.live.config
    const first = await restored(file, dataDir, { acceptFork: true })
    const twice = await restored(file, dataDir, { acceptFork: true, nowMs: Date.parse('2026-03-02T21:00:00Z') })
    t.match(twice, { fork: { parentSize: 1 } }, 'nothing was recorded since')
    t.not(twice.fork?.logId, first.fork?.logId)
    const again = await opened(t, gateway.folder)
    await place(again, 3)
    again.close()
    const refused = (await restored(file, dataDir, { acceptFork: true }).catch((error: Error) => error)) as Error
    t.match(
      refused.message,
      /forked its log before.* goes on with log .*\(2 leaves\), up to 2026-.*would be lost. Nothing was changed.*--again/s,
    )
    t.match(verifyLedger(dataDir), { ok: true, events: 2 })
    const nowMs = Date.parse('2026-03-02T22:00:00Z')
    const done = await restored(file, dataDir, { acceptFork: true, again: true, nowMs })
    t.match(verifyLedger(dataDir), { ok: true, events: 1 })
    t.match(verifyLedger(done.aside ?? ''), { ok: true, events: 2 }, 'what was replaced is kept whole')
  },
)

/** A box that was restored once and went on, with a backup of after that, which lacks P-5. */
async function goneOn(t: Test) {
  const gateway = await stocked(t)
  const older = await backedUp(t, gateway)
  await place(gateway, 2)
  const { dataDir } = gateway.live.config
  const first = await backedUp(t, gateway)
  await place(gateway, 3)
  gateway.close()
  await restored(first, dataDir, { acceptFork: true })
  const again = await opened(t, gateway.folder)
  await place(again, 4)
  const newer = await backedUp(t, again)
  await place(again, 5)
  return { again, dataDir, older, first, newer, nowMs: Date.parse('2026-03-02T22:00:00Z') }
}

t.test('no backup replaces what a box recorded since it forked before somebody insists', async (t) => {
  const { again, dataDir, older, first, newer, nowMs } = await goneOn(t)
  await again.checkpoints.make()
  again.close()
  const refusal = async (file: string, options: { acceptFork?: boolean; again?: boolean }) =>
    ((await restored(file, dataDir, { ...options, nowMs }).catch((error: Error) => error)) as Error).message
  const lost = (leaves: number) =>
    new RegExp(
      `forked its log before.*\\(${leaves} leaves\\), up to 2026-.*would be lost. Nothing was changed.*add --again`,
      's',
    )
  t.match(await refusal(newer, { acceptFork: true }), lost(1), 'made since the first restore')
  t.match(await refusal(first, { acceptFork: true }), lost(3), 'the same')
  t.match(await refusal(older, { acceptFork: true }), lost(4), 'older than the first')
  t.match(await refusal(newer, {}), /add --accept-fork --again/, 'both are named at once')
  t.match(await refusal(newer, { again: true }), /add --accept-fork:/)
  t.match(verifyLedger(dataDir), { ok: true, events: 4 })
  const done = await restored(newer, dataDir, { acceptFork: true, again: true, nowMs })
  t.match(verifyLedger(dataDir), { ok: true, events: 3 })
  t.match(verifyLedger(done.aside ?? ''), { ok: true, events: 4 }, 'what was replaced is kept whole')
})

for (const [harm, damage] of [
  ['is gone', (file: string) => rmSync(file)],
  ['is behind what was signed', (file: string) => renameSync(`${file}-before`, file)],
] as const) {
  t.test(`a box that forked before and whose ledger ${harm} takes a backup as after the first accident`, async (t) => {
    const { again, dataDir, newer, nowMs } = await goneOn(t)
    again.close()
    const file = join(dataDir, 'gatehouse.db')
    cpSync(file, `${file}-before`)
    const last = await opened(t, again.folder)
    await place(last, 6)
    await last.checkpoints.make()
    last.close()
    for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    damage(file)
    const refused = (await restored(newer, dataDir, { nowMs }).catch((error: Error) => error)) as Error
    t.match(refused.message, /add --accept-fork:/)
    t.match(await restored(newer, dataDir, { acceptFork: true, nowMs }), { fork: { parentSize: 2 } })
    t.match(verifyLedger(dataDir), { ok: true, events: 3 })
  })
}

t.test('a leaf that was never signed forks the log too, because its number was given to somebody', async (t) => {
  const gateway = await stocked(t)
  const file = await backedUp(t, gateway)
  await place(gateway, 2)
  gateway.close()
  const done = await restored(file, gateway.live.config.dataDir)
  t.match(done, { lost: { leaves: 1 }, fork: { parentSize: 1 } })
})

t.test('a backup of exactly what is there goes on with the same log', async (t) => {
  const gateway = await stocked(t)
  const file = await backedUp(t, gateway)
  gateway.close()
  const { dataDir } = gateway.live.config
  const { logId } = verifyLedger(dataDir)
  t.match(await restored(file, dataDir), { fork: null, lost: { leaves: 0 } })
  const again = await opened(t, gateway.folder)
  await place(again, 2)
  await again.checkpoints.make()
  t.match(verifyLedger(dataDir), { ok: true, logId, size: 2 })
})

t.test('photos that the backup left out are taken from the folder that is replaced', async (t) => {
  const gateway = await stocked(t)
  const file = await backedUp(t, gateway, false)
  gateway.close()
  const { dataDir } = gateway.live.config
  t.match(await restored(file, dataDir), { lacking: 0 })
  t.match(verifyLedger(dataDir), { ok: true, media: 1 })
  const elsewhere = join(newFolder(t), 'state')
  t.match(await restored(file, elsewhere), { lacking: 1 })
  t.match(verifyLedger(elsewhere).mismatches, [{ what: 'its file is not there' }])
})

t.test('a folder whose ledger is gone takes the backup, and a checkpoint that was left there is heard', async (t) => {
  const gateway = await stocked(t)
  const file = await backedUp(t, gateway)
  await place(gateway, 2)
  await gateway.checkpoints.make()
  gateway.close()
  const { dataDir } = gateway.live.config
  for (const end of ['', '-wal', '-shm']) rmSync(join(dataDir, `gatehouse.db${end}`), { force: true })
  const refused = (await restored(file, dataDir).catch((error: Error) => error)) as Error
  t.match(refused.message, /2 leaves of log .* up to an unknown time/)
  const done = await restored(file, dataDir, { acceptFork: true })
  t.match(done, { lost: { to: null, leaves: null }, fork: { parentSize: 1 } })
  t.same(await barcodes(await opened(t, gateway.folder)), ['P-1'])
  t.notOk(existsSync(join(dataDir, 'restore.part')))
})
