import type { Point } from '../../data/shapes.ts'
import { rounded } from '../../hall/polygon-edit.ts'
import { placeText, toCsv } from './csv.ts'

/** A slot that is not stored yet. */
export type NewPlace = { readonly slot_id: string; readonly aisle: string; readonly points: readonly Point[] }

/** Input of a person: `A-01..A-20` at 4 levels, from the left and the top in meters, and so many aisles beside it. */
export type GridOrder = {
  readonly labels: string
  readonly levels: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly depth: number
  readonly gap: number
  readonly isDown: boolean
  /** The first one counts. */
  readonly aisles: number
  /** From the beginning of one aisle to that of the next, in meters. */
  readonly step: number
}

export type GridFault = 'labels' | 'backwards' | 'many' | 'size' | 'aisles' | 'overlap'

/** As many as one list of the gateway takes, with room. */
export const mostPlaces = 20_000
const mostLabel = 64
const mostLevels = 50
const mostAisles = 200

/**
 * Returns the slots of an order, or its fault. Bays follow each other to the right, or downward. Levels lie one above the other,
 * the lowest at the bottom, as people see a rack from its aisle. Aisles lie side by side, and their letter or number counts up:
 * `A-01`, `B-01`. Pure.
 */
export function gridOf(order: GridOrder): { readonly places: readonly NewPlace[] } | { readonly fault: GridFault } {
  const { levels, x, y, width, depth, gap, isDown, aisles, step } = order
  const range = readRange(order.labels)
  if (range === undefined) return { fault: 'labels' }
  const { prefix, digits, from, to } = range
  if (to < from) return { fault: 'backwards' }
  const sizes = [width, depth]
  const isUsable = Number.isInteger(levels) && levels >= 1 && levels <= mostLevels && sizes.every((m) => m >= 0.1)
  if (!isUsable || ![x, y, width, depth, gap].every(Number.isFinite) || gap < 0) return { fault: 'size' }
  const names = aislesFrom(prefix, aisles)
  if (!names) return { fault: 'aisles' }
  if ((to - from + 1) * levels * aisles > mostPlaces) return { fault: 'many' }
  const across = isDown ? width : depth
  // Rounded as places are, so that aisles may touch.
  if (aisles > 1 && !(rounded(step, 3) >= rounded(levels * across + (levels - 1) * gap, 3))) return { fault: 'overlap' }
  const places: NewPlace[] = []
  for (const [index, { aisle, text }] of names.entries())
    for (let bay = from; bay <= to; bay += 1)
      for (let level = 1; level <= levels; level += 1) {
        const name = `${text}${String(bay).padStart(digits, '0')}`
        const along = (bay - from) * ((isDown ? depth : width) + gap)
        const above = index * (aisles > 1 ? step : 0) + (levels - level) * (across + gap)
        const [left, top] = isDown ? [x + above, y + along] : [x + along, y + above]
        const points = rectangleAt(left, top, width, depth)
        places.push({ slot_id: levels === 1 ? name : `${name}-${level}`, aisle, points })
      }
  return places.some(({ slot_id }) => slot_id.length > mostLabel) ? { fault: 'labels' } : { places }
}

/**
 * Returns the text before the bay of each aisle. The last number counts up, or the last one or two letters: a word names no
 * aisle. Undefined: nothing counts up, or the letters or numbers do not reach.
 */
function aislesFrom(prefix: string, aisles: number): { readonly aisle: string; readonly text: string }[] | undefined {
  const [, before = '', first = '', behind = ''] =
    /^(.*?)((?<![a-z])[a-z]{1,2}|\d{1,9})([^a-z\d]*)$/i.exec(prefix) ?? []
  if (aisles === 1) return [{ aisle: first, text: prefix }]
  if (first === '' || !Number.isInteger(aisles) || aisles < 1 || aisles > mostAisles) return undefined
  const names = Array.from({ length: aisles }, (_, n) => counted(first, n))
  if (names.some((name) => name.length !== first.length)) return undefined
  return names.map((aisle) => ({ aisle, text: `${before}${aisle}${behind}` }))
}

/** Returns a number or letters so much farther on: `09` becomes `10`, and `AZ` becomes `BA`. */
function counted(first: string, by: number): string {
  if (/^\d/.test(first)) return String(Number(first) + by).padStart(first.length, '0')
  const start = first === first.toLowerCase() ? 97 : 65
  let rest = [...first.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 65, 0) + by
  let text = ''
  for (let place = 0; place < first.length || rest > 0; place += 1) {
    text = String.fromCharCode(start + (rest % 26)) + text
    rest = Math.floor(rest / 26)
  }
  return text
}

/** Returns the name of the zone of an aisle: with its letter or number in place of the first one's, or behind the name. Pure. */
export function zoneOfAisle(zone: string, first: string, aisle: string): string {
  const isNamed = first !== '' && new RegExp(`(^|[^a-z\\d])${first}$`, 'i').test(zone)
  return isNamed ? zone.slice(0, zone.length - first.length) + aisle : `${zone} ${aisle}`
}

/** Reads `A-01..A-20`: the same text, then two numbers. Also reads `A-01..20` and one label alone. */
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

/** Returns new slots as a list for the gateway; `zoneOf` says the zone of a slot and, where it is new, its type. Pure. */
export const listOfPlaces = (
  places: readonly NewPlace[],
  zoneOf: (place: NewPlace) => readonly [zone: string, type: string],
): string =>
  toCsv([
    ['slot_id', 'zone', 'zone_type', 'floor_plan_polygon'],
    ...places.map((place) => [place.slot_id, ...zoneOf(place), placeText(place.points)]),
  ])
