import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { sha256 } from '../../src/log/index.ts'
import { plainWords } from '../../src/video/problems.ts'
import { withoutGuards } from '../support/audit-hashes.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'

const dayMs = 86_400_000
const camera = { id: 7, url: 'rtsp://192.0.2.7/main', owner: 'vera' }

/** The kinds of leaves that state rows: their table, and its key. */
const kinds = {
  placement: { table: 'placement_event', key: 'id', name: 'event' },
  detection: { table: 'detection_event', key: 'row', name: 'detection' },
  'camera-gap': { table: 'camera_gap', key: 'id', name: 'gap' },
  'unit-history': { table: 'unit_history', key: 'row', name: 'step' },
  'incident-change': { table: 'incident_change', key: 'id', name: 'change' },
  report: { table: 'report', key: 'id', name: 'report' },
  'media-removed': { table: 'media_removed', key: 'id', name: 'removal' },
  'audit-digest': { table: 'audit_digest', key: 'id', name: 'audit digest' },
  'log-key': { table: 'log_key', key: 'id', name: 'change of keys' },
  'dispute-resolution': { table: 'dispute_resolution', key: 'id', name: 'resolution of a dispute' },
} as const
type Kind = keyof typeof kinds

/** Does something of each kind once, as callers and cameras do it. */
async function act(gateway: TestGateway, n: number): Promise<void> {
  const by = people.sven
  const photo_url = await heldPhoto(gateway)
  const event = { event_type: 'PLACED', slot_code: 'A', asset_barcode: `P-${n}`, photo_url, work_order_ref: 'WO-7' }
  const { body: placed } = await gateway.ask('POST', '/api/whms/events', { by, body: event })
  const dispute = { event_type: 'DISPUTED', slot_code: 'A', asset_barcode: `P-${n}` }
  const { body: disputed } = await gateway.ask('POST', '/api/whms/events', { by, body: dispute })
  const resolve = `/api/whms/discrepancies/disputed-${placed.id}-${disputed.id}/resolve`
  await gateway.ask('POST', resolve, { by, body: { note: 'counted' } })
  const unit = { reference: `T-${n}`, direction: 'inbound', warehouseId: 1, carrier: 'Spedition' }
  await gateway.ask('POST', '/api/whms/transport-units', { by, body: unit })
  await gateway.ask('POST', '/api/governance/incidents', { by, body: { severity: 'low', category: 'noise' } })
  const period = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' }
  await gateway.ask('POST', '/api/governance/reports', { by, body: period })
  await film(gateway, n)
  await outage(gateway)
  await gateway.rotateKeys('root')
}

async function film({ cameras, clock, live, audit }: TestGateway, id: number): Promise<void> {
  const folder = join(live.config.dataDir, 'clips')
  mkdirSync(folder, { recursive: true })
  const bytes = Buffer.from(`clip ${id}`)
  writeFileSync(join(folder, `${id}.mp4`), bytes)
  const atMs = clock.now()
  cameras.heard({
    ...{ type: 'clipClosed', detectionId: id, cameraId: 7, motionAt: atMs, score: 0.5, sceneChange: false },
    ...{ file: `${id}.mp4`, sha256: sha256(bytes).toString('hex'), sizeBytes: bytes.length },
    ...{ startedAt: atMs - 3000, endedAt: atMs + 5000, preRollSeconds: 3, askedPreRollSeconds: 3, durationSeconds: 8 },
    ...{ pictures: 200, longestGapSeconds: 0.04, original: true, width: 640, height: 360, peakScore: 0.5 },
    ...{ closedBy: 'post-roll', snapshot: null },
  })
  await audit('test.settled', {})
}

async function outage({ cameras, clock, audit }: TestGateway): Promise<void> {
  const heard = async (one: {
    state: 'live' | 'backing-off'
    problem: 'frozen' | null
    words: ReturnType<typeof plainWords> | null
  }) => {
    cameras.heard({ ...one, type: 'state', cameraId: 7, at: clock.now(), pictureAgoMs: 0 })
    for (const _ of [1, 2, 3]) await audit('test.settled', {})
  }
  await heard({ state: 'live', problem: null, words: null })
  clock.advance(60_000)
  await heard({ state: 'backing-off', problem: 'frozen', words: plainWords('frozen') })
  clock.advance(10_000)
  await heard({ state: 'live', problem: null, words: null })
}

/** A ledger with two rows of each kind. Made once; each test changes a copy. */
let original = ''
t.before(async () => {
  original = mkdtempSync(join(tmpdir(), 'gatehouse-kinds-'))
  t.teardown(() => rmSync(original, { recursive: true, force: true }))
  const gateway = await testGateway({ config: { cameras: [camera] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  gateway.cameras.threadStarted()
  for (const n of [1, 2]) {
    await act(gateway, n)
    gateway.clock.advance(3_600_000)
    await gateway.auditDigests.look()
  }
  gateway.clock.advance(40 * dayMs)
  await gateway.retention.look()
  gateway.close()
  cpSync(gateway.live.config.dataDir, original, { recursive: true })
})

function inFile<T>(dataDir: string, look: (db: Database) => T): T {
  const db = new BetterSqlite3(databaseFile(dataDir))
  try {
    return look(db)
  } finally {
    db.close()
  }
}

/** Returns the verdict of verification after a change by an attacker who removes the guards and restores them. */
function foundAfter(t: { teardown(end: () => void): void }, change: (db: Database) => void) {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-forged-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  cpSync(original, dataDir, { recursive: true })
  inFile(dataDir, (db) => {
    db.pragma('ignore_check_constraints = ON')
    withoutGuards(db, () => change(db))
  })
  const { ok, mismatches } = verifyLedger(dataDir)
  return { ok, mismatches, schema: mismatches.filter(({ where }) => where === 'schema') }
}

/** The first two rows of a kind, with their leaves. */
function firstRows(kind: Kind): { key: number; seq: number; eventId: string }[] {
  const { table, key } = kinds[kind]
  const sql = `SELECT ${key} AS key, leaf_seq AS seq, event_id AS eventId FROM ${table} ORDER BY ${key} LIMIT 2`
  return inFile(original, (db) => db.prepare(sql).all()) as never
}

t.test('a leaf is written where its fact happens, for each kind', async (t) => {
  t.match(verifyLedger(original), { ok: true, mismatches: { length: 0 } })
  for (const kind of Object.keys(kinds) as Kind[]) {
    const rows = firstRows(kind)
    t.equal(rows.length, 2, `two rows of ${kind}`)
    for (const { seq, eventId } of rows) {
      const bytes = inFile(original, (db) => db.prepare('SELECT bytes FROM log_leaf WHERE seq = ?').pluck().get(seq))
      t.match(JSON.parse(String(bytes)), { v: 2, kind, seq, eventId, siteId: 'test-site', logId: /^[0-9a-f-]{36}$/ })
    }
  }
})

const ofLeaf = ['log_id', 'leaf_seq', 'leaf_version', 'evidence_hash']

for (const [kind, { table, key, name }] of Object.entries(kinds) as [Kind, (typeof kinds)[Kind]][]) {
  t.test(`of a ${kind}, a change of any column is found, and where`, async (t) => {
    const columns = inFile(original, (db) => db.prepare(`SELECT name, type FROM pragma_table_info('${table}')`).all())
    const [first] = firstRows(kind)
    for (const column of columns as { name: string; type: string }[]) {
      if (ofLeaf.includes(column.name) || column.name === key) continue
      const other = column.type === 'TEXT' ? `coalesce(${column.name}, '') || 'x'` : `coalesce(${column.name}, 0) + 1`
      const { ok, mismatches, schema } = foundAfter(t, (db) =>
        db.exec(`UPDATE ${table} SET ${column.name} = ${other} WHERE ${key} = ${first?.key}`),
      )
      t.notOk(ok, column.name)
      t.ok(
        mismatches.some(({ where }) => where.includes(`leaf ${first?.seq}`)),
        `${column.name}: ${JSON.stringify(mismatches)}`,
      )
      t.strictSame(schema, [])
    }
  })

  t.test(`of a ${kind}, a row removed with its leaf, and two exchanged rows are found`, async (t) => {
    const [first, second] = firstRows(kind)
    const removed = foundAfter(t, (db) =>
      db.exec(`DELETE FROM ${table} WHERE ${key} = ${first?.key}; DELETE FROM log_leaf WHERE seq = ${first?.seq}`),
    )
    t.ok(
      removed.mismatches.some(({ where }) => where === `leaf ${first?.seq}`),
      JSON.stringify(removed.mismatches),
    )
    const exchanged = foundAfter(t, (db) =>
      db.exec(`UPDATE ${table} SET ${key} = -1 WHERE ${key} = ${first?.key};
        UPDATE ${table} SET ${key} = ${first?.key} WHERE ${key} = ${second?.key};
        UPDATE ${table} SET ${key} = ${second?.key} WHERE ${key} = -1`),
    )
    for (const row of [first, second]) {
      const named = exchanged.mismatches.filter(({ where }) => where.includes(`leaf ${row?.seq}`))
      t.ok(named.length > 0, `${name} ${row?.key}: ${JSON.stringify(exchanged.mismatches)}`)
    }
  })
}
