import type { Box } from './plan-geometry.ts'
import { onScreen, type Size, type View } from './plan-view.ts'

type Named = { readonly name: string; readonly box: Box }

export const nameHeightPx = 20
/** Cells of the grid in which names look for their neighbours. A name has at least one column and at most two rows. */
const cellPx = { width: 64, height: 40 } as const

type PlacedName = Box & { readonly name: string }

/** Says where the names of zones are painted; one that would lie over another is left out. Pure. */
export function namesIn(grounds: readonly Named[], view: View, size: Size): PlacedName[] {
  const placed: PlacedName[] = []
  const taken = new Map<string, PlacedName[]>()
  for (const { name, box: of } of grounds) {
    const box = onScreen(of, view)
    const left = Math.max(box.x, 6)
    const base = Math.max(box.y - 7, 18)
    const wide = name.length * 8.6
    const isOff = box.x >= size.width || box.y >= size.height || box.x + box.width <= 0
    if (isOff || Math.min(box.x + box.width, size.width) - left < wide + 5 || base >= box.y + box.height) continue
    const put = { name, x: left - 5, y: base - 15, width: wide + 10, height: nameHeightPx }
    const cells = cellsOf(put)
    if (cells.some((cell) => taken.get(cell)?.some((other) => overlaps(put, other)))) continue
    placed.push(put)
    for (const cell of cells) taken.set(cell, [...(taken.get(cell) ?? []), put])
  }
  return placed
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
