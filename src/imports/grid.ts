import type { Slot } from '../warehouse/index.ts'

type Point = { readonly x: number; readonly y: number }
type Box = { readonly x: number; readonly y: number; readonly right: number; readonly bottom: number }

/** A label that names the place of its slot: `A-01-02` is aisle A, bay 1, level 2. */
export type Shelf = { readonly aisle: string; readonly bay: number; readonly level: number }

/** Metres. A bay is as wide as a pallet with its clearance; the gap between two aisles shows where a truck drives. */
const cell = { width: 1.2, height: 1 } as const
const pitch = { bay: 1.4, level: 1.2 } as const
const betweenAisles = 2.4
const mostBays = 2000

/**
 * Reads a label. The last part is the level (a number, or a letter from A). The part before it is the bay, and all parts before
 * that are the aisle. With two parts the second is the bay. Parts end at `-`, `.`, `/`, `_` or a blank. Undefined for any other
 * text.
 */
export function readShelf(label: string): Shelf | undefined {
  const parts = label.trim().split(/[-./_ ]+/)
  const [bay, level] = parts.length > 2 ? parts.slice(-2) : [parts[1], '1']
  const aisle = parts.slice(0, Math.max(parts.length - 2, 1)).join('-')
  if (aisle === '' || bay === undefined || level === undefined || !/^\d{1,9}$/.test(bay)) return undefined
  if (/^[a-z]$/i.test(level)) return { aisle, bay: Number(bay), level: level.toUpperCase().charCodeAt(0) - 64 }
  return /^\d{1,3}$/.test(level) ? { aisle, bay: Number(bay), level: Number(level) } : undefined
}

type Rows = { bays: number[]; levels: number[] }
/** `base`: lower edge of the lowest level. */
type Place = { readonly left: number; readonly base: number; readonly lowest: number }

/**
 * Finds places for slots without an outline, as people see a rack from its aisle. An aisle is a row of the plan, its bays go from
 * left to right, its levels one above the other. Aisles follow each other from the top in the order of their names, below
 * everything on the plan. An aisle that the grid made before continues where it is. The same labels on the same plan get the same
 * places.
 */
export class Grid {
  readonly #places = new Map<string, Place>()
  #firstBay = 0

  constructor(labels: readonly string[], existing: readonly Slot[]) {
    const aisles = new Map<string, Rows>()
    const known = existing.map((slot) => ({ shelf: readShelf(slot.slot_id), box: boxOf(slot.floor_plan_polygon) }))
    for (const { shelf } of known) if (shelf) note(aisles, shelf)
    for (const label of labels) {
      const shelf = readShelf(label)
      if (shelf) note(aisles, shelf)
    }
    this.#firstBay = least([...aisles.values()].flatMap(({ bays }) => bays))
    let left = -this.#firstBay * pitch.bay
    for (const { shelf, box } of known) {
      if (!shelf || this.#places.has(shelf.aisle) || !isCell(box)) continue
      const lowest = least(aisles.get(shelf.aisle)?.levels ?? [])
      left = box.x - shelf.bay * pitch.bay
      this.#places.set(shelf.aisle, { left, base: box.bottom + (shelf.level - lowest) * pitch.level, lowest })
    }
    let bottom = known.reduce((most, { box }) => Math.max(most, box.bottom), Number.NEGATIVE_INFINITY)
    for (const { base } of this.#places.values()) bottom = Math.max(bottom, base)
    const fresh = [...aisles].filter(([aisle]) => !this.#places.has(aisle)).toSorted(([a], [b]) => inOrder(a, b))
    for (const [aisle, { levels }] of fresh) {
      const lowest = least(levels)
      const height = (levels.reduce((a, b) => Math.max(a, b), lowest) - lowest) * pitch.level + cell.height
      bottom = (Number.isFinite(bottom) ? bottom + betweenAisles : 0) + height
      this.#places.set(aisle, { left, base: bottom, lowest })
    }
  }

  /** Returns the corners of a slot, or the fault of its label. */
  cornersOf(label: string): { readonly corners: Point[] } | { readonly fault: string } {
    const shelf = readShelf(label)
    const place = shelf && this.#places.get(shelf.aisle)
    if (!shelf || !place) {
      return {
        fault: `${label} cannot be read as aisle, bay and level such as A-01-02; give it a polygon, or x, y, width and height`,
      }
    }
    if (shelf.bay - this.#firstBay > mostBays) {
      return { fault: `bay ${shelf.bay} is more than ${mostBays} after the first one; give it x, y, width and height` }
    }
    const x = rounded(place.left + shelf.bay * pitch.bay)
    const bottom = rounded(place.base - (shelf.level - place.lowest) * pitch.level)
    const [right, top] = [rounded(x + cell.width), rounded(bottom - cell.height)]
    return {
      corners: [
        { x, y: top },
        { x: right, y: top },
        { x: right, y: bottom },
        { x, y: bottom },
      ],
    }
  }
}

function note(aisles: Map<string, Rows>, { aisle, bay, level }: Shelf): void {
  const rows = aisles.get(aisle) ?? { bays: [], levels: [] }
  rows.bays.push(bay)
  rows.levels.push(level)
  aisles.set(aisle, rows)
}

function boxOf(points: readonly Point[]): Box {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  return { x: Math.min(...xs), y: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) }
}

const isCell = ({ x, y, right, bottom }: Box): boolean =>
  Math.abs(right - x - cell.width) < 0.01 && Math.abs(bottom - y - cell.height) < 0.01

const least = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : numbers.reduce((a, b) => Math.min(a, b))
// Made once: `localeCompare` with options makes one for each comparison.
const collator = new Intl.Collator('en', { numeric: true })
/** A2 before A10, on every machine the same. */
const inOrder = (a: string, b: string): number => collator.compare(a, b) || (a < b ? -1 : 1)
const rounded = (metres: number): number => Math.round(metres * 1000) / 1000
