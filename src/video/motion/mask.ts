import { type LineSpan, spansAround } from '../../platform/index.ts'
import { cellCount, columns, rows } from './grid.ts'

/** A point of the picture, each coordinate from 0 to 1 of width and height, from the upper left. */
export type PicturePoint = { readonly x: number; readonly y: number }
export type Polygon = readonly PicturePoint[]

/** Where motion counts. */
export type MotionArea = {
  /** Motion inside does not count. */
  readonly masks: readonly Polygon[]
  /** Only motion inside counts; without zones it counts everywhere. */
  readonly zones: readonly Polygon[]
}

/** Sampled points of a cell, in each direction. */
const points = 10

/**
 * Returns the share of each cell in which motion counts, 0 to 1. A point that a polygon goes around is inside, however often. A
 * mask wins over a zone. Where a border cuts a cell, the changes of that cell count in part.
 */
export function openCells({ masks, zones }: MotionArea): Float64Array {
  const open = new Float64Array(cellCount)
  for (let line = 0; line < rows * points; line += 1) {
    const y = (line + 0.5) / points / rows
    const [masked, counted] = [masks, zones].map((polygons) => polygons.flatMap((polygon) => spansAround(polygon, y)))
    const first = Math.floor(line / points) * columns
    for (let i = 0; i < columns * points; i += 1) {
      const x = (i + 0.5) / points / columns
      if (isIn(x, masked) || (zones.length > 0 && !isIn(x, counted))) continue
      const cell = first + Math.floor(i / points)
      open[cell] = (open[cell] ?? 0) + 1
    }
  }
  return open.map((count) => count / points ** 2)
}

function isIn(x: number, spans: readonly LineSpan[] = []): boolean {
  return spans.some(([begin, end]) => x >= begin && x < end)
}
