import BetterSqlite3, { type Database } from 'better-sqlite3'
import { databaseFile } from '../../src/database/index.ts'
import { loseBoxKey } from './box-key.ts'
import type { Span } from './every-read.ts'
import { people, type TestGateway } from './gateway.ts'

/** The camera of all detections; it has to be in the config. */
export const bulkCamera = { id: 17, name: 'Dock', url: 'rtsp://127.0.0.1:9/dock' }
/** Columns of a copy that differ from the original, as SQL: `n` is 1, 2, 3 …, `o` the original. */
type Changes = Readonly<Record<string, string>>

const uuid = (kind: string) => `printf('%08x-0000-7000-8000-%012x', ${kind}, n)`

/**
 * Makes `count` rows of everything that the ledger's history lacks: transport units, scale readings, incidents, reports,
 * detections, deliveries, alerts. The gateway makes one of each. The others are copies of its rows, spread over the span
 * and over two warehouses. Things that are requested by id have 17.
 */
export async function makeBulkRows(gateway: TestGateway, count: number, span: Span): Promise<void> {
  await makeOriginals(gateway)
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir))
  try {
    db.pragma('foreign_keys = OFF')
    db.pragma('synchronous = OFF')
    withoutTriggers(db, () => copyAll(db, count, span))
    // The webhook has another id, and no key opens its secret under that.
    loseBoxKey(gateway.live.config.dataDir)
  } finally {
    db.close()
  }
}

async function makeOriginals(gateway: TestGateway): Promise<void> {
  const made = async (path: string, body: object) => {
    const answer = await gateway.ask('POST', path, { by: people.ada, body })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
  }
  await made('/api/whms/transport-units', { reference: 'T-0', direction: 'inbound', warehouseId: 1 })
  await made('/api/iot/scale-readings', { scaleId: 'scale-1', weightKg: 400, slot_id: 17 })
  await made('/api/governance/incidents', { category: 'damage', severity: 'low', title: 'Broken', warehouseId: 1 })
  await made('/api/governance/reports', { from: '2026-03-01T00:00:00Z', to: '2026-03-01T01:00:00Z' })
  await made('/api/webhooks', { url: 'https://erp.invalid/hook', events: ['whms.placement'] })
}

function copyAll(db: Database, count: number, { fromMs, toMs }: Span): void {
  const when = `${fromMs} + n * ${Math.floor((toMs - fromMs) / count)}`
  const copies = (table: string, changes: Changes) => copy(db, { table, count, changes })
  copies('unit_history', {
    ...{ row: 'o.row + n', event_id: uuid('1'), unit_id: uuid('2'), reference: `'T-' || n`, timestamp_ms: when },
    warehouse_id: '1 + n % 2',
  })
  db.exec(`UPDATE unit_history SET unit_id = '17' WHERE reference = 'T-17'`)
  copies('scale_reading', {
    ...{ id: 'o.id + n', event_id: uuid('3'), timestamp_ms: when, warehouse_id: '1 + n % 2', slot_id: '1 + n % 3000' },
  })
  copies('incident_change', {
    ...{ id: 'o.id + n', event_id: uuid('4'), incident_id: 'o.incident_id + n', timestamp_ms: when },
    warehouse_id: '1 + n % 2',
  })
  copies('report', {
    id: 'o.id + n',
    event_id: uuid('5'),
    created_at_ms: when,
    warehouses: `'[' || (1 + n % 2) || ']'`,
  })
  copies('audit_entry', { id: 'o.id + n', timestamp_ms: when, action: `'permission.denied'` })
  db.exec(
    `INSERT INTO detection_reservation VALUES (1, ${uuid('6').replace('n)', '0)')}, ${bulkCamera.id}, ${fromMs}, 0.5, 0, NULL, NULL)`,
  )
  copies('detection_reservation', { id: 'o.id + n', event_id: uuid('6'), fired_at_ms: when })
  db.exec(`INSERT INTO detection_event (row, id, event_id, log_id, leaf_seq, leaf_version, cctv_id, timestamp_ms, score,
      scene_change, clip_status, reason, recorded_at_ms, evidence_hash)
    SELECT id, id, event_id, 1, id, 2, cctv_id, fired_at_ms, score, 0, 'lost', 'disk-full', fired_at_ms, hex(zeroblob(32))
    FROM detection_reservation`)
  db.exec(`INSERT INTO camera_watch VALUES (${bulkCamera.id}, ${fromMs}, NULL, NULL, NULL)`)
  db.exec(`INSERT INTO camera_gap (id, event_id, log_id, leaf_seq, leaf_version, cctv_id, from_ms, to_ms, cause, detail,
      recorded_at_ms, evidence_hash)
    SELECT id, event_id, 1, id, 2, cctv_id, fired_at_ms, fired_at_ms + 1, 'offline', 'gone', fired_at_ms, hex(zeroblob(32))
    FROM detection_reservation`)
  db.exec(`INSERT INTO alert VALUES (1, 'webhook.failing', '17', 'It fails.', ${fromMs}, NULL)`)
  copies('alert', { id: 'o.id + n', created_at_ms: when })
  db.exec(`INSERT INTO upload (id, kind, ref, root, path, file, sha256, size_bytes, urgent, status, next_attempt_at_ms, queued_at_ms)
    VALUES (1, 'clip', '0', '/gatehouse', 'a.mp4', 'clips/0.mp4', '${'0'.repeat(64)}', 1000, 0, 'pending', 0, ${fromMs})`)
  copies('upload', {
    ...{ id: 'o.id + n', ref: 'n', queued_at_ms: when },
    status: `CASE n % 3 WHEN 0 THEN 'parked' ELSE 'uploaded' END`,
  })
  db.exec(`UPDATE webhook SET id = '17'`)
  copies('outbox', { seq: 'o.seq + n', event_id: uuid('7'), timestamp_ms: when })
  db.exec(`INSERT INTO delivery (id, webhook_id, outbox_seq, state, attempts, next_attempt_at_ms, created_at_ms, delivered_at_ms)
    SELECT event_id, '17', seq, CASE seq % 3 WHEN 0 THEN 'exhausted' ELSE 'delivered' END, 1, 0, timestamp_ms, timestamp_ms FROM outbox
    WHERE true ON CONFLICT DO NOTHING`)
  db.exec(`INSERT INTO delivery_attempt SELECT id, 1, created_at_ms, 20, 200, NULL, 'ok' FROM delivery`)
}

/** Copies the newest row of a table. */
function copy(db: Database, { table, count, changes }: { table: string; count: number; changes: Changes }): void {
  const columns = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name)
  const values = columns.map((name) => changes[name] ?? `o.${name}`)
  db.exec(`INSERT INTO ${table} (${columns.join(', ')})
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT ${values.join(', ')} FROM (SELECT * FROM ${table} ORDER BY rowid DESC LIMIT 1) o, numbers`)
}

/** The guards look at every row on its own, which copies do not need. They are made anew, word for word. */
function withoutTriggers(db: Database, work: () => void): void {
  const triggers = db
    .prepare<[], { name: string; sql: string }>(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`)
    .all()
  db.transaction(() => {
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`)
    work()
    for (const { sql } of triggers) db.exec(sql)
  })()
}
