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

/** Points of a cell that are looked at, in each direction. */
const points = 10

/**
 * Returns the share of each cell in which motion counts, 0 to 1, by the even-odd rule. A mask wins over a zone. Where a
 * border cuts a cell, the changes of that cell count in part.
 */
export function openCells({ masks, zones }: MotionArea): Float64Array {
  return Float64Array.from({ length: cellCount }, (_, cell) => {
    let open = 0
    for (let i = 0; i < points * points; i += 1) {
      const x = ((cell % columns) + ((i % points) + 0.5) / points) / columns
      const y = (Math.floor(cell / columns) + (Math.floor(i / points) + 0.5) / points) / rows
      if (isOpen({ x, y }, { masks, zones })) open += 1
    }
    return open / points ** 2
  })
}

function isOpen(point: PicturePoint, { masks, zones }: MotionArea): boolean {
  if (masks.some((mask) => isInside(point, mask))) return false
  return zones.length === 0 || zones.some((zone) => isInside(point, zone))
}

function isInside({ x, y }: PicturePoint, polygon: Polygon): boolean {
  let inside = false
  polygon.forEach((a, i) => {
    const b = polygon[(i + 1) % polygon.length] ?? a
    if (a.y > y !== b.y > y && x < a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x)) inside = !inside
  })
  return inside
}
