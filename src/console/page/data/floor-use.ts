import type { Slot, Utilization, Zone } from './shapes.ts'

/** Use of the slots, in all and by zone. */
export type FloorUse = Omit<Utilization, 'byZone'> & {
  readonly byZone: readonly Pick<Utilization['byZone'][number], 'zone' | 'occupied' | 'total'>[]
}

/** Returns the numbers of these slots as the gateway counts them: a retired slot counts while something is in it. Pure. */
export function utilizationOf(slots: readonly Slot[], zones: readonly Zone[]): FloorUse {
  const counted = slots.filter(({ retiredAt, isOccupied }) => retiredAt === null || isOccupied)
  const byZone = new Map(zones.map(({ name }) => [name, { occupied: 0, total: 0 }]))
  let [occupiedSlots, pendingVerifications] = [0, 0]
  for (const { zone, isOccupied, isVerified } of counted) {
    const use = byZone.get(zone) ?? { occupied: 0, total: 0 }
    byZone.set(zone, { occupied: use.occupied + (isOccupied ? 1 : 0), total: use.total + 1 })
    if (!isOccupied) continue
    occupiedSlots += 1
    if (isVerified !== true) pendingVerifications += 1
  }
  const totalSlots = counted.length
  return {
    totalSlots,
    occupiedSlots,
    pendingVerifications,
    utilizationPercent: totalSlots === 0 ? 0 : (occupiedSlots / totalSlots) * 100,
    byZone: [...byZone].map(([zone, use]) => ({ zone, ...use })),
  }
}

/**
 * Returns a share in whole percent, rounded down: full is only what is full. A share such as 29 of 100 is a little less than 29 in
 * binary, and is 29 all the same.
 */
export const wholePercent = (percent: number): number => Math.floor(percent + 1e-9)
