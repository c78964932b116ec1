import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { readCheckpointText, readNote, readVkey, verifySignatures } from '../../src/evidence/transparency/note.ts'
import { createLogger } from '../../src/platform/index.ts'
import {
  furnish,
  heldPhoto,
  type Person,
  people,
  type TestGateway,
  type TestGatewayOptions,
  testGateway,
} from '../support/gateway.ts'
import { waitUntil } from '../support/waiting.ts'

const by = people.vera

async function warehouse(t: { teardown(work: () => unknown): void }, options: TestGatewayOptions = {}) {
  const gateway = await testGateway(options)
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  return gateway
}

async function place(gateway: TestGateway, barcode: string): Promise<void> {
  const photo_url = await heldPhoto(gateway)
  const body = { event_type: 'PLACED', slot_code: 'A', asset_barcode: barcode, photo_url }
  const { status } = await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  if (status !== 201) throw new Error(`the placement was answered ${status}`)
}

/** The newest checkpoint as a stranger reads it: with the keys that the health page names. */
async function readCheckpoint(gateway: TestGateway) {
  const { text, headers, status } = await gateway.ask('GET', '/api/log/checkpoint', { by })
  const { logKey, logKeyPostQuantum } = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  const keys = [logKey, logKeyPostQuantum].map((vkey) => readVkey(vkey))
  const note = readNote(text)
  if (!note || keys.some((key) => !key)) throw new Error(`not a note or a key: ${status} ${text}`)
  const signatures = verifySignatures(
    note,
    keys.filter((key) => key !== undefined),
  )
  return { headers, signatures, checkpoint: readCheckpointText(note.text), text }
}

t.test('the newest checkpoint is a note that both keys of the box have signed', async (t) => {
  const gateway = await warehouse(t)
  t.equal((await gateway.ask('GET', '/api/log/checkpoint', { by })).status, 503, 'nothing is signed yet')
  await place(gateway, 'P-1')
  await gateway.checkpoints.make()
  const metrics = (await gateway.ask('GET', '/api/metrics', { by: people.ada })).text
  t.match(metrics, /^gatehouse_log_signed_leaves 1$/m)
  const { checkpoint, signatures, headers } = await readCheckpoint(gateway)
  t.equal(headers.get('content-type')?.toLowerCase(), 'text/plain; charset=utf-8')
  const { logId } = gateway.logIdentity
  t.match(checkpoint, { origin: `gatehouse/test-site/${logId}`, size: 1, isExtended: false })
  t.same(
    signatures.map(({ key, holds }) => ({ type: key.type, holds })),
    [
      { type: 1, holds: true },
      { type: 6, holds: true },
    ],
  )
  t.equal(signatures[1]?.atMs, Math.floor(gateway.clock.now() / 1000) * 1000, 'the second states its time')
  const leaf = await gateway.ask('GET', '/api/log/tile/0/000.p/1', { by })
  t.same(checkpoint?.root, leaf.bytes, 'the root of one leaf is its hash')
})

t.test('keys are private files that stay over a restart', async (t) => {
  const gateway = await warehouse(t)
  await gateway.checkpoints.make()
  const before = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  for (const name of ['log.key', 'log-mldsa.key', 'log.head']) {
    t.equal(statSync(join(gateway.live.config.dataDir, 'keys', name)).mode & 0o777, 0o600, name)
  }
  const again = await gateway.restart()
  const after = (await again.ask('GET', '/api/health', { by: people.ada })).body
  t.same([after.logKey, after.logKeyPostQuantum], [before.logKey, before.logKeyPostQuantum])
})

t.test('each checkpoint continues the one before it, and is kept', async (t) => {
  const gateway = await warehouse(t)
  for (const barcode of ['P-1', 'P-2', 'P-3']) {
    await place(gateway, barcode)
    await gateway.checkpoints.make()
  }
  await gateway.checkpoints.make()
  const { data } = (await gateway.ask('GET', '/api/log/checkpoints', { by })).body
  t.same(
    data.map(({ size }: { size: number }) => size),
    [3, 2, 1],
    'a log that did not grow is not signed again',
  )
  const page = (await gateway.ask('GET', '/api/log/checkpoints?limit=1&before=3', { by })).body
  t.match(page.data, [{ size: 2, rootHash: data[1].rootHash, note: data[1].note }])
  const { body } = await gateway.ask('GET', '/api/log/consistency?from=1&to=3', { by })
  t.match(body, { success: true, from: 1, to: 3 })
  t.equal(body.proof.length, 2)
  for (const [query, field] of [
    ['from=1&to=4', 'to'],
    ['from=3&to=2', 'to'],
  ]) {
    const refused = await gateway.ask('GET', `/api/log/consistency?${query}`, { by })
    t.match(refused, { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
    t.match(refused.text, `"${field}"`)
  }
})

t.test('nothing beyond the newest checkpoint is served, and a tile has one address', async (t) => {
  const gateway = await warehouse(t)
  await place(gateway, 'P-1')
  await gateway.checkpoints.make()
  await place(gateway, 'P-2')
  const status = async (path: string, person: Person = people.sven) =>
    (await gateway.ask('GET', `/api/log/tile/${path}`, { by: person })).status
  t.equal(await status('0/000.p/1'), 200)
  t.equal(await status('entries/000.p/1'), 200)
  for (const path of ['0/000.p/2', '0/000', '1/000.p/1', '0/001.p/1', 'entries/000.p/2', 'entries/000']) {
    t.equal(await status(path), 404, path)
  }
  for (const path of [
    '0/0.p/1',
    '0/x000/000.p/1',
    '00/000.p/1',
    '0/000.p/01',
    '64/000.p/1',
    '0/000.p/256',
    '0/000/x',
  ]) {
    t.equal(await status(path), 404, path)
  }
  t.equal(await status('entries/000.p/1', people.vera), 403, 'entries hold barcodes')
  t.equal((await gateway.ask('GET', '/api/log/checkpoint')).status, 401)
  const tile = await gateway.ask('GET', '/api/log/tile/0/000.p/1', { by })
  t.match(tile.headers.get('cache-control') ?? '', /immutable/)
})

t.test('a number of leaves or an interval leads to the next checkpoint, and a clean stop to the last', async (t) => {
  const config = { evidence: { checkpoint: { every: '5m', leaves: 3 } } }
  const gateway = await warehouse(t, { config })
  const signed = async (work: () => unknown): Promise<number> => {
    const next = new Promise<number>((resolve) => gateway.checkpoints.onCheckpoint(({ size }) => resolve(size)))
    await work()
    return next
  }
  t.equal(await signed(() => gateway.checkpoints.start()), 0, 'a new log is signed while it is empty')
  await place(gateway, 'P-1')
  await place(gateway, 'P-2')
  t.equal(gateway.checkpoints.newest()?.size, 0)
  t.equal(await signed(() => place(gateway, 'P-3')), 3, 'three leaves are enough')
  await place(gateway, 'P-4')
  t.equal(await signed(() => gateway.clock.advance(300_000)), 4, 'after five minutes')
  await place(gateway, 'P-5')
  t.equal(await signed(() => gateway.checkpoints.stop()), 5, 'at a clean stop')
})

t.test('a checkpoint that cannot be made is tried again after a minute, not at each event', async (t) => {
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line) })
  const config = { evidence: { checkpoint: { every: '24h', leaves: 1 } } }
  const gateway = await warehouse(t, { config, log })
  const next = () => new Promise<number>((resolve) => gateway.checkpoints.onCheckpoint(({ size }) => resolve(size)))
  const first = next()
  gateway.checkpoints.start()
  await first
  const head = join(gateway.live.config.dataDir, 'keys', 'log.head')
  rmSync(head)
  mkdirSync(join(head, 'in-its-place'), { recursive: true })
  const failures = () => lines.filter((line) => line.includes('a checkpoint of the log could not be made'))
  for (const barcode of ['P-1', 'P-2', 'P-3']) {
    await place(gateway, barcode)
    await waitUntil('the failure is told', () => failures().length > 0)
    await gateway.checkpoints.make().catch(() => undefined)
  }
  t.equal(failures().length, 1)
  rmSync(head, { recursive: true })
  const made = next()
  gateway.clock.advance(60_000)
  t.equal(await made, 3, 'all is signed once it can be')
  const again = next()
  await place(gateway, 'P-4')
  t.equal(await again, 4, 'and each event leads to the next one as before')
})

t.test('a checkpoint that somebody asked for in vain is tried again after a minute as well', async (t) => {
  const gateway = await warehouse(t, { config: { evidence: { checkpoint: { every: '24h', leaves: 4 } } } })
  const next = () => new Promise<number>((resolve) => gateway.checkpoints.onCheckpoint(({ size }) => resolve(size)))
  const first = next()
  gateway.checkpoints.start()
  await first
  await place(gateway, 'P-1')
  const head = join(gateway.live.config.dataDir, 'keys', 'log.head')
  rmSync(head)
  mkdirSync(join(head, 'in-its-place'), { recursive: true })
  await t.rejects(gateway.checkpoints.make(), { code: 'STORAGE_FULL' })
  rmSync(head, { recursive: true })
  const made = next()
  gateway.clock.advance(60_000)
  t.equal(await made, 1)
})

t.test('a database that was put back by hand is refused at the start, in words that say what to do', async (t) => {
  const gateway = await warehouse(t)
  const { dataDir } = gateway.live.config
  await place(gateway, 'P-1')
  await gateway.checkpoints.make()
  const db = new BetterSqlite3(databaseFile(dataDir))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  const old = readFileSync(databaseFile(dataDir))
  await place(gateway, 'P-2')
  await gateway.checkpoints.make()
  gateway.close()
  writeFileSync(databaseFile(dataDir), old)
  const restart = () => testGateway({ clock: gateway.clock, folder: gateway.folder })
  await t.rejects(restart(), {
    exitCode: 78,
    message: /2 leaves of the log were signed, but the database has only 1.*restore --accept-fork/,
  })
})

t.test('a checkpoint whose row was lost in a crash is signed again over the same leaves', async (t) => {
  const gateway = await warehouse(t)
  const { dataDir } = gateway.live.config
  await place(gateway, 'P-1')
  const { root } = await gateway.checkpoints.make()
  const db = new BetterSqlite3(databaseFile(dataDir))
  const guards = db.prepare(`SELECT sql FROM sqlite_master WHERE name = 'log_checkpoint_no_delete'`).pluck().get()
  db.exec(`DROP TRIGGER log_checkpoint_no_delete; DELETE FROM log_checkpoint; ${guards}`)
  db.close()
  const again = await gateway.restart()
  t.equal(again.checkpoints.newest(), undefined)
  const made = await again.checkpoints.make()
  t.equal(made.size, 1)
  t.same(made.root, root)
})

t.test('a ledger that does not verify is never signed for the first time', async (t) => {
  const gateway = await warehouse(t)
  await place(gateway, 'P-1')
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  const guard = db.prepare(`SELECT sql FROM sqlite_master WHERE name = 'placement_event_no_update'`).pluck().get()
  db.exec(`DROP TRIGGER placement_event_no_update; UPDATE placement_event SET asset_barcode = 'P-9'; ${guard}`)
  db.close()
  await t.rejects(gateway.checkpoints.make(), { code: 'NOT_READY' })
  t.equal(gateway.checkpoints.stopped, 'not-verified')
  t.equal((await gateway.ask('GET', '/api/log/checkpoint', { by })).status, 503)
  await gateway.jobs.stop()
})

t.test('a log whose hashes were changed behind the last checkpoint is not signed any more', async (t) => {
  const gateway = await warehouse(t)
  await place(gateway, 'P-1')
  await place(gateway, 'P-2')
  await gateway.checkpoints.make()
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  const guard = db.prepare(`SELECT sql FROM sqlite_master WHERE name = 'log_leaf_no_update'`).pluck().get()
  db.exec(`DROP TRIGGER log_leaf_no_update; UPDATE log_leaf SET hash = zeroblob(32) WHERE seq = 1; ${guard}`)
  db.close()
  await place(gateway, 'P-3')
  await t.rejects(gateway.checkpoints.make(), { code: 'NOT_READY' })
  t.equal(gateway.checkpoints.stopped, 'not-a-continuation')
  await gateway.health.look()
  const { data } = (await gateway.ask('GET', '/api/alerts', { by: people.ada })).body
  t.match(data, [{ kind: 'log.unsigned', message: /does not give the root that was signed last/ }])
  const health = (await gateway.ask('GET', '/api/health', { by: people.ada })).body
  t.match(health.checks.database, { status: 'degraded', reason: /cannot be signed/ })
})
