import type { ReadTx, Tx, UnitHistoryRow } from '../database/index.ts'
import { nameSql } from '../log/index.ts'

const columns = [
  'row',
  'event_id',
  'log_id',
  'leaf_seq',
  'leaf_version',
  'unit_id',
  'action',
  'from_stage',
  'stage',
  'status',
  'operator_commitment',
  'actor_commitment',
  'note_commitment',
  'reason_commitment',
  'timestamp_ms',
  'device_timestamp_ms',
  'received_at_ms',
  'clock_offset_ms',
  'time_quality',
  'photos',
  'scale_weight_kg',
  'scale_reading_id',
  'scale_id',
  'scale_stable',
  'reference',
  'sscc',
  'direction',
  'warehouse_id',
  'carrier',
  'vehicle_commitment',
  'client_event_id',
  'evidence_hash',
] as const satisfies readonly (keyof UnitHistoryRow)[]

const insertSql = `INSERT INTO main.unit_history (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`

export function append(tx: Tx, row: UnitHistoryRow): void {
  tx.runOf(
    insertSql,
    columns.map((column) => row[column]),
  )
}

/** Stores that a photo belongs to a unit of this warehouse, so that callers who may see the unit may see the photo. */
export function keepPhoto(tx: Tx, sha256: string, warehouseId: number): void {
  tx.runOf('INSERT OR IGNORE INTO unit_photo VALUES (?, ?)', [sha256, warehouseId])
}

/** Returns the last row of the history of all units, and its receipt time. */
export function endOfHistory(tx: ReadTx): { row: number; receivedAtMs: number } {
  const last = tx.oneOf<{ row: number; received_at_ms: number }>(
    'SELECT row, received_at_ms FROM main.unit_history ORDER BY row DESC LIMIT 1',
  )
  return { row: last?.row ?? 0, receivedAtMs: last?.received_at_ms ?? 0 }
}

/** A row with the names and texts of its commitments, null where they are erased. */
export type OpenedRow = UnitHistoryRow & {
  operator: string | null
  actor: string | null
  note: string | null
  reason: string | null
  vehicle: string | null
}

/** Returns the history of a unit, oldest first; empty when there is no such unit. */
export function historyOf(tx: ReadTx, unitId: string): OpenedRow[] {
  return tx.allOf<OpenedRow>(
    `SELECT h.*, ${nameSql('unit_history', 'h.row', 'operator', 'h.operator_commitment')} AS operator,
       ${nameSql('unit_history', 'h.row', 'actor', 'h.actor_commitment')} AS actor,
       n.value AS note, r.value AS reason, v.value AS vehicle
     FROM main.unit_history h
     LEFT JOIN opening n ON n.commitment = h.note_commitment
     LEFT JOIN opening r ON r.commitment = h.reason_commitment
     LEFT JOIN opening v ON v.commitment = h.vehicle_commitment
     WHERE h.unit_id = +? ORDER BY h.row`,
    [unitId],
  )
}

/** A unit in the list: facts of its first row, and stage and status of its newest one. */
export type UnitRow = {
  row: number
  unit_id: string
  reference: string
  sscc: string | null
  direction: 'inbound' | 'outbound'
  warehouse_id: number
  carrier: string | null
  vehicle: string | null
  stage: string
  status: UnitHistoryRow['status']
  created_at_ms: number
  updated_at_ms: number
  completed_at_ms: number | null
}

/** Filters that have an index; all others are compared in memory. */
export type StrongFilter = {
  readonly reference?: string | undefined
  readonly sscc?: string | undefined
  readonly unitId?: string | undefined
}

/** Units in the order in which they were registered, `limit` of them behind row `afterRow`. */
export function listUnits(tx: ReadTx, afterRow: number, limit: number, filter: StrongFilter = {}): UnitRow[] {
  const { reference, sscc, unitId } = filter
  const strong =
    unitId !== undefined
      ? ' AND unit_id = +?'
      : sscc !== undefined
        ? ' AND sscc = +?'
        : reference !== undefined
          ? ' AND reference = +?'
          : ''
  const value = unitId ?? sscc ?? reference
  return tx.allOf<UnitRow>(
    `SELECT c.row, c.unit_id, c.reference, c.sscc, c.direction, c.warehouse_id, c.carrier, v.value AS vehicle,
       n.stage, n.status, c.timestamp_ms AS created_at_ms, n.received_at_ms AS updated_at_ms,
       CASE n.status WHEN 'completed' THEN
         (SELECT e.timestamp_ms FROM main.unit_history e WHERE e.unit_id = c.unit_id AND e.status = 'completed'
          ORDER BY e.row LIMIT 1)
       END AS completed_at_ms
     FROM (SELECT * FROM main.unit_history WHERE action = 'created' AND row > +?${strong} ORDER BY row LIMIT ?) c
     JOIN main.unit_history n ON n.row = (SELECT max(m.row) FROM main.unit_history m WHERE m.unit_id = c.unit_id)
     LEFT JOIN opening v ON v.commitment = c.vehicle_commitment
     ORDER BY c.row`,
    [afterRow, ...(value === undefined ? [] : [value]), limit],
  )
}

/** The stages that a unit was in, in order. */
export function visitedStages(tx: ReadTx, unitId: string): string[] {
  return tx
    .allOf<{ stage: string }>('SELECT stage FROM main.unit_history WHERE unit_id = +? ORDER BY row', [unitId])
    .map(({ stage }) => stage)
}

/** Returns what this caller recorded under the id of the client. */
export function findByClientEventId(tx: ReadTx, mark: string, clientEventId: string) {
  return tx.oneOf<{ unit_id: string; request_sha256: string }>(
    `SELECT h.unit_id, k.request_sha256 FROM unit_client_event k JOIN main.unit_history h ON h.row = k.row
     WHERE k.caller = ? AND k.client_event_id = ?`,
    [mark, clientEventId],
  )
}

export function keepClientEventId(tx: Tx, mark: string, clientEventId: string, row: number, requestSha256: string) {
  tx.runOf('INSERT INTO unit_client_event VALUES (?, ?, ?, ?)', [mark, clientEventId, row, requestSha256])
}
