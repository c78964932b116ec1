import type { Box } from './geometry.ts'

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
