import type { Stay } from './stays.ts'
import type { UnitStep } from './store.ts'

/**
 * - here: it is at one site.
 * - left: it is in no slot of any site that knows it.
 * - in_transit: it has left, and its transport unit is on the way.
 * - two_places: it is at more than one site.
 */
export type Whereabouts = 'here' | 'left' | 'in_transit' | 'two_places'

/**
 * Returns the stay of one pallet at each site, the one that began last first: the end of a stay may only mean that another
 * pallet came into the slot. A site may have several logs, and know the pallet by several names. A box that was retired has
 * nothing in its slots. Two assets of one site that both stand, with one SSCC, are both returned. Pure.
 */
export function newestBySite(stays: readonly Stay[]): Stay[] {
  const bySite = Map.groupBy(newestByName(stays), ({ siteId }) => siteId)
  return [...bySite.values()]
    .flatMap(([newest, ...others]) => (newest ? [newest, ...others.filter((one) => isAnother(one, newest))] : []))
    .toSorted(byTime)
}

function newestByName(stays: readonly Stay[]): Stay[] {
  const newest = new Map<string, Stay>()
  const inOrder = stays.toSorted((a, b) => Number(a.isRetired) - Number(b.isRetired) || byTime(a, b))
  for (const stay of inOrder) {
    const name = `${stay.siteId}\0${stay.assetKey}`
    if (!newest.has(name)) newest.set(name, stay.isRetired ? { ...stay, letter: 'R' } : stay)
  }
  return [...newest.values()]
}

/** A stay without a PLACED, of which only the end is known, is older than any other. */
const byTime = (a: Stay, b: Stay) => (b.placedMs ?? 0) - (a.placedMs ?? 0) || b.atMs - a.atMs || b.seq - a.seq

/** An SSCC is only another name of the asset. */
const isAnother = (one: Stay, newest: Stay) =>
  one.letter === 'P' && one.slotId !== newest.slotId && ![one, newest].some(({ assetKey }) => ssccIn(assetKey))

/** Returns the SSCC that an asset key is, without its 00; undefined for another key. */
export const ssccIn = (key: string): string | undefined => /^(?:00)?(\d{18})$/.exec(key)?.[1]

/** Decides where one pallet is, from its stay at each site. Pure. */
export function whereabouts(bySite: readonly Stay[]): Exclude<Whereabouts, 'in_transit'> {
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
