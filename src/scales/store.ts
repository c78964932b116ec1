import type { Condition, Listing, ReadTx, ScaleReadingRow, Tx } from '../database/index.ts'
import { nameSql } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { ScaleReading } from './schema.ts'

const columns = [
  'id',
  'event_id',
  'scale_id',
  'weight_kg',
  'stable',
  'timestamp_ms',
  'device_timestamp_ms',
  'received_at_ms',
  'clock_offset_ms',
  'time_quality',
  'slot_id',
  'asset_barcode',
  'asset_key',
  'transport_unit_id',
  'warehouse_id',
  'actor_commitment',
] as const satisfies readonly (keyof ScaleReadingRow)[]

const insertSql = `INSERT INTO main.scale_reading (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`

export function append(tx: Tx, row: ScaleReadingRow): void {
  tx.runOf(
    insertSql,
    columns.map((column) => row[column]),
  )
}

export function nextId(tx: ReadTx): number {
  return (tx.oneOf<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM main.scale_reading')?.id ?? 0) + 1
}

export type OpenedReading = ScaleReadingRow & { actor: string | null }

export function findReading(tx: ReadTx, id: number): OpenedReading | undefined {
  return tx.oneOf<OpenedReading>(`${opened} WHERE s.id = +?`, [id])
}

export type ReadingFilter = {
  scaleId?: string | undefined
  slotId?: number | undefined
  assetKey?: string | undefined
  transportUnitId?: string | undefined
  fromMs?: number | undefined
  toMs?: number | undefined
  /** Warehouses whose readings the caller may not see. */
  hidden: readonly number[]
}

const opened = `SELECT s.*, ${nameSql('scale_reading', 's.id', 'actor', 's.actor_commitment')} AS actor
  FROM main.scale_reading s`

/** The readings in the order of their time; an index serves the strongest filter. */
export function readingsOf(filter: ReadingFilter): Listing {
  const given = (sql: string, value: string | number | undefined): Condition[] =>
    value === undefined ? [] : [{ sql, values: [value] }]
  const [strongest, ...others] = [
    ...given('s.transport_unit_id = ?', filter.transportUnitId),
    ...given('s.asset_key = ?', filter.assetKey),
    ...given('s.slot_id = ?', filter.slotId),
    ...given('s.scale_id = ?', filter.scaleId),
  ]
  const holes = filter.hidden.map(() => '?').join(', ')
  return {
    from: 'main.scale_reading s',
    key: ['s.timestamp_ms', 's.id'],
    behind: filter.toMs === undefined ? undefined : [filter.toMs, 0],
    within: [...(strongest ? [strongest] : []), ...given('s.timestamp_ms >= +?', filter.fromMs)],
    passing: [
      ...others,
      ...(holes === '' ? [] : [{ sql: `coalesce(s.warehouse_id, 0) NOT IN (${holes})`, values: filter.hidden }]),
    ],
  }
}

export function toReading(row: OpenedReading): ScaleReading {
  return {
    id: row.id,
    eventId: row.event_id,
    scaleId: row.scale_id,
    weightKg: row.weight_kg,
    stable: row.stable === null ? null : row.stable === 1,
    timestamp: isoTime(row.timestamp_ms),
    device_timestamp: row.device_timestamp_ms === null ? null : isoTime(row.device_timestamp_ms),
    received_at: isoTime(row.received_at_ms),
    clock_offset_ms: row.clock_offset_ms,
    time_quality: row.time_quality,
    slot_id: row.slot_id,
    asset_barcode: row.asset_barcode,
    transportUnitId: row.transport_unit_id,
    actor: row.actor,
  }
}
