import type { Position, UnitStep } from './store.ts'

/**
 * `here`: it stands at one site. `left`: every site that knows it has taken it out. `in_transit`: it has left, and its transport unit
 * is on the way. `two_places`: it stands at more than one site.
 */
export type Whereabouts = 'here' | 'left' | 'in_transit' | 'two_places'

/** Returns the newest position of each asset and site: a site has more logs than one after a restore. Pure. */
export function newestBySite(positions: readonly Position[]): Position[] {
  const newest = new Map<string, Position>()
  for (const position of positions) {
    const key = `${position.siteId}\0${position.assetKey}`
    const known = newest.get(key)
    if (!known || position.atMs > known.atMs) newest.set(key, position)
  }
  return [...newest.values()].toSorted((a, b) => b.atMs - a.atMs)
}

/** Decides where one asset is, from its newest position at each site. Pure. */
export function whereabouts(bySite: readonly Position[]): Exclude<Whereabouts, 'in_transit'> {
  const standing = bySite.filter(({ letter }) => letter === 'P')
  if (standing.length > 1) return 'two_places'
  return standing.length === 1 ? 'here' : 'left'
}

/**
 * Returns the transport unit with which an asset that has left is on its way: the one whose step is the newest, while it goes out or
 * arrives. Undefined when it has arrived, or never left with one. Pure.
 */
export function onTheWay(steps: readonly UnitStep[]): UnitStep | undefined {
  const newest = steps
    .filter(({ status }) => status !== 'cancelled')
    .toSorted((a, b) => b.atMs - a.atMs)
    .at(0)
  return newest?.direction === 'inbound' && newest.status === 'completed' ? undefined : newest
}
