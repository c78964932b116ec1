import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { canonicalJson, leafHash, leafOf } from '../../src/log/index.ts'
import { naiveTree } from '../support/evidence/merkle.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { withoutGuards } from '../support/tamper.ts'

const second = '0190a5c4-3c00-7000-8000-00000000000b'

/** A ledger with something in every room that has leaves. */
async function filled(t: { teardown(work: () => unknown): void }): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  await act(gateway, 'first')
  return gateway
}

async function act(gateway: TestGateway, reference: string): Promise<void> {
  const by = people.sven
  const photo_url = await heldPhoto(gateway)
  const event = { event_type: 'PLACED', slot_code: 'A', asset_barcode: `P-${reference}`, photo_url }
  await gateway.ask('POST', '/api/whms/events', { by, body: event })
  await gateway.ask('POST', '/api/whms/transport-units', {
    by,
    body: { reference, direction: 'inbound', warehouseId: 1 },
  })
  await gateway.ask('POST', '/api/governance/incidents', { by, body: { severity: 'low', category: 'noise' } })
  const period = { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' }
  await gateway.ask('POST', '/api/governance/reports', { by, body: period })
}

/** Forks as a restore behind a known checkpoint does: a new log continues from the existing leaves. */
function fork(dataDir: string, parentSize: number, said: Record<string, unknown> = {}): void {
  const db = new BetterSqlite3(databaseFile(dataDir))
  const parent = db.prepare('SELECT log_id FROM log_identity').pluck().get() as string
  const leaves = db.prepare('SELECT bytes FROM log_leaf ORDER BY seq LIMIT ?').pluck().all(parentSize) as Buffer[]
  const parentRoot = naiveTree(leaves).root().toString('hex')
  const facts = {
    eventId: '0190a5c4-3c01-7000-8000-00000000000c',
    parentLogId: parent,
    parentSize,
    parentRoot,
    ...said,
  }
  const head = { v: 2, kind: 'log-fork', logId: second, siteId: 'test-site', seq: 1 } as const
  const bytes = Buffer.from(canonicalJson(leafOf(head, facts)))
  db.transaction(() => {
    db.prepare(`INSERT INTO log_identity VALUES (2, ?, 'test-site', ?, ?, 1)`).run(second, parent, parentSize)
    const row = db.prepare('SELECT max(row) + 1 FROM log_leaf').pluck().get()
    db.prepare(`INSERT INTO log_leaf VALUES (?, 2, 1, 'log-fork', '2', ?, ?)`).run(row, bytes, leafHash(bytes))
  })()
  db.close()
}

t.test('a second log goes on from the first one, and each is verified by its own name, size and root', async (t) => {
  const gateway = await filled(t)
  const { dataDir } = gateway.live.config
  const first = verifyLedger(dataDir)
  t.match(first, { ok: true, size: 4, logs: [{ size: 4, parent: null }] })
  const made = await gateway.ask('GET', '/api/governance/reports/1', { by: people.sven })
  fork(dataDir, first.size)
  const forked = await gateway.restart()
  await act(forked, 'second')
  const both = verifyLedger(dataDir)
  t.match(both, {
    ok: true,
    logId: second,
    size: 5,
    events: 2,
    unitSteps: 2,
    incidentChanges: 2,
    reports: 2,
    mismatches: { length: 0 },
    logs: [
      { logId: first.logId, size: 4, root: first.root, parent: null },
      { logId: second, size: 5, parent: { logId: first.logId, size: 4 } },
    ],
  })
  t.equal(both.root, both.logs[1]?.root)
  t.not(both.root, first.root)

  const get = async (path: string) => (await forked.ask('GET', path, { by: people.sven })).body
  t.match((await get('/api/whms/events')).data, [
    { id: 2, seq: 2 },
    { id: 1, seq: 1 },
  ])
  const after = (await get('/api/whms/events?after_seq=1')).data.map(({ id }: { id: number }) => id)
  t.strictSame(after, [2], 'leaves are counted in the log that grows')
  t.equal((await get('/api/whms/events?after_seq=0')).data.length, 2, 'and nothing is left out from the start')
  t.strictSame(await get('/api/governance/reports/1'), made.body, 'a report names the log that it was made from')
  t.match(await get('/api/governance/reports/2'), {
    checkpoint: { logId: second, size: 4 },
    counts: { events: { total: 2 }, incidents: { opened: 2 }, units: { created: 2 } },
  })
})

t.test('what is altered in the log that has come to its end is found there', async (t) => {
  const gateway = await filled(t)
  const { dataDir } = gateway.live.config
  const { logId, size } = verifyLedger(dataDir)
  fork(dataDir, size)
  const forked = await gateway.restart()
  await act(forked, 'second')
  const db = new BetterSqlite3(databaseFile(dataDir))
  const guard = db.prepare(`SELECT sql FROM sqlite_master WHERE name = 'placement_event_no_update'`).pluck().get()
  db.exec(
    `DROP TRIGGER placement_event_no_update; UPDATE placement_event SET asset_barcode = 'P-9' WHERE id = 1; ${guard}`,
  )
  db.close()
  t.match(verifyLedger(dataDir).mismatches, [
    { where: `event 1 (leaf 1 of log ${logId})`, what: /differs from its leaf in assetBarcode/ },
  ])
})

t.test('a log that claims more of its parent than there is, or a row of an unknown log, does not verify', async (t) => {
  const gateway = await filled(t)
  const { dataDir } = gateway.live.config
  fork(dataDir, 9)
  t.match(verifyLedger(dataDir).mismatches, [
    { where: `log ${second}`, what: /goes on from 9 leaves of log .*, which has 4/ },
  ])
  const db = new BetterSqlite3(databaseFile(dataDir))
  const guard = db.prepare(`SELECT sql FROM sqlite_master WHERE name = 'unit_history_no_update'`).pluck().get()
  db.pragma('foreign_keys = OFF')
  db.exec(`DROP TRIGGER unit_history_no_update; UPDATE unit_history SET log_id = 3; ${guard}`)
  db.close()
  const { mismatches } = verifyLedger(dataDir)
  t.ok(mismatches.some(({ what }) => /states step of a transport unit 1, which is not there/.test(what)))
  t.ok(mismatches.some(({ what }) => /1 step of a transport units without a leaf/.test(what)))
})

t.test('a leaf can claim no other version than its row', async (t) => {
  const gateway = await filled(t)
  const { dataDir } = gateway.live.config
  const db = new BetterSqlite3(databaseFile(dataDir))
  const guard = db.prepare(`SELECT sql FROM sqlite_master WHERE name = 'placement_event_no_update'`).pluck().get()
  db.exec(`DROP TRIGGER placement_event_no_update; UPDATE placement_event SET leaf_version = 1; ${guard}`)
  db.close()
  t.ok(
    verifyLedger(dataDir).mismatches.some(
      ({ where, what }) => /^leaf 1$/.test(where) && /says v 2, expected 1/.test(what),
    ),
  )
})

t.test('a fork that states another root of its parent, or another parent, is named', async (t) => {
  const gateway = await filled(t)
  const { dataDir } = gateway.live.config
  const { root, logId, size } = verifyLedger(dataDir)
  fork(dataDir, size, { parentRoot: '0'.repeat(64), parentLogId: second, parentSize: 1 })
  t.strictSame(verifyLedger(dataDir).mismatches, [
    { where: `leaf 1 of log ${second}`, what: `says parentLogId ${second}, expected ${logId}` },
    { where: `leaf 1 of log ${second}`, what: `says parentSize 1, expected ${size}` },
    { where: `leaf 1 of log ${second}`, what: `says parentRoot ${'0'.repeat(64)}, expected ${root}` },
  ])
})

t.test('a log that continues another one begins with the leaf that states it, and no other leaf does', async (t) => {
  const gateway = await filled(t)
  const { dataDir } = gateway.live.config
  const { logId, size } = verifyLedger(dataDir)
  fork(dataDir, size)
  const forked = await gateway.restart()
  await act(forked, 'second')
  withoutGuards(dataDir, (db) => db.exec(`UPDATE log_leaf SET kind = 'log-fork' WHERE log_id = 2 AND seq = 2`))
  const says = () => verifyLedger(dataDir).mismatches.map(({ where, what }) => `${where}: ${what}`)
  t.ok(says().includes(`leaf 2 of log ${second}: states a fork, which only the first leaf of a log can`))
  withoutGuards(dataDir, (db) => db.exec(`UPDATE log_leaf SET kind = 'camera-gap' WHERE log_id = 2 AND seq = 1`))
  t.ok(says().includes(`leaf 1 of log ${second}: the log continues log ${logId}, but its first leaf is no log-fork`))
})
