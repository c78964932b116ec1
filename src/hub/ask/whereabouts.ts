import type { Position } from './store.ts'

/** `here`: it stands at one site. `left`: every site that knows it has taken it out. `two_places`: it stands at more than one site. */
export type Whereabouts = 'here' | 'left' | 'two_places'

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
export function whereabouts(bySite: readonly Position[]): Whereabouts {
  const standing = bySite.filter(({ letter }) => letter === 'P')
  if (standing.length > 1) return 'two_places'
  return standing.length === 1 ? 'here' : 'left'
}
