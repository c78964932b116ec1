import { pick, type ReadTx, statement } from '../../database/index.ts'
import { type OpenedRow, openedByIds } from '../store.ts'
import { tables } from '../tables.ts'
import { beginning, type EventPlace, type HistoryFilter, lookAt, operatorMeant, passes, sourceOf } from './look.ts'

const corrections = statement({
  columns: pick(tables.placement_event, 'id', 'event_id', 'received_at_ms', 'asset_key'),
  sql: `SELECT id, event_id, received_at_ms, asset_key FROM main.placement_event
    WHERE corrects_event_id IS NOT NULL AND corrects_event_id = +? AND id <= ? ORDER BY id`,
})

export type WalkStep = { readonly rows: OpenedRow[]; readonly place: EventPlace | undefined }

/**
 * Returns the next events, oldest first, out of `looked` rows, for the jobs thread; the main thread reads by `history.ts`. The
 * `place` is undefined when there are no more.
 * @param filter `lastId`: events that are appended during the walk are left out
 */
export function walk(
  tx: ReadTx,
  filter: HistoryFilter & { readonly lastId: number },
  from: EventPlace | undefined,
  looked: number,
): WalkStep {
  const order = 'oldest first'
  const place = from ?? beginning(order, filter, 0)
  const meant = operatorMeant(tx, filter)
  const rows = lookAt(tx, sourceOf(filter, meant), order, filter, { place, looked, placesOnly: false })
  const ids = rows.filter((row) => row.id <= filter.lastId && passes(row, filter, meant)).map(({ id }) => id)
  const last = rows.at(-1)
  return {
    rows: openedByIds(tx, ids, order),
    place: last && rows.length === looked ? { timestampMs: last.timestamp_ms, id: last.id } : undefined,
  }
}

/** Returns the events up to `lastId` that correct this one, in their order. */
export function correctionsOf(
  tx: ReadTx,
  eventId: number,
  lastId: number,
): { id: number; event_id: string; received_at_ms: number; asset_key: string }[] {
  return tx.all(corrections, [eventId, lastId])
}
