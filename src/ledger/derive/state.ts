import {
  integer,
  maybe,
  pick,
  type ReadTx,
  type RowOf,
  statement,
  statements,
  text,
  word,
} from '../../database/index.ts'
import { newestLogNumber } from '../../log/index.ts'
import { type Sight, sampleSight, seenOnly, slots, wholeSight } from '../../warehouse/index.ts'
import { tables } from '../tables.ts'

/**
 * Occupancy and verification, computed from the ledger at every read; nothing here is stored anywhere. Locations: `location.ts`.
 * The order is (timestamp, id). Bound values are written as `+?`: a plain `?` against an indexed column makes SQLite prepare
 * the statement again at every call.
 */

/** Which moment is asked about: as it was at `atMs`, as far as known at `knownAtMs`. Both inclusive, in ms. */
export type When = {
  readonly atMs?: number | undefined
  readonly knownAtMs?: number | undefined
  /** Only events up to this id, so that what is appended between two reads is left out of the second. */
  readonly lastId?: number | undefined
}

export type SlotState = {
  readonly isOccupied: boolean
  readonly assetBarcode: string | null
  /** Absent while the slot is empty. */
  readonly isVerified?: boolean
  readonly isDisputed?: boolean
}

export const placementColumns = {
  ...pick(tables.placement_event, 'id', 'timestamp_ms', 'slot_id', 'asset_barcode', 'asset_key'),
  event_type: word<'PLACED' | 'REMOVED'>(),
}
export type Placement = Readonly<RowOf<typeof placementColumns>>

/** A `When` with the receipt time turned into the last id that was known then. */
export type Bounds = {
  readonly atMs: number | undefined
  readonly lastId: number | undefined
  /** Rows without an event id, as resolutions of disputes, count up to this time. */
  readonly knownAtMs?: number | undefined
}

export function boundsOf(tx: ReadTx, when: When = {}): Bounds {
  if (when.knownAtMs === undefined) return { atMs: when.atMs, lastId: when.lastId }
  // received_at never decreases with the id, so what was known then is a prefix of the ledger.
  const lastId = lastIdReceivedBy(tx, when.knownAtMs)
  return {
    atMs: when.atMs,
    lastId: Math.min(lastId, when.lastId ?? Number.MAX_SAFE_INTEGER),
    knownAtMs: when.knownAtMs,
  }
}

const newestEvent = statement({
  columns: { id: integer },
  sql: 'SELECT coalesce(max(id), 0) AS id FROM main.placement_event',
})
const isReceivedBy = statement({
  columns: { is: integer },
  sql: 'SELECT received_at_ms <= ? AS "is" FROM main.placement_event WHERE id = +?',
})
const isUpToLeaf = statement({
  columns: { is: integer },
  sql: 'SELECT (log_id, leaf_seq) <= (?, ?) AS "is" FROM main.placement_event WHERE id = +?',
})

/** Returns the last event that was received at `limitMs` or before, 0 before the first. */
export function lastIdReceivedBy(tx: ReadTx, limitMs: number): number {
  return lastIdWhere(tx, isReceivedBy, [limitMs])
}

/**
 * Returns the same `When` with a fixed last id, for reads in slices. Later events do not change the answer, and the receipt time is
 * looked up once for all slots or assets.
 */
export function settle(tx: ReadTx, when: When = {}): When {
  const newest = tx.get(newestEvent)?.id ?? 0
  const { atMs, lastId = newest } = boundsOf(tx, when)
  return { atMs, lastId: Math.min(lastId, newest) }
}

/**
 * Returns the last event whose leaf is among the first `seq` of a log, or in a log before it; 0 before the first. Without a number
 * it is the growing log.
 */
export function lastIdUpToSeq(tx: ReadTx, seq: number, logNumber?: number): number {
  if (seq <= 0 && logNumber === undefined) return 0
  const log = logNumber ?? newestLogNumber(tx) ?? 0
  return lastIdWhere(tx, isUpToLeaf, [log, seq])
}

/**
 * Returns the last event for which `condition` is true. A binary search of the ids works, because the condition is about values
 * that never decrease with them. It takes two dozen reads in ten million events, and needs no index that every commit would have to
 * write.
 */
function lastIdWhere(tx: ReadTx, condition: typeof isReceivedBy, values: readonly number[]): number {
  const isWithin = (id: number) => tx.get(condition, [...values, id])?.is === 1
  let above = (tx.get(newestEvent)?.id ?? 0) + 1
  if (isWithin(above - 1)) return above - 1
  let within = 0
  while (above - within > 1) {
    const middle = Math.floor((within + above) / 2)
    if (isWithin(middle)) within = middle
    else above = middle
  }
  return within
}

const columns = 'id, timestamp_ms, event_type, slot_id, asset_barcode, asset_key'

/**
 * The two halves of the ledger. Slots and assets have an index over each half and none over both: name one half, or the whole
 * ledger is read.
 */
export const moves = `event_type IN ('PLACED', 'REMOVED')`
export const judgements = `event_type IN ('VERIFIED', 'DISPUTED')`
export const newestFirst = 'ORDER BY timestamp_ms DESC, id DESC LIMIT 1'

const boundTextsOf = (alias: string) => {
  const [time, id] = [` AND ${alias}timestamp_ms <= +?`, ` AND ${alias}id <= +?`]
  return { time, id, both: `${time}${id}` }
}
/** Put together once: a statement is found by its text. */
const boundTexts = { '': boundTextsOf(''), 'j.': boundTextsOf('j.'), 'p.': boundTextsOf('p.') }
type Alias = keyof typeof boundTexts

export function bounded(bounds: Bounds, alias: Alias = ''): { sql: string; parameters: number[] } {
  const { atMs, lastId } = bounds
  const texts = boundTexts[alias]
  if (atMs !== undefined && lastId !== undefined) return { sql: texts.both, parameters: [atMs, lastId] }
  if (atMs !== undefined) return { sql: texts.time, parameters: [atMs] }
  return lastId === undefined ? { sql: '', parameters: [] } : { sql: texts.id, parameters: [lastId] }
}

/** Longest and shortest text of `bounded`: samples for statements. */
export function boundSamples(alias: Alias = ''): [string][] {
  return [[''], [bounded({ atMs: 1, lastId: 1 }, alias).sql]]
}

/** Text of `seenOnly` for events, as a sample for statements. */
export const seenSample = seenOnly(sampleSight, 'placement_event.slot_id').sql

const newestOfSlot = statements({
  columns: placementColumns,
  sql: (limit: string) =>
    `SELECT ${columns} FROM main.placement_event WHERE slot_id = +? AND ${moves}${limit} ${newestFirst}`,
  samples: boundSamples(),
})

/** Returns the newest PLACED or REMOVED of a slot. */
export function newestInSlot(tx: ReadTx, slotId: number, bounds: Bounds): Placement | undefined {
  const limit = bounded(bounds)
  return tx.get(newestOfSlot(limit.sql), [slotId, ...limit.parameters])
}

const newestJudgement = statements({
  columns: { event_type: word<'VERIFIED' | 'DISPUTED'>() },
  sql: (limit: string) => `SELECT event_type FROM main.placement_event
    WHERE slot_id = +? AND ${judgements} AND timestamp_ms > +? AND asset_key = +?${limit} ${newestFirst}`,
  samples: boundSamples(),
})

/** Returns the newest VERIFIED or DISPUTED of this placement's asset in its slot, strictly later than the placement. */
function judgementOf(tx: ReadTx, placed: Placement, bounds: Bounds): 'VERIFIED' | 'DISPUTED' | undefined {
  const limit = bounded(bounds)
  const values = [placed.slot_id, placed.timestamp_ms, placed.asset_key, ...limit.parameters]
  return tx.get(newestJudgement(limit.sql), values)?.event_type
}

const empty: SlotState = { isOccupied: false, assetBarcode: null }

function occupied(assetBarcode: string, judgement: 'VERIFIED' | 'DISPUTED' | null | undefined): SlotState {
  return { isOccupied: true, assetBarcode, isVerified: judgement === 'VERIFIED', isDisputed: judgement === 'DISPUTED' }
}

/** Returns whether a supervisor still has to check the slot: it is occupied and not verified, disputed or not. */
export function isPending({ isOccupied, isVerified }: SlotState): boolean {
  return isOccupied && isVerified !== true
}

export function slotState(tx: ReadTx, slotId: number, when: When = {}): SlotState {
  const bounds = boundsOf(tx, when)
  const newest = newestInSlot(tx, slotId, bounds)
  if (newest?.event_type !== 'PLACED') return empty
  return occupied(newest.asset_barcode, judgementOf(tx, newest, bounds))
}

/**
 * Returns the state of a slot after an event that is the newest of the slot, without a read of the ledger. Undefined for a
 * judgement, which leaves the occupant.
 */
export function stateAfterNewest(event: {
  readonly event_type: string
  readonly asset_barcode: string
}): SlotState | undefined {
  if (event.event_type === 'PLACED') return occupied(event.asset_barcode, undefined)
  return event.event_type === 'REMOVED' ? empty : undefined
}

/** Range of slots: all unless it names fewer. Ids are inclusive. */
export type SlotRange = {
  readonly zoneId?: number | undefined
  readonly firstId?: number | undefined
  readonly lastId?: number | undefined
}

const slotsThatStand = statements({
  columns: { slot_id: integer, asset_barcode: text, judgement: maybe(word<'VERIFIED' | 'DISPUTED'>()) },
  sql: (limit: string, judged: string, isInZone: boolean) => `SELECT s.id AS slot_id, p.asset_barcode,
      (SELECT j.event_type FROM main.placement_event j
       WHERE j.slot_id = s.id AND j.${judgements} AND j.timestamp_ms > p.timestamp_ms AND j.asset_key = p.asset_key${judged}
       ORDER BY j.timestamp_ms DESC, j.id DESC LIMIT 1) AS judgement
    FROM ${slots} s CROSS JOIN main.placement_event p INDEXED BY placement_event_occupancy
      ON p.slot_id = s.id AND p.${moves} AND (p.timestamp_ms, p.id) = (
        SELECT timestamp_ms, id FROM main.placement_event WHERE slot_id = s.id AND ${moves}${limit} ${newestFirst})
    WHERE p.event_type = 'PLACED' AND s.id BETWEEN +? AND +?${isInZone ? ' AND s.zone_id = +?' : ''}`,
  samples: [
    ['', '', false],
    [bounded({ atMs: 1, lastId: 1 }).sql, bounded({ atMs: 1, lastId: 1 }, 'j.').sql, true],
  ],
})

/**
 * States of the slots of a range, by slot id. Slots that are empty are not in the map: see `stateIn`.
 * CROSS JOIN keeps the slots outside and the seeks inside; left to itself SQLite walks the whole ledger.
 */
export function slotStates(tx: ReadTx, when: When = {}, range: SlotRange = {}): ReadonlyMap<number, SlotState> {
  const { zoneId, firstId = 1, lastId = Number.MAX_SAFE_INTEGER } = range
  const bounds = boundsOf(tx, when)
  const limit = bounded(bounds)
  const judged = bounded(bounds, 'j.')
  const isInZone = zoneId !== undefined
  const rows = tx.all(slotsThatStand(limit.sql, judged.sql, isInZone), [
    ...judged.parameters,
    ...limit.parameters,
    firstId,
    lastId,
    ...(isInZone ? [zoneId] : []),
  ])
  return new Map(rows.map((row) => [row.slot_id, occupied(row.asset_barcode, row.judgement)]))
}

const useColumns = {
  warehouseId: integer,
  zoneId: maybe(integer),
  /** Null with a zone. */
  label: maybe(text),
  /** Retired slots count only while they are occupied. */
  total: integer,
  occupied: integer,
  /** Occupied and not verified, disputed ones among them: see `isPending`. */
  pending: integer,
}

/** Use of the slots of a zone, or of those without a zone under one label. */
export type SlotUse = Readonly<RowOf<typeof useColumns>>

const slotRange = statements({
  columns: { n: integer, last: maybe(integer) },
  sql: (isInZone: boolean) => `SELECT count(*) AS n, max(id) AS last FROM (
    SELECT id FROM ${slots} WHERE id > +?${isInZone ? ' AND zone_id = +?' : ''} ORDER BY id LIMIT ?)`,
  samples: [[false], [true]],
})
const usesOfSlots = statements({
  columns: useColumns,
  sql: (moved: string, judged: string, isInZone: boolean) => `WITH stood AS MATERIALIZED (
      SELECT s.warehouse_id, s.zone_id, CASE WHEN s.zone_id IS NULL THEN s.zone END AS label, s.retired_at_ms,
        (SELECT CASE p.event_type WHEN 'PLACED' THEN coalesce(
           (SELECT j.event_type FROM main.placement_event j
            WHERE j.slot_id = p.slot_id AND j.${judgements} AND j.timestamp_ms > p.timestamp_ms AND j.asset_key = p.asset_key${judged}
            ORDER BY j.timestamp_ms DESC, j.id DESC LIMIT 1), 'PLACED') END
         FROM main.placement_event p WHERE p.slot_id = s.id AND p.${moves}${moved}
         ORDER BY p.timestamp_ms DESC, p.id DESC LIMIT 1) AS standing
      FROM ${slots} s WHERE s.id > +? AND s.id <= +?${isInZone ? ' AND +s.zone_id = +?' : ''})
    SELECT warehouse_id AS warehouseId, zone_id AS zoneId, label, sum(retired_at_ms IS NULL OR standing IS NOT NULL) AS total,
      count(standing) AS occupied, count(CASE WHEN standing <> 'VERIFIED' THEN 1 END) AS pending
    FROM stood GROUP BY warehouse_id, zone_id, label`,
  samples: [
    ['', '', false],
    [bounded({ atMs: 1, lastId: 1 }, 'p.').sql, bounded({ atMs: 1, lastId: 1 }, 'j.').sql, true],
  ],
})

/**
 * Returns the counts of the next `looked` slots after `afterId`, computed inside SQLite with two seeks for each slot.
 * MATERIALIZED, because otherwise the seeks are repeated for each sum. `next` is undefined when these were the last slots.
 */
export function slotUse(
  tx: ReadTx,
  when: When,
  zoneId: number | undefined,
  afterId: number,
  looked: number,
): { uses: SlotUse[]; next: number | undefined } {
  const isInZone = zoneId !== undefined
  const zone = isInZone ? [zoneId] : []
  const range = tx.get(slotRange(isInZone), [afterId, ...zone, looked])
  if (!range || range.last === null) return { uses: [], next: undefined }
  const bounds = boundsOf(tx, when)
  const moved = bounded(bounds, 'p.')
  const judged = bounded(bounds, 'j.')
  const uses = tx.all(usesOfSlots(moved.sql, judged.sql, isInZone), [
    ...judged.parameters,
    ...moved.parameters,
    afterId,
    range.last,
    ...zone,
  ])
  return { uses, next: range.n < looked ? undefined : range.last }
}

export function stateIn(states: ReadonlyMap<number, SlotState>, slotId: number): SlotState {
  return states.get(slotId) ?? empty
}

const eventNaming = statements({
  columns: { found: integer },
  sql: (half: string, rest: string) =>
    `SELECT 1 AS found FROM main.placement_event WHERE asset_key = +? AND ${half}${rest} LIMIT 1`,
  samples: [
    [moves, ''],
    [judgements, `${bounded({ atMs: 1, lastId: 1 }).sql}${seenSample}`],
  ],
})

/** Returns whether any event that `sight` reaches names the asset, within the bounds. */
export function assetIsKnown(tx: ReadTx, assetKey: string, sight: Sight, when: When = {}): boolean {
  const limit = bounded(boundsOf(tx, when))
  const seen = seenOnly(sight, 'placement_event.slot_id')
  const rest = `${limit.sql}${seen.sql}`
  const values = [assetKey, ...limit.parameters, ...seen.parameters]
  const isNamed = (half: string) => tx.get(eventNaming(half, rest), values) !== undefined
  return isNamed(moves) || isNamed(judgements)
}

/**
 * Returns whether the asset is visible in this sight. It is when an event in sight names it, or when no event names it and it is
 * registered. An asset that only hidden warehouses have seen is not visible.
 */
export function assetIsSeen(
  tx: ReadTx,
  asset: { readonly key: string; readonly provisional: boolean },
  sight: Sight,
): boolean {
  if (assetIsKnown(tx, asset.key, sight)) return true
  return !asset.provisional && (sight.hiddenWarehouses.length === 0 || !assetIsKnown(tx, asset.key, wholeSight))
}

const newestSql = (column: string, half: string, seen = '') =>
  `(SELECT timestamp_ms FROM main.placement_event WHERE ${column} = +? AND ${half}${seen} ${newestFirst})`
const newestOfBoth = statements({
  columns: { a: integer, b: integer, c: integer, d: integer },
  sql: (
    seen: string,
  ) => `SELECT coalesce(${newestSql('slot_id', moves)}, 0) AS a, coalesce(${newestSql('slot_id', judgements)}, 0) AS b,
  coalesce(${newestSql('asset_key', moves, seen)}, 0) AS c, coalesce(${newestSql('asset_key', judgements, seen)}, 0) AS d`,
  samples: [[''], [seenSample]],
})
const judgementBehind = statement({
  columns: { found: integer },
  sql: `SELECT 1 AS found FROM main.placement_event
    WHERE slot_id = +? AND ${judgements} AND (timestamp_ms, id) > (+?, +?) AND asset_key = +? LIMIT 1`,
})

/** Returns the newest timestamp of any event of the slot, or of the asset as far as `sight` goes; 0 without one. */
export function newestTimestampMs(tx: ReadTx, slotId: number, assetKey: string, sight: Sight): number {
  const seen = seenOnly(sight, 'placement_event.slot_id')
  const newest = tx.get(newestOfBoth(seen.sql), [
    slotId,
    slotId,
    assetKey,
    ...seen.parameters,
    assetKey,
    ...seen.parameters,
  ])
  return newest ? Math.max(newest.a, newest.b, newest.c, newest.d) : 0
}

/** Returns whether a VERIFIED or DISPUTED of the asset in the slot comes later in the order (timestamp, id). */
export function judgedAfter(
  tx: ReadTx,
  slotId: number,
  assetKey: string,
  timestampMs: number,
  id = Number.MAX_SAFE_INTEGER,
): boolean {
  return tx.get(judgementBehind, [slotId, timestampMs, id, assetKey]) !== undefined
}
