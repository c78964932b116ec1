import { cpSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { loadRecoveryKey, writeSegments } from '../../src/backup/index.ts'
import { inventory } from '../../src/backup/segments/inventory.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { systemRandom } from '../../src/platform/index.ts'
import { barcodes, newFolder, opened, place, stocked } from '../support/backups.ts'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'
import { filesBelow, recoveryKeyOf, restoredFrom, segmenting, segmentsIn, written } from '../support/segments.ts'

/** Every row of every table that travels, as SQLite has it. */
function rowsOf(dataDir: string): Record<string, unknown[]> {
  const db = new BetterSqlite3(join(dataDir, 'gatehouse.db'), { readonly: true })
  try {
    const kept = Object.entries(inventory).filter(([, { how }]) => how !== 'leftOut')
    const rows = kept.map(([table, how]) => {
      const where = how.how === 'changes' && how.where ? `WHERE ${how.where}` : ''
      return [
        table,
        db
          .prepare(`SELECT * FROM ${table} ${where}`)
          .raw()
          .all()
          .map((row) => JSON.stringify(row))
          .toSorted(),
      ]
    })
    return Object.fromEntries(rows)
  } finally {
    db.close()
  }
}

const asks = async (gateway: TestGateway, path: string) =>
  (await gateway.ask('GET', path, { by: people.ada })).body.data

t.test('every table of the schema travels, or says why it does not', async (t) => {
  const { gateway } = await segmenting(t)
  const db = new BetterSqlite3(join(gateway.live.config.dataDir, 'gatehouse.db'), { readonly: true })
  const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all()
  db.close()
  t.same(Object.keys(inventory).toSorted(), names)
  for (const [table, kept] of Object.entries(inventory)) if (kept.how === 'leftOut') t.match(kept.why, /\w+ \w+/, table)
})

t.test('a new box has every row of the old one from its segments alone', async (t) => {
  const { gateway, folder } = await segmenting(t)
  await place(gateway, 2, { notes: 'a corner is torn', operator: 'Dana Dock' })
  await written(gateway)
  await place(gateway, 3)
  await gateway.ask('POST', '/api/webhooks', {
    by: people.ada,
    body: { url: 'https://erp.example/hook', events: ['whms.placement'], secret: 'a secret of the receiver' },
  })
  await written(gateway)
  t.equal(segmentsIn(folder).length, 2)
  const stock = await asks(gateway, '/api/whms/slots')
  const events = await asks(gateway, '/api/whms/events')
  const dataDir = gateway.live.config.dataDir
  const before = rowsOf(dataDir)
  const recoveryKey = recoveryKeyOf(gateway)
  gateway.close()

  const box = newFolder(t)
  const restored = await restoredFrom(folder, join(box, 'state'), { recoveryKey })
  t.match(restored, { siteId: 'test-site', events: 3, segments: 2, erased: 0, lost: { to: null, leaves: null } })
  t.ok(restored.fork, 'the log goes on as a new one')
  const after = rowsOf(join(box, 'state'))
  // The fork is a new log with one leaf.
  for (const table of ['log_identity', 'log_leaf']) after[table] = after[table]?.slice(0, before[table]?.length) ?? []
  for (const table of Object.keys(before)) {
    if (table !== 'log_leaf' && table !== 'log_identity') t.same(after[table], before[table], table)
  }
  t.equal(verifyLedger(join(box, 'state'), { mayLackFiles: true }).ok, true)
  const again = await opened(t, box)
  const { size, note } = await again.checkpoints.make()
  t.ok(size > 0 && note.includes(restored.fork?.logId ?? 'no fork'), 'the new log is signed before the photos are back')
  t.same(await asks(again, '/api/whms/slots'), stock)
  t.same(await asks(again, '/api/whms/events'), events)
  await place(again, 4)
  t.same(await barcodes(again), ['P-1', 'P-2', 'P-3', 'P-4'])
})

t.test('nothing new is nothing written, and what is new is written alone', async (t) => {
  const { gateway, folder } = await segmenting(t)
  await written(gateway)
  const first = filesBelow(folder)
  await written(gateway)
  t.same(filesBelow(folder), first)
  await place(gateway, 2)
  await written(gateway)
  const sizes = segmentsIn(folder).map((file) => readFileSync(file).length)
  t.equal(sizes.length, 2)
  gateway.clock.advance(24 * 3_600_000)
  await written(gateway)
  t.equal(segmentsIn(folder).length, 3, 'once a day, whether or not anything is new')
})

t.test('whoever reads the folder without the key learns no name, no barcode and no secret', async (t) => {
  const { gateway, folder } = await segmenting(t)
  await place(gateway, 2, { notes: 'a corner is torn', operator: 'Dana Dock' })
  await written(gateway)
  const all = filesBelow(folder)
  t.ok(all.length >= 2)
  for (const file of all) {
    const bytes = readFileSync(file)
    for (const secret of ['Dana Dock', 'P-2', 'a corner is torn', 'PRIVATE KEY'])
      t.notOk(bytes.includes(secret), secret)
    t.equal(bytes.subarray(0, 22).toString(), 'age-encryption.org/v1\n')
  }
})

for (const version of ['v1', 'v4', 'v16']) {
  t.test(`a ledger that an earlier version began (${version}) comes back with every row`, async (t) => {
    const old = newFolder(t)
    cpSync(new URL(`../fixtures/db/${version}/`, import.meta.url), join(old, 'state'), { recursive: true })
    const folder = newFolder(t)
    const config = { site: { id: 'dc-7' }, backup: { segments: { to: { folder } } } }
    const gateway = await testGateway({ folder: old, config })
    t.teardown(() => gateway.segmentJobs.stop())
    t.teardown(() => gateway.jobs.stop())
    t.teardown(() => gateway.close())
    await written(gateway)
    const recoveryKey = recoveryKeyOf(gateway)
    const before = rowsOf(join(old, 'state'))
    const box = join(newFolder(t), 'state')
    const restored = await restoredFrom(folder, box, { recoveryKey, siteId: 'dc-7', erase: async () => {} })
    const after = rowsOf(box)
    t.ok(restored.events > 0)
    for (const table of Object.keys(before)) {
      // The new log adds to these.
      const rows = after[table]?.slice(0, before[table]?.length)
      if (table !== 'log_leaf') t.same(rows, before[table], table)
    }
  })
}

t.test('keys that are rotated while a moment is read go with the ledger that names them', async (t) => {
  const gateway = await stocked(t)
  await gateway.checkpoints.make()
  const { dataDir } = gateway.live.config
  gateway.close()
  rmSync(join(dataDir, 'keys', 'recovery.key'), { force: true })
  const later = newFolder(t)
  cpSync(dataDir, join(later, 'state'), { recursive: true })
  const rotating = await opened(t, later)
  const { checkpointSize } = await rotating.rotateKeys('root')
  rotating.close()
  let isRotated = false
  // The recovery key is made when the moment has begun: then the rotated box takes the place of the one that is read.
  const random = (bytes: number) => {
    if (!isRotated) {
      renameSync(dataDir, `${dataDir}-before`)
      renameSync(join(later, 'state'), dataDir)
    }
    isRotated = true
    return systemRandom(bytes)
  }
  const folder = newFolder(t)
  const order = { dataDir, siteId: 'test-site', root: folder, target: `folder:${folder}`, settings: [] }
  const nowMs = Date.parse('2026-03-02T10:00:00Z')
  const rest = { reserveBytes: 0, version: '0.0.0-test', nowMs, evenIfSame: false, beginsSeries: false }
  const made = writeSegments({ ...order, ...rest }, random)
  t.ok(isRotated)
  t.equal(made?.size, checkpointSize, 'with the leaf that names the new keys')
  const box = newFolder(t)
  const recoveryKey = loadRecoveryKey(dataDir, systemRandom)
  await restoredFrom(folder, join(box, 'state'), { recoveryKey })
  t.equal(verifyLedger(join(box, 'state'), { mayLackFiles: true }).ok, true)
  for (const name of ['log.key', 'log-mldsa.key']) {
    t.same(readFileSync(join(box, 'state', 'keys', name)), readFileSync(join(dataDir, 'keys', name)), name)
  }
})
