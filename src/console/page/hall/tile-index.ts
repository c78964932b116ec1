import type { Point } from '../data/shapes.ts'
import type { Box } from './geometry.ts'
import type { Hall, Size, View } from './view.ts'

/** Side of a tile: so small that painting one fits into a frame. */
export const tilePx = 192
/** Strokes and marks reach over the edge of a slot by at most this much. */
export const overlapPx = 6

/** Columns and rows of tiles, from the first to the last. */
type Span = { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number }

const reachPx = 2 * overlapPx
/** A box over more tiles, such as a slot drawn in millimeters among others in meters, is compared one by one. */
const mostTiles = 1000

/** Returns the tiles that show something of this box of the plan, where a unit has `scale` pixels. */
function spanOf({ x, y, width, height }: Box, scale: number): Span {
  const at = (units: number, byPx: number) => Math.floor((units * scale + byPx) / tilePx)
  const [left, right] = [at(x, -reachPx), at(x + width, reachPx)]
  return { left, right, top: at(y, -reachPx), bottom: at(y + height, reachPx) }
}

const isWide = ({ left, right, top, bottom }: Span): boolean => (right - left + 1) * (bottom - top + 1) > mostTiles

const holds = ({ left, right, top, bottom }: Span, column: number, row: number): boolean =>
  column >= left && column <= right && row >= top && row <= bottom

/** Names the tiles of a span. */
function* keysOf({ left, right, top, bottom }: Span): Iterable<string> {
  for (let column = left; column <= right; column += 1)
    for (let row = top; row <= bottom; row += 1) yield `${column} ${row}`
}

/** Names the tiles that show something of this box of the plan; undefined when they are very many. Pure. */
export function tilesOf(box: Box, scale: number): Iterable<string> | undefined {
  const span = spanOf(box, scale)
  return isWide(span) ? undefined : keysOf(span)
}

/** Returns the indexes of the boxes that reach into a tile, in their order. */
export type TileIndex = (column: number, row: number) => readonly number[]

/** Notes for each tile which boxes of the plan reach into it. Pure. */
export function tileIndexOf(boxes: readonly Box[], scale: number): TileIndex {
  const tiles = new Map<string, number[]>()
  const wide: { readonly at: number; readonly span: Span }[] = []
  for (const [at, box] of boxes.entries()) {
    const span = spanOf(box, scale)
    if (isWide(span)) {
      wide.push({ at, span })
      continue
    }
    for (const key of keysOf(span)) {
      const known = tiles.get(key)
      if (known) known.push(at)
      else tiles.set(key, [at])
    }
  }
  return (column, row) => {
    const near = tiles.get(`${column} ${row}`) ?? []
    const over = wide.filter(({ span }) => holds(span, column, row)).map(({ at }) => at)
    return over.length === 0 ? near : [...near, ...over].toSorted((a, b) => a - b)
  }
}

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
