import { pick, type ReadTx, statements } from '../../database/index.ts'
import { type Sight, seenOnly } from '../../warehouse/index.ts'
import {
  type Bounds,
  bounded,
  boundSamples,
  boundsOf,
  moves,
  newestFirst,
  type Placement,
  placementColumns,
  seenSample,
  type When,
} from './state.ts'

/**
 * The stay that is an asset's: every reader of a location on the gateway asks here. It begins with the newest PLACED of the asset and
 * ends with the next PLACED or REMOVED in that slot, of any barcode. So the slot of a location always shows that asset,
 * and a REMOVED from another slot ends nothing.
 */

/** A move without its barcode, which would need a read of the table. */
export type AssetMove = Omit<Placement, 'asset_barcode'>

const columns = 'id, timestamp_ms, event_type, slot_id, asset_barcode, asset_key'
const isPlaced = ` AND +event_type = 'PLACED'`
const isBehind = ' AND (timestamp_ms, id) > (+?, +?)'
const oldestFirst = 'ORDER BY timestamp_ms, id LIMIT 1'
const boundedAndSeen = `${bounded({ atMs: 1, lastId: 1 }).sql}${seenSample}`

const assetMoves = statements({
  columns: pick(placementColumns, 'id', 'timestamp_ms', 'event_type', 'slot_id', 'asset_key'),
  sql: (rest: string, order: string) =>
    `SELECT id, timestamp_ms, event_type, slot_id, asset_key FROM main.placement_event
     WHERE asset_key = +? AND ${moves}${rest} ${order}`,
  samples: [
    ['', newestFirst],
    [`${isPlaced}${boundedAndSeen}`, newestFirst],
    [`${isBehind}${boundedAndSeen}`, oldestFirst],
    [`${isPlaced}${isBehind}${boundedAndSeen}`, oldestFirst],
  ],
})
const slotMoves = statements({
  columns: placementColumns,
  sql: (limit: string) =>
    `SELECT ${columns} FROM main.placement_event WHERE slot_id = +? AND ${moves}${isBehind}${limit} ${oldestFirst}`,
  samples: boundSamples(),
})

/** An asset among the events in sight, within the bounds. */
type AssetSeen = { readonly key: string; readonly sight: Sight; readonly bounds: Bounds }

function moveOf(
  tx: ReadTx,
  { key, sight, bounds }: AssetSeen,
  which: { readonly isPlaced: boolean; readonly behind?: Place },
): AssetMove | undefined {
  const limit = bounded(bounds)
  const seen = seenOnly(sight, 'placement_event.slot_id')
  const { behind } = which
  const rest = `${which.isPlaced ? isPlaced : ''}${behind ? isBehind : ''}${limit.sql}${seen.sql}`
  return tx.get(assetMoves(rest, behind ? oldestFirst : newestFirst), [
    key,
    ...(behind ? [behind.timestamp_ms, behind.id] : []),
    ...limit.parameters,
    ...seen.parameters,
  ])
}

type Place = Pick<Placement, 'id' | 'timestamp_ms'>

/** Returns the newest PLACED or REMOVED of an asset. It need not decide where the asset is: see `assetLocation`. */
export function newestMoveOfAsset(tx: ReadTx, key: string, sight: Sight, bounds: Bounds): AssetMove | undefined {
  return moveOf(tx, { key, sight, bounds }, { isPlaced: false })
}

/** Returns the newest PLACED of an asset, with which its stay begins. */
export function newestPlacementOf(tx: ReadTx, key: string, sight: Sight, bounds: Bounds): AssetMove | undefined {
  return moveOf(tx, { key, sight, bounds }, { isPlaced: true })
}

/** Returns the PLACED or REMOVED of a slot directly behind a move there. It ends the stay of the newest PLACED of an asset. */
export function nextInSlot(tx: ReadTx, move: AssetMove, bounds: Bounds): Placement | undefined {
  const limit = bounded(bounds)
  return tx.get(slotMoves(limit.sql), [move.slot_id, move.timestamp_ms, move.id, ...limit.parameters])
}

/** Returns what ends the stay that begins with a PLACED: the next move of the slot, or the next PLACED of the asset anywhere. */
export function endOfStay(tx: ReadTx, placed: AssetMove, sight: Sight, bounds: Bounds): AssetMove | undefined {
  const inSlot = nextInSlot(tx, placed, bounds)
  const again = moveOf(tx, { key: placed.asset_key, sight, bounds }, { isPlaced: true, behind: placed })
  return inSlot && again ? earlier(inSlot, again) : (inSlot ?? again)
}

/** Returns the PLACED or REMOVED of an asset directly behind another one. */
export function nextMoveOfAsset(tx: ReadTx, move: AssetMove, sight: Sight, bounds: Bounds): AssetMove | undefined {
  return moveOf(tx, { key: move.asset_key, sight, bounds }, { isPlaced: false, behind: move })
}

const earlier = (one: AssetMove, other: AssetMove): AssetMove =>
  one.timestamp_ms < other.timestamp_ms || (one.timestamp_ms === other.timestamp_ms && one.id < other.id) ? one : other

export type AssetLocation = {
  /** Null: the asset is in no slot. */
  readonly slotId: number | null
  /** When it came into the slot, or its last stay ended; null: it was never placed. */
  readonly since: number | null
  /** The slot of its last stay, and the event that ended that; null while it is in a slot, or was never placed. */
  readonly lastSlotId: number | null
  readonly endedBy: number | null
}

/** Returns where an asset is, among the events in `sight`: two seeks. */
export function assetLocation(tx: ReadTx, assetKey: string, sight: Sight, when: When = {}): AssetLocation {
  const bounds = boundsOf(tx, when)
  const placed = newestPlacementOf(tx, assetKey, sight, bounds)
  if (!placed) return { slotId: null, since: null, lastSlotId: null, endedBy: null }
  const end = nextInSlot(tx, placed, bounds)
  return end
    ? { slotId: null, since: end.timestamp_ms, lastSlotId: placed.slot_id, endedBy: end.id }
    : { slotId: placed.slot_id, since: placed.timestamp_ms, lastSlotId: null, endedBy: null }
}
