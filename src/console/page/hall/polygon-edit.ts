import type { Point } from '../data/shapes.ts'

/** Where points may be. */
export type Bounds = { readonly width: number; readonly height: number }

const within = ({ x, y }: Point, { width, height }: Bounds): Point => ({
  x: Math.min(Math.max(x, 0), width),
  y: Math.min(Math.max(y, 0), height),
})

/** Returns the polygon with one corner elsewhere, within the bounds. Pure. */
export const withCornerAt = (polygon: readonly Point[], corner: number, to: Point, bounds: Bounds): Point[] =>
  polygon.map((point, i) => (i === corner ? within(to, bounds) : point))

/** Returns the whole polygon moved by so much; at the bounds it stops with its shape kept. Pure. */
export function moved(polygon: readonly Point[], by: Point, { width, height }: Bounds): Point[] {
  const far = (values: readonly number[], step: number, most: number) =>
    Math.min(Math.max(step, -Math.min(...values)), most - Math.max(...values))
  const x = far(
    polygon.map((point) => point.x),
    by.x,
    width,
  )
  const y = far(
    polygon.map((point) => point.y),
    by.y,
    height,
  )
  return polygon.map((point) => ({ x: point.x + x, y: point.y + y }))
}

/** Returns the polygon with one more corner, in the middle between this corner and the next. Pure. */
export function withCornerAfter(polygon: readonly Point[], corner: number): Point[] {
  const [a, b] = [polygon[corner], polygon[(corner + 1) % polygon.length]]
  if (!a || !b) return [...polygon]
  return polygon.toSpliced(corner + 1, 0, { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })
}

/** Returns the polygon without a corner; one of three corners keeps them. Pure. */
export const withoutCorner = (polygon: readonly Point[], corner: number): Point[] =>
  polygon.length <= 3 ? [...polygon] : polygon.toSpliced(corner, 1)

/** Returns the rectangle between two points, from the upper left. Pure. */
export function rectangle(a: Point, b: Point, bounds: Bounds): Point[] {
  const [one, other] = [within(a, bounds), within(b, bounds)]
  const [left, right] = [Math.min(one.x, other.x), Math.max(one.x, other.x)]
  const [top, bottom] = [Math.min(one.y, other.y), Math.max(one.y, other.y)]
  return [
    { x: left, y: top },
    { x: right, y: top },
    { x: right, y: bottom },
    { x: left, y: bottom },
  ]
}

/** Returns a number with so many digits after the point at most, as it is written into fields and configs. Pure. */
export const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))
