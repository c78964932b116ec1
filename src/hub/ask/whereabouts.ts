import type { Position, UnitStep } from './store.ts'

/**
 * - here: it is at one site.
 * - left: it is in no slot of any site that knows it.
 * - in_transit: it has left, and its transport unit is on the way.
 * - two_places: it is at more than one site.
 */
export type Whereabouts = 'here' | 'left' | 'in_transit' | 'two_places'

/**
 * Returns the newest position of one pallet at each site, the newest first. A site may have several logs, and know the pallet by
 * several names. A box that was retired has nothing in its slots. Two assets of one site that both stand, with one SSCC, are both
 * returned. Pure.
 */
export function newestBySite(positions: readonly Position[]): Position[] {
  const bySite = Map.groupBy(newestByName(positions), ({ siteId }) => siteId)
  return [...bySite.values()]
    .flatMap(([newest, ...others]) => (newest ? [newest, ...others.filter((one) => isAnother(one, newest))] : []))
    .toSorted(byTime)
}

function newestByName(positions: readonly Position[]): Position[] {
  const newest = new Map<string, Position>()
  const inOrder = positions.toSorted((a, b) => Number(a.isRetired) - Number(b.isRetired) || byTime(a, b))
  for (const position of inOrder) {
    const name = `${position.siteId}\0${position.assetKey}`
    if (!newest.has(name)) newest.set(name, position.isRetired ? { ...position, letter: 'R' } : position)
  }
  return [...newest.values()]
}

const byTime = (a: Position, b: Position) => b.atMs - a.atMs || b.seq - a.seq

/** An SSCC is only another name of the asset. */
const isAnother = (one: Position, newest: Position) =>
  one.letter === 'P' && one.slotId !== newest.slotId && ![one, newest].some(({ assetKey }) => ssccIn(assetKey))

/** Returns the SSCC that an asset key is, without its 00; undefined for another key. */
export const ssccIn = (key: string): string | undefined => /^(?:00)?(\d{18})$/.exec(key)?.[1]

/** Decides where one pallet is, from its newest position at each site. Pure. */
export function whereabouts(bySite: readonly Position[]): Exclude<Whereabouts, 'in_transit'> {
  const standing = bySite.filter(({ letter }) => letter === 'P')
  if (standing.length > 1) return 'two_places'
  return standing.length === 1 ? 'here' : 'left'
}

/**
 * Returns the transport unit with which a pallet that has left is on its way. It is the newest step since the pallet was placed
 * last. The unit goes out of the site that the pallet left, or comes in at another one. Undefined when it has arrived, or left
 * without one. Pure.
 */
export function onTheWay(
  steps: readonly UnitStep[],
  { from, placedMs }: { readonly from: string; readonly placedMs: number },
): UnitStep | undefined {
  const newest = steps
    .filter(({ status, atMs }) => status !== 'cancelled' && atMs >= placedMs)
    .filter(({ siteId, direction }) => (siteId === from) !== (direction === 'inbound'))
    .toSorted((a, b) => b.atMs - a.atMs)
    .at(0)
  return newest?.direction === 'inbound' && newest.status === 'completed' ? undefined : newest
}
