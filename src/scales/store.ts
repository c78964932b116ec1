import type { ReadTx, ScaleReadingRow, Tx } from '../database/index.ts'
import { countLimit, type TimePlace } from '../http/index.ts'
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

/** One page, newest first, and whether there is more; `total` up to the limit of counting. */
export function listReadings(
  tx: ReadTx,
  filter: ReadingFilter,
  page: { limit: number; offset: number; before: TimePlace | undefined },
): { rows: OpenedReading[]; hasMore: boolean; total: number | null } {
  const wanted = conditions(filter)
  const { before } = page
  const here = before
    ? [...wanted, { sql: '(s.timestamp_ms, s.id) < (+?, +?)', values: [before.timestampMs, before.id] }]
    : wanted
  const rows = tx.allOf<OpenedReading>(
    `${opened} ${whereOf(here)} ORDER BY s.timestamp_ms DESC, s.id DESC LIMIT ? OFFSET ?`,
    [...here.flatMap(({ values }) => values), page.limit + 1, page.offset],
  )
  const counted = tx.oneOf<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM main.scale_reading s ${whereOf(wanted)} LIMIT ?)`,
    [...wanted.flatMap(({ values }) => values), countLimit + 1],
  )
  const total = counted && counted.n <= countLimit ? counted.n : null
  return { rows: rows.slice(0, page.limit), hasMore: rows.length > page.limit, total }
}

type Condition = { readonly sql: string; readonly values: readonly (string | number)[] }

const whereOf = (all: readonly Condition[]) =>
  all.length === 0 ? '' : `WHERE ${all.map(({ sql }) => sql).join(' AND ')}`

function conditions(filter: ReadingFilter): Condition[] {
  const equal = (column: string, value: string | number | undefined): Condition[] =>
    value === undefined ? [] : [{ sql: `s.${column} = +?`, values: [value] }]
  return [
    ...equal('scale_id', filter.scaleId),
    ...equal('slot_id', filter.slotId),
    ...equal('asset_key', filter.assetKey),
    ...equal('transport_unit_id', filter.transportUnitId),
    ...(filter.fromMs === undefined ? [] : [{ sql: 's.timestamp_ms >= +?', values: [filter.fromMs] }]),
    ...(filter.toMs === undefined ? [] : [{ sql: 's.timestamp_ms < +?', values: [filter.toMs] }]),
    ...(filter.hidden.length === 0
      ? []
      : [
          {
            sql: `coalesce(s.warehouse_id, 0) NOT IN (${filter.hidden.map(() => '?').join(', ')})`,
            values: filter.hidden,
          },
        ]),
  ]
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
