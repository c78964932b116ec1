import type { ReadTx } from '../database/index.ts'
import { boundsOf, newestInSlot } from './state.ts'

/** The event that a line of a list of opening stock has become; undefined when it has become none yet. */
export function eventOfOpeningLine(tx: ReadTx, list: string, line: number): number | undefined {
  return tx.oneOf<{ id: number }>('SELECT id FROM main.placement_event WHERE opening_list = +? AND opening_line = +?', [
    list,
    line,
  ])?.id
}

/** What stands in a slot, and whether only a list says so; undefined when it is empty. */
export function occupantOf(
  tx: ReadTx,
  slotId: number,
):
  | { readonly eventId: number; readonly assetBarcode: string; readonly assetKey: string; readonly isOpening: boolean }
  | undefined {
  const newest = newestInSlot(tx, slotId, boundsOf(tx))
  if (newest?.event_type !== 'PLACED') return undefined
  const row = tx.oneOf<{ opening_list: string | null }>('SELECT opening_list FROM main.placement_event WHERE id = +?', [
    newest.id,
  ])
  return {
    eventId: newest.id,
    assetBarcode: newest.asset_barcode,
    assetKey: newest.asset_key,
    isOpening: row !== undefined && row.opening_list !== null,
  }
}
