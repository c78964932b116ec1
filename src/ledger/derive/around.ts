import type { PlacementEventRow, ReadTx } from '../../database/index.ts'
import { type Bounds, bounded, judgements, moves, type Placement } from './state.ts'

/** What a search for contradictions looks at around a move. */

export type Judged = Pick<PlacementEventRow, 'id' | 'timestamp_ms' | 'asset_key' | 'asset_barcode'> & {
  readonly event_type: 'VERIFIED' | 'DISPUTED'
}

/** Judgements of whatever in a slot, strictly later than `afterMs`, newest first. */
export function judgementsAfter(tx: ReadTx, slotId: number, afterMs: number, bounds: Bounds): Judged[] {
  const limit = bounded(bounds)
  return tx.allOf<Judged>(
    `SELECT id, timestamp_ms, event_type, asset_key, asset_barcode FROM main.placement_event
     WHERE slot_id = +? AND ${judgements} AND timestamp_ms > +?${limit.sql} ORDER BY timestamp_ms DESC, id DESC LIMIT 100`,
    [slotId, afterMs, ...limit.parameters],
  )
}

/** The PLACED or REMOVED of the slot directly in front of another. */
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

/** Every asset that is registered or was ever named, in the order of their numbers: the next `count` behind one. */
export function assetKeys(tx: ReadTx, afterId: number, count: number): { id: number; key: string }[] {
  return tx.allOf('SELECT id, asset_key AS key FROM asset WHERE id > +? ORDER BY id LIMIT ?', [afterId, count])
}
