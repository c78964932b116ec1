import { sql as raw } from 'kysely'
import {
  built,
  type Condition,
  listings,
  maybe,
  type ReadTx,
  type RowOf,
  statement,
  type Tx,
  text,
} from '../database/index.ts'
import { linkedColumns, linkedRowsSql, nameSql } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { ScaleReading } from './schema.ts'
import { type ScaleReadingRow, sql, tables } from './tables.ts'

const newReading = built(tables.scale_reading, (row) => sql.insertInto('scale_reading').values(row))
const lastReading = built({}, () =>
  sql.selectFrom('scale_reading').select('id').orderBy('id', 'desc').limit(raw.lit(1)),
)

export function append(tx: Tx, row: ScaleReadingRow): void {
  tx.run(newReading, row)
}

export function nextId(tx: ReadTx): number {
  return (tx.get(lastReading)?.id ?? 0) + 1
}

const openedColumns = { ...tables.scale_reading, actor: maybe(text) }
export type OpenedReading = RowOf<typeof openedColumns>

export function findReading(tx: ReadTx, id: number): OpenedReading | undefined {
  return tx.get(openedReading, [id])
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

const openedReading = statement({ columns: openedColumns, sql: `${opened} WHERE s.id = +?` })

/** People linked to the readings, for verification. */
export const linksOfReadings = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ table: 'scale_reading', id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: false }),
})

const everyFilter = { scaleId: '', slotId: 1, assetKey: '', transportUnitId: '', fromMs: 0, toMs: 1, hidden: [1] }

/** The readings in the order of their time; an index serves the strongest filter. */
export const readingsOf = listings(
  (filter: ReadingFilter) => {
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
  },
  [[{ hidden: [] }], [everyFilter]],
)

function given(condition: string, value: string | number | undefined): Condition[] {
  return value === undefined ? [] : [{ sql: condition, values: [value] }]
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
