import { pick, type ReadTx, statements, word } from '../../database/index.ts'
import { type Sight, seenOnly } from '../../warehouse/index.ts'
import { type PlacementEventRow, tables } from '../tables.ts'
import {
  type AssetMove,
  type Bounds,
  bounded,
  boundSamples,
  judgements,
  moves,
  type Placement,
  placementColumns,
  seenSample,
} from './state.ts'

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
const assetMoveInFront = statements({
  columns: pick(placementColumns, 'id'),
  sql: (limit: string) => `SELECT id FROM main.placement_event
    WHERE asset_key = +? AND ${moves} AND (timestamp_ms, id) < (+?, +?)${limit} ORDER BY timestamp_ms DESC, id DESC LIMIT 1`,
  samples: [...boundSamples(), [seenSample]],
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

/** Returns the id of the PLACED or REMOVED of the asset directly before another one, among the events in `sight`. */
export function moveOfAssetBefore(tx: ReadTx, move: AssetMove, sight: Sight, { lastId }: Bounds): number | undefined {
  const limit = bounded({ atMs: undefined, lastId })
  const seen = seenOnly(sight, 'placement_event.slot_id')
  const values = [move.asset_key, move.timestamp_ms, move.id, ...limit.parameters, ...seen.parameters]
  return tx.get(assetMoveInFront(`${limit.sql}${seen.sql}`), values)?.id
}
