import type { Point } from '../data/shapes.ts'
import { tilePx } from './tile-index.ts'
import type { Hall, Size, View } from './view.ts'

/** Column and row of a tile. */
export type Cell = readonly [number, number]

/** Lists the tiles of this side that are in view. */
export function tilesIn(view: View, size: Size, side: number): Cell[] {
  const found: Cell[] = []
  const lastColumn = Math.floor((size.width - view.x) / side)
  const lastRow = Math.floor((size.height - view.y) / side)
  for (let row = Math.floor(-view.y / side); row <= lastRow; row += 1)
    for (let column = Math.floor(-view.x / side); column <= lastColumn; column += 1) found.push([column, row])
  return found
}

/** Says whether a tile at this scale reaches into the hall. */
export const isInHall = ({ box }: Hall, scale: number, column: number, row: number): boolean =>
  (column + 1) * tilePx >= box.x * scale &&
  column * tilePx <= (box.x + box.width) * scale &&
  (row + 1) * tilePx >= box.y * scale &&
  row * tilePx <= (box.y + box.height) * scale

/** Returns the tile that comes into view first when the plan is moved on this way; of those beside it, the nearest. */
export function nextAlong(cells: readonly Cell[], view: View, size: Size, way: Point): Cell | undefined {
  const length = Math.hypot(way.x, way.y) || 1
  const cost = ([column, row]: Cell) => {
    const x = (column + 0.5) * tilePx + view.x - size.width / 2
    const y = (row + 0.5) * tilePx + view.y - size.height / 2
    return Math.hypot(x, y) + (x * way.x + y * way.y) / length
  }
  return cells.reduce<Cell | undefined>((best, cell) => (best && cost(best) <= cost(cell) ? best : cell), undefined)
}
