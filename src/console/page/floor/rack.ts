import type { Slot } from '../data/shapes.ts'

/** Where a slot is in its rack, by its label: `A-01-02` is aisle A, bay 01, level 02, as imports read labels. */
type Shelf = { readonly aisle: string; readonly bay: string; readonly level: string }

/** The front of a rack: levels from the top, bays from the left; a place without a slot is undefined. */
export type Front = {
  readonly aisle: string
  readonly bays: readonly string[]
  readonly rows: readonly { readonly level: string; readonly slots: readonly (Slot | undefined)[] }[]
}

/** Bays beside the chosen one that are shown. */
const baysBeside = 5

function shelfOf({ slot_id }: Slot): Shelf | undefined {
  const parts = slot_id.split('-')
  const [bay, level] = parts.slice(-2)
  if (parts.length < 3 || bay === undefined || level === undefined) return undefined
  if (!/^\d{1,9}$/.test(bay) || !/^(\d{1,3}|[a-z])$/i.test(level)) return undefined
  return { aisle: parts.slice(0, -2).join('-'), bay, level }
}

/** Returns the front of the rack around a slot; undefined where labels name no levels, or only one. Pure. */
export function frontOf(chosen: Slot, slots: readonly Slot[]): Front | undefined {
  const shelf = shelfOf(chosen)
  if (!shelf) return undefined
  const inAisle = slots.flatMap((slot) => {
    const own = slot.warehouseId === chosen.warehouseId ? shelfOf(slot) : undefined
    return own?.aisle === shelf.aisle ? [{ slot, ...own }] : []
  })
  const all = namesOf(inAisle.map(({ bay }) => bay))
  const at = all.indexOf(shelf.bay)
  const bays = all.slice(Math.max(0, at - baysBeside), at + baysBeside + 1)
  const levels = namesOf(inAisle.filter(({ bay }) => bays.includes(bay)).map(({ level }) => level)).toReversed()
  if (levels.length < 2) return undefined
  const byPlace = new Map(inAisle.map(({ slot, bay, level }) => [`${bay} ${level}`, slot]))
  const rows = levels.map((level) => ({ level, slots: bays.map((bay) => byPlace.get(`${bay} ${level}`)) }))
  return { aisle: shelf.aisle, bays, rows }
}

const namesOf = (names: readonly string[]): string[] =>
  [...new Set(names)].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
