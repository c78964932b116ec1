import type { ReadTx } from '../../database/index.ts'
import type { Sight } from '../../warehouse/index.ts'
import { assetLocation, newestPlacementOf } from '../derive/location.ts'
import { boundsOf, judgedAfter, newestInSlot, newestTimestampMs, type Placement } from '../derive/state.ts'
import { type Effect, judge, type Surroundings } from '../judge.ts'
import type { PlacementEventRow } from '../tables.ts'

type Around = { around: Surroundings & { laterKnown: boolean }; placement: Placement | undefined }

/**
 * Returns the known state around the event's place in the order.
 * @param newestMs newest timestamp of its slot and its asset: most events are the newest, and need no query behind them
 * @param sight of the caller: it hides an asset's moves in hidden warehouses
 * @param ownId of an event that is recorded: others at its own time can come behind it; a new one comes behind all
 */
export function lookAround(
  tx: ReadTx,
  event: { slotId: number; assetKey: string; timestampMs: number },
  newestMs: number,
  sight: Sight,
  ownId?: number,
): Around {
  const laterKnown = newestMs > event.timestampMs || (ownId !== undefined && newestMs === event.timestampMs)
  const upTo = {
    ...boundsOf(tx, { atMs: event.timestampMs }),
    lastId: ownId === undefined ? undefined : ownId - 1,
  }
  const inSlot = newestInSlot(tx, event.slotId, upTo)
  const { slotId: assetSlotId } = assetLocation(tx, event.assetKey, sight, upTo)
  const everywhere = boundsOf(tx)
  const lastId = ownId ?? Number.MAX_SAFE_INTEGER
  const isLater = (row: Pick<Placement, 'id' | 'timestamp_ms'> | undefined) =>
    row !== undefined &&
    (row.timestamp_ms > event.timestampMs || (row.timestamp_ms === event.timestampMs && row.id > lastId))
  const placement = inSlot?.event_type === 'PLACED' ? inSlot : undefined
  const slotMovedLater = laterKnown && isLater(newestInSlot(tx, event.slotId, everywhere))
  return {
    placement,
    around: {
      occupant: placement && { assetKey: placement.asset_key, placedAtMs: placement.timestamp_ms },
      assetSlotId: assetSlotId ?? undefined,
      slotMovedLater,
      occupantPlacedLater:
        slotMovedLater &&
        placement !== undefined &&
        newestPlacementOf(tx, placement.asset_key, sight, everywhere)?.id !== placement.id,
      judgedLater: laterKnown && judgedAfter(tx, event.slotId, event.assetKey, event.timestampMs, lastId),
      laterKnown,
    },
  }
}

/** Returns the present effect of a recorded event. */
export function effectNow(tx: ReadTx, row: PlacementEventRow, sight: Sight): Effect {
  const moved = {
    eventType: row.event_type,
    slotId: row.slot_id,
    assetKey: row.asset_key,
    timestampMs: row.timestamp_ms,
  }
  return judge(
    moved,
    lookAround(tx, moved, newestTimestampMs(tx, row.slot_id, row.asset_key, sight), sight, row.id).around,
  ).effect
}
