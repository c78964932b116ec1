import type { ReadTx } from '../database/index.ts'
import { type Condition, idsOf } from './merged.ts'
import { lastIdUpTo } from './state.ts'
import { type OpenedRow, openedSelect } from './store.ts'

/** Which events a walk meets. Times are when it happened; `lastId`: what is appended while it goes on stays out. */
export type WalkFilter = {
  readonly slotId?: number | undefined
  readonly assetKey?: string | undefined
  readonly eventType?: string | undefined
  /** Inclusive. */
  readonly fromMs?: number | undefined
  /** Exclusive. */
  readonly toMs?: number | undefined
  /** Only leaves behind this one, and then in the order of the log instead of the order of the floor. */
  readonly afterSeq?: number | undefined
  readonly lastId: number
}

/** Where a walk stands: behind this event. */
export type WalkPlace = { readonly timestampMs: number; readonly id: number; readonly seq: number }

export type WalkStep = { readonly rows: OpenedRow[]; readonly place: WalkPlace | undefined }

/**
 * The next events, oldest first, out of at most `looked` rows: a filter that few rows pass costs many steps, never a
 * long one. `place` is undefined when there are no more.
 */
export function walk(tx: ReadTx, filter: WalkFilter, from: WalkPlace | undefined, looked: number): WalkStep {
  const order = filter.afterSeq === undefined ? 'timestamp_ms, id' : 'id'
  const about = aboutOne(filter)
  const ids = idsOf({
    conditions: [
      ...about,
      ...(filter.afterSeq === undefined ? byTime(filter, from) : bySeq(tx, filter.afterSeq, from)),
      { part: 'e.id <= ?', values: [filter.lastId] },
    ],
    inHalves: about.length > 0,
    order,
    limit: 'LIMIT ?',
  })
  const rows = tx.allOf<OpenedRow>(
    `${openedSelect} WHERE e.id IN (SELECT id FROM (${ids.sql})) ORDER BY ${order.replaceAll(/timestamp_ms|id/g, 'e.$&')}`,
    [...ids.values, looked],
  )
  const last = rows.at(-1)
  return {
    rows: rows.filter((row) => passes(row, filter)),
    place: last && rows.length === looked ? placeOf(last) : undefined,
  }
}

function aboutOne({ assetKey, slotId }: WalkFilter): Condition[] {
  if (assetKey !== undefined) return [{ part: 'e.asset_key = +?', values: [assetKey] }]
  return slotId === undefined ? [] : [{ part: 'e.slot_id = +?', values: [slotId] }]
}

function byTime({ fromMs, toMs }: WalkFilter, from: WalkPlace | undefined): Condition[] {
  return [
    from
      ? { part: '(e.timestamp_ms, e.id) > (+?, +?)', values: [from.timestampMs, from.id] }
      : { part: 'e.timestamp_ms >= +?', values: [fromMs ?? Number.MIN_SAFE_INTEGER] },
    ...(toMs === undefined ? [] : [{ part: 'e.timestamp_ms < +?', values: [toMs] }]),
  ]
}

function bySeq(tx: ReadTx, afterSeq: number, from: WalkPlace | undefined): Condition[] {
  return [{ part: 'e.id > +?', values: [from?.id ?? lastIdUpTo(tx, 'leaf_seq', afterSeq)] }]
}

function placeOf(row: OpenedRow): WalkPlace {
  return { timestampMs: row.timestamp_ms, id: row.id, seq: row.leaf_seq }
}

function passes(row: OpenedRow, { slotId, assetKey, eventType, fromMs, toMs }: WalkFilter): boolean {
  return (
    (slotId === undefined || row.slot_id === slotId) &&
    (assetKey === undefined || row.asset_key === assetKey) &&
    (eventType === undefined || row.event_type === eventType) &&
    (fromMs === undefined || row.timestamp_ms >= fromMs) &&
    (toMs === undefined || row.timestamp_ms < toMs)
  )
}

/** Events that say of themselves that they correct this one, up to `lastId`, in their order. */
export function correctionsOf(
  tx: ReadTx,
  eventId: number,
  lastId: number,
): { id: number; event_id: string; received_at_ms: number }[] {
  return tx.allOf(
    `SELECT id, event_id, received_at_ms FROM main.placement_event
     WHERE corrects_event_id IS NOT NULL AND corrects_event_id = +? AND id <= ? ORDER BY id`,
    [eventId, lastId],
  )
}
