import type { Box } from './geometry.ts'
import { onScreen, type Size, type View } from './view.ts'

type Named = { readonly name: string; readonly box: Box }

/** How names are written: large ones, and small ones where a large one has no room. */
const looks = [
  { height: 20, base: 15, sign: 8.6, font: '700 14px system-ui, sans-serif' },
  { height: 15, base: 11, sign: 6.8, font: '700 11px system-ui, sans-serif' },
] as const
const edgePx = 5
/** Rows between the slots of a zone that are searched for room for its name. */
const mostRows = 24
/** Cells of the grid in which names look for their neighbours. */
const cellPx = { width: 64, height: 40 } as const

export type PlacedName = Box & { readonly name: string; readonly font: string; readonly base: number }
/** By cell, the names that reach into it. */
type Taken = Map<string, readonly PlacedName[]>
/** Returns a slot, as a box of the plan, that lies in this one; undefined when there is none. */
export type Cover = (box: Box) => Box | undefined

const cellUnits = 4
/** A box over more cells, such as a slot drawn in millimeters among others in meters, is compared one by one. */
const mostCells = 1000

/** Makes the search for slots under a name: `boxes` around them, `unit` the shorter side of a usual one. */
export function coverOf(boxes: readonly Box[], unit: number): Cover {
  const side = cellUnits * unit
  const isLarge = ({ width, height }: Box) => (width / side + 1) * (height / side + 1) > mostCells
  const large = boxes.filter(isLarge)
  const cells = new Map<string, Box[]>()
  for (const box of boxes)
    for (const key of isLarge(box) ? [] : cellsOf(box, side, side)) {
      const known = cells.get(key)
      if (known) known.push(box)
      else cells.set(key, [box])
    }
  return (wanted) => {
    const isOver = (box: Box) => overlaps(box, wanted)
    if (isLarge(wanted)) return boxes.find(isOver)
    for (const key of cellsOf(wanted, side, side)) {
      const found = cells.get(key)?.find(isOver)
      if (found) return found
    }
    return large.find(isOver)
  }
}

/**
 * Returns the places where the names of zones are painted: above the zone, at the upper edge of the plan, or between its slots.
 * Neither a slot nor another name may be there. A zone without such a place has no name. Pure.
 */
export function namesIn(grounds: readonly Named[], view: View, size: Size, cover: Cover): PlacedName[] {
  const placed: PlacedName[] = []
  const taken: Taken = new Map()
  const blocker = (put: Box): Box | undefined => {
    const slot = cover({
      x: (put.x - view.x) / view.scale,
      y: (put.y - view.y) / view.scale,
      width: put.width / view.scale,
      height: put.height / view.scale,
    })
    if (slot) return onScreen(slot, view)
    return cellsOf(put, cellPx.width, cellPx.height)
      .flatMap((cell) => taken.get(cell) ?? [])
      .find((other) => overlaps(put, other))
  }
  for (const { name, box: of } of grounds) {
    const box = onScreen(of, view)
    if (box.x >= size.width || box.y >= size.height || box.x + box.width <= 0) continue
    const put = looks.map((look) => placeFor(name, look, box, size, blocker)).find((found) => found !== undefined)
    if (!put) continue
    placed.push(put)
    for (const cell of cellsOf(put, cellPx.width, cellPx.height)) taken.set(cell, [...(taken.get(cell) ?? []), put])
  }
  return placed
}

/** Returns the first place of a name, row by row from the zone's upper edge on, as far right as the zone reaches. */
function placeFor(
  name: string,
  { height, base, sign, font }: (typeof looks)[number],
  box: Box,
  size: Size,
  blocker: (put: Box) => Box | undefined,
): PlacedName | undefined {
  const width = signsOf(name) * sign + 2 * edgePx
  const left = Math.max(box.x, 6) - edgePx
  const lastLeft = Math.min(box.x + box.width, size.width) - width + edgePx
  const lastTop = Math.min(box.y + box.height, size.height) - height
  let y = Math.max(box.y - 2 - height, 3)
  for (let row = 0; row < mostRows && (row === 0 ? y < box.y + box.height - base : y <= lastTop); row += 1) {
    let nextRow = Infinity
    for (let x = left; x <= lastLeft; ) {
      const put = { x, y, width, height }
      const other = blocker(put)
      if (!other) return { ...put, name, font, base }
      x = other.x + other.width + 1
      nextRow = Math.min(nextRow, other.y + other.height + 1)
    }
    if (nextRow <= y || nextRow === Infinity) return undefined
    y = nextRow
  }
  return undefined
}

/** Returns the width of a name, in usual letters. */
const signsOf = (name: string): number =>
  [...name].reduce((sum, sign) => sum + (/[MWmw@%]/.test(sign) ? 1.5 : /[A-Z]/.test(sign) ? 1.15 : 1), 0)

function cellsOf({ x, y, width, height }: Box, wide: number, high: number): string[] {
  const cells: string[] = []
  for (let column = Math.floor(x / wide); column * wide <= x + width; column += 1)
    for (let row = Math.floor(y / high); row * high <= y + height; row += 1) cells.push(`${column} ${row}`)
  return cells
}

export const overlaps = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
