import { type SlotState, stateIn } from '../ledger/index.ts'
import type { Slot, Zone } from '../warehouse/index.ts'
import type { Utilization } from './schema.ts'

/** Percent with two decimals; nothing of nothing is 0. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100
}

/**
 * How full the slots are. Zones without a slot are listed too; slots whose label matches no zone count under the
 * label, so that the zones' totals add up to `totalSlots`. Retired slots count only while something stands in them.
 */
export function utilizationOf(
  slots: readonly Slot[],
  states: ReadonlyMap<number, SlotState>,
  zones: readonly Zone[],
): Utilization {
  const byZone = new Map(zones.map((zone) => [`id ${zone.id}`, { zone: zone.name, occupied: 0, total: 0 }]))
  const sums = { totalSlots: 0, occupiedSlots: 0, pendingVerifications: 0 }
  for (const slot of slots) {
    const state = stateIn(states, slot.id)
    if (slot.retiredAt !== null && !state.isOccupied) continue
    const key = slot.zoneId === null ? `label ${slot.zone}` : `id ${slot.zoneId}`
    const use = byZone.get(key) ?? { zone: slot.zone, occupied: 0, total: 0 }
    byZone.set(key, use)
    use.total += 1
    sums.totalSlots += 1
    if (!state.isOccupied) continue
    use.occupied += 1
    sums.occupiedSlots += 1
    if (!state.isVerified) sums.pendingVerifications += 1
  }
  return { ...sums, utilizationPercent: percent(sums.occupiedSlots, sums.totalSlots), byZone: [...byZone.values()] }
}

/** Slots and occupied slots of each zone, by zone id. */
export function zoneUse(slots: readonly Slot[], states: ReadonlyMap<number, SlotState>) {
  const use = new Map<number, { slotCount: number; occupiedCount: number }>()
  for (const slot of slots) {
    const isOccupied = stateIn(states, slot.id).isOccupied
    if (slot.zoneId === null || (slot.retiredAt !== null && !isOccupied)) continue
    const counts = use.get(slot.zoneId) ?? { slotCount: 0, occupiedCount: 0 }
    use.set(slot.zoneId, {
      slotCount: counts.slotCount + 1,
      occupiedCount: counts.occupiedCount + (isOccupied ? 1 : 0),
    })
  }
  return (zoneId: number) => use.get(zoneId) ?? { slotCount: 0, occupiedCount: 0 }
}
