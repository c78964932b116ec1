import { pick, type ReadTx, statements, word } from '../../database/index.ts'
import { type PlacementEventRow, tables } from '../tables.ts'
import { type Bounds, bounded, boundSamples, judgements, moves, type Placement, placementColumns } from './state.ts'

/** Reads for the search for contradictions around a move. */

export type Judged = Pick<PlacementEventRow, 'id' | 'timestamp_ms' | 'asset_key' | 'asset_barcode'> & {
  readonly event_type: 'VERIFIED' | 'DISPUTED'
}

const judgementsOfSlot = statements({
  columns: {
    ...pick(tables.placement_event, 'id', 'timestamp_ms', 'asset_key', 'asset_barcode'),
    event_type: word<'VERIFIED' | 'DISPUTED'>(),
  },
  sql: (limit: string) => `SELECT id, timestamp_ms, event_type, asset_key, asset_barcode FROM main.placement_event
    WHERE slot_id = +? AND ${judgements} AND timestamp_ms > +?${limit} ORDER BY timestamp_ms DESC, id DESC LIMIT 100`,
  samples: boundSamples(),
})
const moveInFront = statements({
  columns: placementColumns,
  sql: (limit: string) =>
    `SELECT id, timestamp_ms, event_type, slot_id, asset_barcode, asset_key FROM main.placement_event
    WHERE slot_id = +? AND ${moves} AND (timestamp_ms, id) < (+?, +?)${limit} ORDER BY timestamp_ms DESC, id DESC LIMIT 1`,
  samples: boundSamples(),
})
/** Returns the judgements of all assets in a slot, strictly later than `afterMs`, newest first, at most 100. */
export function judgementsAfter(tx: ReadTx, slotId: number, afterMs: number, bounds: Bounds): Judged[] {
  const limit = bounded(bounds)
  return tx.all(judgementsOfSlot(limit.sql), [slotId, afterMs, ...limit.parameters])
}

/** Returns the PLACED or REMOVED of the slot directly before another one. */
export function moveBefore(
  tx: ReadTx,
  move: Pick<Placement, 'id' | 'slot_id' | 'timestamp_ms'>,
  { lastId }: Bounds,
): Placement | undefined {
  const limit = bounded({ atMs: undefined, lastId })
  return tx.get(moveInFront(limit.sql), [move.slot_id, move.timestamp_ms, move.id, ...limit.parameters])
}
