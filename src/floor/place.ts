import type { ReadTx } from '../database/index.ts'
import type { Caller } from '../http/index.ts'
import { assetLocation, type When } from '../ledger/index.ts'
import { isoTime } from '../platform/index.ts'
import type { Slot, WarehouseService } from '../warehouse/index.ts'
import type { SlotName } from './schema.ts'

/** Where an asset is. `lastSlot` and `endedBy`: where its last stay was, and the event that ended it. */
type Place<S> = {
  slot: S | null
  since: string | null
  lastSlot: SlotName | null
  endedBy: number | null
}

/**
 * Returns the place of an asset for a caller; null in a warehouse that the caller may not see.
 * @param show returns the facts of its slot for the answer
 */
export function placeOf<S>(
  tx: ReadTx,
  warehouse: WarehouseService,
  { key, caller, when }: { readonly key: string; readonly caller: Caller; readonly when?: When },
  show: (slot: Slot) => S,
): Place<S> | null {
  const { slotId, since, lastSlotId, endedBy } = assetLocation(tx, key, warehouse.sightOf(caller), when)
  const decided = slotId ?? lastSlotId
  if (decided === null) return { slot: null, since: null, lastSlot: null, endedBy: null }
  const slot = warehouse.visibleSlot(tx, decided, caller)
  if (!slot) return null
  return {
    slot: slotId === null ? null : show(slot),
    since: since === null ? null : isoTime(since),
    lastSlot: lastSlotId === null ? null : nameOf(slot),
    endedBy,
  }
}

export function nameOf({ id, slot_id, warehouseId, zone, zoneId }: Slot): SlotName {
  return { id, slot_id, warehouseId, zone, zoneId }
}
