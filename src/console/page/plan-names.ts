import type { Box } from './plan-geometry.ts'
import { onScreen, type Size, type View } from './plan-view.ts'

type Named = { readonly name: string; readonly box: Box }

export const nameHeightPx = 20
/** Cells of the grid in which names look for their neighbours. A name has at least one column and at most two rows. */
const cellPx = { width: 64, height: 40 } as const

type PlacedName = Box & { readonly name: string }
/** By cell, the names that reach into it. */
type Taken = Map<string, readonly PlacedName[]>

/**
 * Says where the names of zones are painted. One that would lie over another is beside it, as far as its zone reaches, or is
 * left out. Pure.
 */
export function namesIn(grounds: readonly Named[], view: View, size: Size): PlacedName[] {
  const placed: PlacedName[] = []
  const taken: Taken = new Map()
  for (const { name, box: of } of grounds) {
    const box = onScreen(of, view)
    const left = Math.max(box.x, 6)
    const base = Math.max(box.y - 7, 18)
    const wide = name.length * 8.6
    const isOff = box.x >= size.width || box.y >= size.height || box.x + box.width <= 0
    if (isOff || Math.min(box.x + box.width, size.width) - left < wide + 5 || base >= box.y + box.height) continue
    const room = Math.min(box.x + box.width, size.width) - wide - 5
    const put = placeFor({ name, x: left - 5, y: base - 15, width: wide + 10, height: nameHeightPx }, room, taken)
    if (!put) continue
    placed.push(put)
    for (const cell of cellsOf(put)) taken.set(cell, [...(taken.get(cell) ?? []), put])
  }
  return placed
}

/** Returns the place of a name, moved to the right of those that are there; undefined when it would begin behind `lastLeft`. */
function placeFor(put: PlacedName, lastLeft: number, taken: Taken): PlacedName | undefined {
  const over = cellsOf(put)
    .flatMap((cell) => taken.get(cell) ?? [])
    .find((other) => overlaps(put, other))
  if (!over) return put
  const x = over.x + over.width
  return x > lastLeft ? undefined : placeFor({ ...put, x }, lastLeft, taken)
}

function cellsOf({ x, y, width, height }: Box): string[] {
  const cells: string[] = []
  for (let column = Math.floor(x / cellPx.width); column * cellPx.width <= x + width; column += 1)
    for (let row = Math.floor(y / cellPx.height); row * cellPx.height <= y + height; row += 1)
      cells.push(`${column} ${row}`)
  return cells
}

const overlaps = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
