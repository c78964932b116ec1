import { built, pick, type ReadTx, statement, text } from '../../database/index.ts'
import { sql, tables } from '../tables.ts'
import { boundsOf, newestInSlot, type When } from './state.ts'

const listOf = built(pick(tables.placement_event, 'id'), ({ id }) =>
  sql.selectFrom('placement_event').select('opening_list').where('id', '=', id),
)
const placedAndNotMoved = statement({
  columns: { assetBarcode: text, assetKey: text },
  sql: `SELECT p.asset_barcode AS assetBarcode, p.asset_key AS assetKey
    FROM main.placement_event p INDEXED BY placement_event_occupancy
    WHERE p.slot_id = +? AND p.event_type IN ('PLACED', 'REMOVED') AND p.event_type = 'PLACED' AND p.timestamp_ms <= +?
      AND NOT EXISTS (
        SELECT 1 FROM main.placement_event q
        WHERE q.asset_key = p.asset_key AND q.event_type IN ('PLACED', 'REMOVED')
          AND (q.timestamp_ms, q.id) > (p.timestamp_ms, p.id) AND q.timestamp_ms <= +?)
    ORDER BY p.timestamp_ms, p.id`,
})

export type Occupant = {
  readonly assetBarcode: string
  readonly assetKey: string
  /** Whether only a list of opening stock states it. */
  readonly isOpening: boolean
}

/** Returns the asset that a slot shows; undefined when the slot is empty. */
export function occupantOf(tx: ReadTx, slotId: number, when: When = {}): Occupant | undefined {
  const newest = newestInSlot(tx, slotId, boundsOf(tx, when))
  if (newest?.event_type !== 'PLACED') return undefined
  const list = tx.get(listOf, { id: newest.id })?.opening_list
  return { assetBarcode: newest.asset_barcode, assetKey: newest.asset_key, isOpening: typeof list === 'string' }
}

/**
 * Returns all assets that were put into a slot and not booked since. There is more than one where a pallet was put in front of
 * another. At most one of them is located there, the one that the slot shows. A count may find all of them.
 */
export function putInto(
  tx: ReadTx,
  slotId: number,
  atMs: number,
): { readonly assetBarcode: string; readonly assetKey: string }[] {
  return tx.all(placedAndNotMoved, [slotId, atMs, atMs])
}
