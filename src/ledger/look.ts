import type { PlacementEventRow, ReadTx } from '../database/index.ts'
import { judgements, moves } from './state.ts'

/** Which events somebody asks for. Every condition that is there must hold. */
export type HistoryFilter = {
  readonly slotId?: number | undefined
  /** Any of them: hardly any asset has more than one key, see `warehouse/README.md`. */
  readonly assetKeys?: readonly string[] | undefined
  readonly eventType?: string | undefined
  /** A name. */
  readonly operator?: string | undefined
  readonly workOrderRef?: string | undefined
  readonly correctsEventId?: number | undefined
  /** When it happened: inclusive. */
  readonly fromMs?: number | undefined
  /** Exclusive. */
  readonly toMs?: number | undefined
  /** Only leaves behind this one. */
  readonly afterSeq?: number | undefined
}

/** Newest or oldest first by the order (timestamp, id), or in the order of the log, which is that of the ids. */
export type Order = 'newest first' | 'oldest first' | 'log'

/** Where a reading stands: behind this event. */
export type EventPlace = { readonly timestampMs: number; readonly id: number }

/** As much of an event as the conditions need; the rest is read of those that pass. */
export type LightRow = Pick<
  PlacementEventRow,
  | 'id'
  | 'timestamp_ms'
  | 'event_type'
  | 'slot_id'
  | 'asset_key'
  | 'operator_commitment'
  | 'work_order_ref'
  | 'corrects_event_id'
>

/** A condition that an index serves, as SQL on the table `e`. `inHalves`: moves and judgements have an index each. */
export type Source = {
  readonly sql: string
  readonly values: readonly (string | number)[]
  readonly inHalves: boolean
  /** The index also holds all that the page needs to find its place. */
  readonly isTheOnlyCondition: boolean
}

const lightColumns =
  'e.id, e.timestamp_ms, e.event_type, e.slot_id, e.asset_key, e.operator_commitment, e.work_order_ref, e.corrects_event_id'
const placeColumns = 'e.id, e.timestamp_ms'

/** Rows that one slice looks at in the table: some 2 ms. */
export const lightSliceRows = 500
/** Entries of an index that one slice looks at: some 1 ms. */
export const indexSliceRows = 5000

const commitmentOfName = `(SELECT commitment FROM opening WHERE kind = 'person' AND value = ?)`

/** The strongest condition that an index serves: the one that leaves the fewest rows in a ledger of years. */
export function sourceOf(filter: HistoryFilter): Source {
  const { assetKeys, slotId, correctsEventId, workOrderRef, operator, eventType } = filter
  const conditions = [assetKeys, slotId, correctsEventId, workOrderRef, operator, eventType]
  const isTheOnlyCondition = conditions.filter((one) => one !== undefined).length <= 1
  const source = (sql: string, value: string | number, inHalves = false) => ({
    sql,
    values: [value],
    inHalves,
    isTheOnlyCondition,
  })
  if (assetKeys !== undefined) return { ...ofAssets(assetKeys), inHalves: true, isTheOnlyCondition }
  if (slotId !== undefined) return source('e.slot_id = +?', slotId, true)
  if (correctsEventId !== undefined) return source('e.corrects_event_id = +?', correctsEventId)
  if (workOrderRef !== undefined) return source('e.work_order_ref = +?', workOrderRef)
  if (operator !== undefined) return source(`e.operator_commitment = ${commitmentOfName}`, operator)
  if (eventType !== undefined) return source('e.event_type = +?', eventType)
  return { sql: '', values: [], inHalves: false, isTheOnlyCondition }
}

function ofAssets(keys: readonly string[]): Pick<Source, 'sql' | 'values'> {
  const [key = '', ...others] = keys
  if (others.length === 0) return { sql: 'e.asset_key = +?', values: [key] }
  return { sql: `e.asset_key IN (${keys.map(() => '?').join(', ')})`, values: keys }
}

/** Whether a row satisfies what its source has not looked at. `operator`: the commitment of the name. */
export function passes(row: LightRow, filter: HistoryFilter, operator: string | undefined): boolean {
  const { slotId, assetKeys, eventType, workOrderRef, correctsEventId, fromMs, toMs } = filter
  return (
    (slotId === undefined || row.slot_id === slotId) &&
    (assetKeys === undefined || assetKeys.includes(row.asset_key)) &&
    (eventType === undefined || row.event_type === eventType) &&
    (filter.operator === undefined || row.operator_commitment === operator) &&
    (workOrderRef === undefined || row.work_order_ref === workOrderRef) &&
    (correctsEventId === undefined || row.corrects_event_id === correctsEventId) &&
    (fromMs === undefined || row.timestamp_ms >= fromMs) &&
    (toMs === undefined || row.timestamp_ms < toMs)
  )
}

export function operatorOf(tx: ReadTx, name: string | undefined): string | undefined {
  return name === undefined
    ? undefined
    : (tx.oneOf<{ commitment: string | null }>(`SELECT ${commitmentOfName} AS commitment`, [name])?.commitment ??
        undefined)
}

/** As SQL on the table `e`. */
export const inOrder = {
  'newest first': 'e.timestamp_ms DESC, e.id DESC',
  'oldest first': 'e.timestamp_ms, e.id',
  log: 'e.id',
} as const satisfies Record<Order, string>

type Slice = { readonly place: EventPlace; readonly looked: number; readonly placesOnly: boolean }

/** The next `looked` rows of a source behind `place`; with `placesOnly` just where they stand. */
export function lookAt(
  tx: ReadTx,
  source: Source,
  order: Order,
  { fromMs, toMs }: HistoryFilter,
  { place, looked, placesOnly }: Slice,
): LightRow[] {
  const compared = order === 'newest first' ? '<' : '>'
  const isByTime = order !== 'log'
  const parts = [
    ...(source.sql === '' ? [] : [source.sql]),
    isByTime ? `(e.timestamp_ms, e.id) ${compared} (+?, +?)` : 'e.id > +?',
    // The place alone bounds one end of the span; this bounds the other.
    ...(isByTime && order === 'newest first' && fromMs !== undefined ? ['e.timestamp_ms >= +?'] : []),
    ...(isByTime && order === 'oldest first' && toMs !== undefined ? ['e.timestamp_ms < +?'] : []),
  ]
  const values = [
    ...source.values,
    ...(isByTime ? [place.timestampMs, place.id] : [place.id]),
    ...(isByTime && order === 'newest first' && fromMs !== undefined ? [fromMs] : []),
    ...(isByTime && order === 'oldest first' && toMs !== undefined ? [toMs] : []),
  ]
  const columns = placesOnly ? placeColumns : lightColumns
  const half = (more: readonly string[]) =>
    `SELECT ${columns} FROM main.placement_event e WHERE ${[...more, ...parts].join(' AND ')}`
  const sql = source.inHalves ? `${half([`e.${moves}`])} UNION ALL ${half([`e.${judgements}`])}` : half([])
  // A union names its columns without the table.
  const sorted = source.inHalves ? inOrder[order].replaceAll('e.', '') : inOrder[order]
  return tx.allOf<LightRow>(`${sql} ORDER BY ${sorted} LIMIT ?`, [
    ...values,
    ...(source.inHalves ? values : []),
    looked,
  ])
}

/** In front of the first row that can be meant. */
export function beginning(order: Order, { fromMs, toMs }: HistoryFilter, afterId: number): EventPlace {
  if (order === 'log') return { timestampMs: 0, id: afterId }
  return order === 'newest first'
    ? { timestampMs: toMs ?? Number.MAX_SAFE_INTEGER, id: toMs === undefined ? Number.MAX_SAFE_INTEGER : 0 }
    : { timestampMs: fromMs ?? Number.MIN_SAFE_INTEGER, id: 0 }
}

/**
 * The source to read in the order of the log. Most indexes are in the order of time: where they find many rows,
 * sorting them would block the thread, so the ledger itself is read.
 */
export function sourceInLogOrder(tx: ReadTx, source: Source): Source {
  if (source.sql === '' || countOf(tx, source, {}, indexSliceRows) < indexSliceRows) return source
  return { sql: '', values: [], inHalves: false, isTheOnlyCondition: false }
}

/** How many rows a source finds in a span of time; `most` when there are that many or more. */
export function countOf(tx: ReadTx, source: Source, { fromMs, toMs }: HistoryFilter, most: number): number {
  const span = [
    ...(fromMs === undefined ? [] : [{ sql: 'e.timestamp_ms >= +?', value: fromMs }]),
    ...(toMs === undefined ? [] : [{ sql: 'e.timestamp_ms < +?', value: toMs }]),
  ]
  const half = (more: readonly string[]) => {
    const parts = [...more, ...(source.sql === '' ? [] : [source.sql]), ...span.map(({ sql }) => sql)]
    return `SELECT e.id FROM main.placement_event e${parts.length === 0 ? '' : ` WHERE ${parts.join(' AND ')}`}`
  }
  const values = [...source.values, ...span.map(({ value }) => value)]
  const sql = source.inHalves ? `${half([`e.${moves}`])} UNION ALL ${half([`e.${judgements}`])}` : half([])
  const all = [...values, ...(source.inHalves ? values : []), most]
  return tx.oneOf<{ n: number }>(`SELECT count(*) AS n FROM (${sql} LIMIT ?)`, all)?.n ?? 0
}
