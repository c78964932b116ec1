import type { PlacementEventRow, ReadTx } from '../../database/index.ts'
import { type Bounds, bounded, judgements, moves, type Placement } from './state.ts'

/** Reads for the search for contradictions around a move. */

export type Judged = Pick<PlacementEventRow, 'id' | 'timestamp_ms' | 'asset_key' | 'asset_barcode'> & {
  readonly event_type: 'VERIFIED' | 'DISPUTED'
}

/** Returns the judgements of all assets in a slot, strictly later than `afterMs`, newest first, at most 100. */
export function judgementsAfter(tx: ReadTx, slotId: number, afterMs: number, bounds: Bounds): Judged[] {
  const limit = bounded(bounds)
  return tx.allOf<Judged>(
    `SELECT id, timestamp_ms, event_type, asset_key, asset_barcode FROM main.placement_event
     WHERE slot_id = +? AND ${judgements} AND timestamp_ms > +?${limit.sql} ORDER BY timestamp_ms DESC, id DESC LIMIT 100`,
    [slotId, afterMs, ...limit.parameters],
  )
}

/** Returns the PLACED or REMOVED of the slot directly before another one. */
export function moveBefore(
  tx: ReadTx,
  move: Pick<Placement, 'id' | 'slot_id' | 'timestamp_ms'>,
  { lastId }: Bounds,
): Placement | undefined {
  const limit = bounded({ atMs: undefined, lastId })
  return tx.oneOf<Placement>(
    `SELECT id, timestamp_ms, event_type, slot_id, asset_barcode, asset_key FROM main.placement_event
     WHERE slot_id = +? AND ${moves} AND (timestamp_ms, id) < (+?, +?)${limit.sql} ORDER BY timestamp_ms DESC, id DESC LIMIT 1`,
    [move.slot_id, move.timestamp_ms, move.id, ...limit.parameters],
  )
}

/** Returns the next `count` assets after `afterId`, registered or provisional, in the order of their ids. */
export function assetKeys(tx: ReadTx, afterId: number, count: number): { id: number; key: string }[] {
  return tx.allOf('SELECT id, asset_key AS key FROM asset WHERE id > +? ORDER BY id LIMIT ?', [afterId, count])
}
