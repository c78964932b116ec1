import type { ReadTx, UnitOfWork } from '../../database/index.ts'
import { countLimit } from '../../http/index.ts'
import type { Meant } from '../../log/index.ts'
import { ownTurn } from '../../platform/index.ts'
import { slotPlaces } from '../../warehouse/index.ts'
import { headOf, type OpenedRow, type Order, openedByIds } from '../store.ts'
import {
  beginning,
  countOf,
  type EventPlace,
  type HistoryFilter,
  indexSliceRows,
  type LightRow,
  lightSliceRows,
  lookAt,
  operatorMeant,
  passes,
  type Source,
  sourceInLogOrder,
  sourceOf,
} from './look.ts'
import { lastIdUpToSeq } from './state.ts'

/** Whole rows that one slice reads and turns into answers of the API: about 2 ms. */
const openedSliceRows = 100
const sliceSlots = 5000

/** The slots whose events are meant; without zone and warehouse, all but those of hidden warehouses. */
export type SlotsMeant = {
  readonly zoneId?: number | undefined
  readonly warehouseId?: number | undefined
  /** Warehouses that the caller may not see. */
  readonly hiddenWarehouses: readonly number[]
}

export type HistoryPage = {
  readonly limit: number
  readonly offset: number
  /** The row to continue behind, newest first. */
  readonly before?: EventPlace | undefined
}

export type History = { readonly rows: OpenedRow[]; readonly hasMore: boolean; readonly total: number | null }

type Work = Pick<UnitOfWork, 'read' | 'readInSlices'>

/** A prepared filter: which index, which slots, and up to which event. */
type Prepared = {
  readonly filter: HistoryFilter
  readonly order: Order
  readonly source: Source
  /** Behind this event alone, in the order of the log. */
  readonly afterId: number
  /** The last event to read: later ones are left out. */
  readonly lastId: number
  readonly mayCount: (slotId: number) => boolean
  readonly meant: Meant | undefined
  /** Whether the index alone decides: then no row must be read to know that it matches. */
  readonly isServedByIndex: boolean
}

/**
 * Returns one page of the history: newest first, or with `afterSeq` in the order of the log. The `total` is exact up to
 * `countLimit` rows that the strongest condition finds, else null. Reads in slices; see `readInSlices`.
 */
export async function pageOfHistory(
  work: Work,
  filter: HistoryFilter,
  slots: SlotsMeant,
  page: HistoryPage,
  signal?: AbortSignal,
): Promise<History> {
  const prepared = await prepare(work, filter, slots, filter.afterSeq === undefined ? 'newest first' : 'log', signal)
  const { order, afterId } = prepared
  const ids: number[] = []
  let passed = 0
  for await (const found of eventsMeant(work, prepared, startOf(page, beginning(order, filter, afterId)), signal)) {
    const wanted = found.slice(Math.max(0, page.offset - passed))
    passed += found.length
    ids.push(...wanted.slice(0, page.limit + 1 - ids.length).map(({ id }) => id))
    if (ids.length > page.limit) break
  }
  await ownTurn()
  const total = await totalOf(work, prepared, signal)
  const rows: OpenedRow[] = []
  for await (const opened of openedRows(work, ids.slice(0, page.limit), order, signal)) rows.push(...opened)
  return { rows, hasMore: ids.length > page.limit, total }
}

/**
 * Yields every event that the filter leaves, some at a time: oldest first, or with `afterSeq` in the order of the log. Only events
 * up to `lastId`. Empty arrays come too: each is a turn for the others.
 */
export async function* eventsInSlices(
  work: Work,
  filter: HistoryFilter & { readonly lastId: number },
  slots: SlotsMeant,
  signal?: AbortSignal,
): AsyncGenerator<OpenedRow[], void> {
  const order = filter.afterSeq === undefined ? 'oldest first' : 'log'
  const prepared = {
    ...(await prepare(work, filter, slots, order, signal)),
    lastId: filter.lastId,
    isServedByIndex: false,
  }
  for await (const found of eventsMeant(work, prepared, beginning(order, filter, prepared.afterId), signal)) {
    if (found.length === 0) yield []
    yield* openedRows(
      work,
      found.map(({ id }) => id),
      order,
      signal,
    )
  }
}

/** Returns the place behind the cursor, or the end of the span of time when that is further back. */
function startOf({ before }: HistoryPage, first: EventPlace): EventPlace {
  return before && before.timestampMs < first.timestampMs ? before : first
}

async function prepare(
  work: Work,
  filter: HistoryFilter,
  slots: SlotsMeant,
  order: Order,
  signal: AbortSignal | undefined,
): Promise<Prepared> {
  const mayCount = await slotsMeant(work, slots, signal)
  return work.read((tx) => {
    const meant = operatorMeant(tx, filter)
    const own = sourceOf(filter, meant)
    const source = order === 'log' ? sourceInLogOrder(tx, own) : own
    const isSpanServed = order !== 'log' || (filter.fromMs === undefined && filter.toMs === undefined)
    return {
      filter,
      order,
      source,
      afterId: filter.afterSeq === undefined ? 0 : lastIdUpToSeq(tx, filter.afterSeq),
      lastId: headOf(tx).id,
      mayCount: mayCount ?? (() => true),
      meant,
      isServedByIndex: mayCount === undefined && source === own && source.isTheOnlyCondition && isSpanServed,
    }
  })
}

/** Returns a test for slots whose events count; undefined: those of all slots do. */
async function slotsMeant(
  work: Work,
  { zoneId, warehouseId, hiddenWarehouses }: SlotsMeant,
  signal: AbortSignal | undefined,
): Promise<((slotId: number) => boolean) | undefined> {
  if (zoneId === undefined && warehouseId === undefined && hiddenWarehouses.length === 0) return undefined
  const hidden = new Set(hiddenWarehouses)
  const meant = new Set<number>()
  const look = (tx: ReadTx, afterId: number) => {
    const slots = slotPlaces(tx, afterId, sliceSlots)
    for (const slot of slots) {
      const isAsked =
        (zoneId === undefined || slot.zone_id === zoneId) &&
        (warehouseId === undefined || slot.warehouse_id === warehouseId)
      if (isAsked && !hidden.has(slot.warehouse_id)) meant.add(slot.id)
    }
    return { found: undefined, next: slots.length < sliceSlots ? undefined : slots.at(-1)?.id }
  }
  for await (const _ of work.readInSlices(0, look, signal));
  return (slotId) => meant.has(slotId)
}

/** Returns the rows that count, slice by slice. */
function eventsMeant(work: Work, prepared: Prepared, from: EventPlace, signal: AbortSignal | undefined) {
  const { filter, order, source, lastId, mayCount, meant, isServedByIndex } = prepared
  const looked = isServedByIndex ? indexSliceRows : lightSliceRows
  return work.readInSlices<LightRow[], EventPlace>(
    from,
    (tx, place) => {
      const rows = lookAt(tx, source, order, filter, { place, looked, placesOnly: isServedByIndex })
      const last = rows.at(-1)
      const counts = (row: LightRow) => row.id <= lastId && mayCount(row.slot_id) && passes(row, filter, meant)
      return {
        found: isServedByIndex ? rows : rows.filter(counts),
        next: last && rows.length === looked ? { timestampMs: last.timestamp_ms, id: last.id } : undefined,
      }
    },
    signal,
  )
}

/** Returns the exact number, or null when more rows than the limit would have to be read. */
async function totalOf(work: Work, prepared: Prepared, signal: AbortSignal | undefined): Promise<number | null> {
  const { filter, order, source, afterId, lastId, isServedByIndex } = prepared
  if (isServedByIndex) {
    if (source.arms.length === 0 && filter.fromMs === undefined && filter.toMs === undefined) return lastId - afterId
    if (order !== 'log') {
      const counted = work.read((tx) => countOf(tx, source, filter, countLimit + 1))
      return counted > countLimit ? null : counted
    }
  }
  let total = 0
  let looked = 0
  for await (const found of eventsMeant(work, prepared, beginning(order, filter, afterId), signal)) {
    total += found.length
    looked += isServedByIndex ? found.length : lightSliceRows
    if (looked > countLimit) return null
  }
  return total
}

/** Returns whole rows by id, in the order of the reading. */
function openedRows(work: Work, ids: readonly number[], order: Order, signal: AbortSignal | undefined) {
  return work.readInSlices<OpenedRow[], number>(
    0,
    (tx, from) => {
      const end = from + openedSliceRows
      return { found: openedByIds(tx, ids.slice(from, end), order), next: end < ids.length ? end : undefined }
    },
    signal,
  )
}
