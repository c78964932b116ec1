import type { Point } from './answers.ts'
import { placeText, toCsv } from './plan-csv.ts'
import { rounded } from './polygon-edit.ts'

/** A slot that is not stored yet. */
export type NewPlace = { readonly slot_id: string; readonly points: readonly Point[] }

/** What a person types: `A-01..A-20` at 4 levels, from the left and the top in metres. */
export type GridOrder = {
  readonly labels: string
  readonly levels: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly depth: number
  readonly gap: number
  readonly isDown: boolean
}

export type GridFault = 'labels' | 'backwards' | 'many' | 'size'

/** As many as one list of the gateway takes, with room. */
export const mostPlaces = 20_000
const mostLabel = 64
const mostLevels = 50

/**
 * Returns the slots of an order, or what is wrong with it. Bays follow each other to the right, or downward; levels stand one
 * above the other, the lowest at the bottom, as people see a rack from its aisle. Pure.
 */
export function gridOf(order: GridOrder): { readonly places: readonly NewPlace[] } | { readonly fault: GridFault } {
  const { levels, x, y, width, depth, gap, isDown } = order
  const range = readRange(order.labels)
  if (range === undefined) return { fault: 'labels' }
  const { prefix, digits, from, to } = range
  if (to < from) return { fault: 'backwards' }
  const sizes = [width, depth]
  const isUsable = Number.isInteger(levels) && levels >= 1 && levels <= mostLevels && sizes.every((m) => m >= 0.1)
  if (!isUsable || ![x, y, width, depth, gap].every(Number.isFinite) || gap < 0) return { fault: 'size' }
  if ((to - from + 1) * levels > mostPlaces) return { fault: 'many' }
  const places: NewPlace[] = []
  for (let bay = from; bay <= to; bay += 1)
    for (let level = 1; level <= levels; level += 1) {
      const name = `${prefix}${String(bay).padStart(digits, '0')}`
      const along = bay - from
      const above = levels - level
      const left = isDown ? x + above * (width + gap) : x + along * (width + gap)
      const top = isDown ? y + along * (depth + gap) : y + above * (depth + gap)
      places.push({ slot_id: levels === 1 ? name : `${name}-${level}`, points: rectangleAt(left, top, width, depth) })
    }
  return places.some(({ slot_id }) => slot_id.length > mostLabel) ? { fault: 'labels' } : { places }
}

/** Reads `A-01..A-20`: the same text, then two numbers. `A-01..20` and one label alone mean what one expects. */
function readRange(text: string) {
  const [first = '', last = first, ...rest] = text.trim().split(/\s*\.\.+\s*|\s*…\s*/)
  const [from, to] = [splitLabel(first), splitLabel(last)]
  if (!from || !to || rest.length > 0 || (to.prefix !== '' && to.prefix !== from.prefix)) return undefined
  return { prefix: from.prefix, digits: from.number.length, from: Number(from.number), to: Number(to.number) }
}

function splitLabel(label: string): { prefix: string; number: string } | undefined {
  const found = /^(.*?)(\d{1,9})$/.exec(label)
  return found ? { prefix: found[1] ?? '', number: found[2] ?? '' } : undefined
}

function rectangleAt(left: number, top: number, width: number, depth: number): Point[] {
  const [x, y] = [rounded(left, 3), rounded(top, 3)]
  const [right, bottom] = [rounded(left + width, 3), rounded(top + depth, 3)]
  return [
    { x, y },
    { x: right, y },
    { x: right, y: bottom },
    { x, y: bottom },
  ]
}

/** Returns new slots as a list for the gateway. Pure. */
export const listOfPlaces = (places: readonly NewPlace[], zone: string, zoneType: string): string =>
  toCsv([
    ['slot_id', 'zone', 'zone_type', 'floor_plan_polygon'],
    ...places.map(({ slot_id, points }) => [slot_id, zone, zoneType, placeText(points)]),
  ])
