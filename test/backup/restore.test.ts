import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
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
  t.match(refused.message, /goes behind what this box has signed: 3 leaves .*2 leaves.*up to 2026-.*--accept-fork/s)
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
      /was restored here before, and log .* goes on from it.*\(2 leaves\), up to 2026-.*would be lost. Nothing was changed.*--again/s,
    )
    t.match(verifyLedger(dataDir), { ok: true, events: 2 })
    const nowMs = Date.parse('2026-03-02T22:00:00Z')
    const done = await restored(file, dataDir, { acceptFork: true, again: true, nowMs })
    t.match(verifyLedger(dataDir), { ok: true, events: 1 })
    t.match(verifyLedger(done.aside ?? ''), { ok: true, events: 2 }, 'what was replaced is kept whole')
  },
)

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
