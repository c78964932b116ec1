import type { SlotUse } from '../ledger/index.ts'
import type { Zone } from '../warehouse/index.ts'
import type { Utilization } from './schema.ts'

/** Returns percent with two decimals; 0 of 0 is 0. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100
}

/**
 * Returns how full the slots are. Zones without a slot are listed too. Slots whose zone label matches no zone count under that
 * label of their warehouse, so that the zones' totals add up to `totalSlots`.
 */
export function utilizationOf(uses: readonly SlotUse[], zones: readonly Zone[]): Utilization {
  const byZone = new Map(
    zones.map(({ id, name, warehouseId }) => [`id ${id}`, unused({ zone: name, warehouseId, zoneId: id })]),
  )
  const sums = { totalSlots: 0, occupiedSlots: 0, pendingVerifications: 0 }
  for (const { warehouseId, zoneId, label, total, occupied, pending } of uses) {
    if (total === 0) continue
    const key = zoneId === null ? `label ${warehouseId} ${label}` : `id ${zoneId}`
    const use = byZone.get(key) ?? unused({ zone: label ?? '', warehouseId, zoneId })
    byZone.set(key, use)
    use.total += total
    use.occupied += occupied
    sums.totalSlots += total
    sums.occupiedSlots += occupied
    sums.pendingVerifications += pending
  }
  return { ...sums, utilizationPercent: percent(sums.occupiedSlots, sums.totalSlots), byZone: [...byZone.values()] }
}

type ZoneName = Pick<Utilization['byZone'][number], 'zone' | 'warehouseId' | 'zoneId'>
const unused = (zone: ZoneName): Utilization['byZone'][number] => ({ ...zone, occupied: 0, total: 0 })

/** Adds up uses of the same zone or label from several slices. */
export function addedUp(uses: readonly SlotUse[]): SlotUse[] {
  const sums = new Map<string, SlotUse>()
  for (const use of uses) {
    const key = JSON.stringify([use.warehouseId, use.zoneId, use.label])
    const { total = 0, occupied = 0, pending = 0 } = sums.get(key) ?? {}
    const sum = { total: total + use.total, occupied: occupied + use.occupied, pending: pending + use.pending }
    sums.set(key, { ...use, ...sum })
  }
  return [...sums.values()]
}

/** Returns slots and occupied slots of each zone, by zone id. */
export function zoneUse(uses: readonly SlotUse[]) {
  const byZone = new Map(uses.map((use) => [use.zoneId, { slotCount: use.total, occupiedCount: use.occupied }]))
  return (zoneId: number) => byZone.get(zoneId) ?? { slotCount: 0, occupiedCount: 0 }
}
