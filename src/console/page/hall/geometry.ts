import type { Point } from '../data/shapes.ts'

export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

/** Returns the smallest upright box around the points; without points an empty one at the origin. */
export function boxAround(points: readonly Point[]): Box {
  if (points.length === 0) return { x: 0, y: 0, width: 0, height: 0 }
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { x, y } of points) {
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  return { x: left, y: top, width: right - left, height: bottom - top }
}

export const middleOf = (box: Box): Point => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 })

/** Returns the convex hull in order (Andrew's monotone chain). */
export function hullOf(points: readonly Point[]): Point[] {
  const sorted = points.toSorted((a, b) => a.x - b.x || a.y - b.y)
  if (sorted.length < 3) return sorted
  return [...chain(sorted), ...chain(sorted.toReversed())]
}

function chain(sorted: readonly Point[]): Point[] {
  const kept: Point[] = []
  for (const point of sorted) {
    while (kept.length >= 2 && turn(kept.at(-2) as Point, kept.at(-1) as Point, point) <= 0) kept.pop()
    kept.push(point)
  }
  return kept.slice(0, -1)
}

const turn = (a: Point, b: Point, c: Point) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)

/** Returns the median; 1 without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 1
}

export type Direction = 'left' | 'right' | 'up' | 'down'

const along: Record<Direction, (from: Point, to: Point) => { ahead: number; aside: number }> = {
  left: (from, to) => ({ ahead: from.x - to.x, aside: Math.abs(to.y - from.y) }),
  right: (from, to) => ({ ahead: to.x - from.x, aside: Math.abs(to.y - from.y) }),
  up: (from, to) => ({ ahead: from.y - to.y, aside: Math.abs(to.x - from.x) }),
  down: (from, to) => ({ ahead: to.y - from.y, aside: Math.abs(to.x - from.x) }),
}

/** Returns the place that an arrow key leads to: near, and more ahead than aside. */
export function neighbour<T extends { readonly middle: Point }>(
  from: T,
  places: readonly T[],
  direction: Direction,
): T | undefined {
  let best: { place: T; cost: number } | undefined
  for (const place of places) {
    const { ahead, aside } = along[direction](from.middle, place.middle)
    if (place === from || ahead <= 0 || aside > ahead * 4) continue
    const cost = ahead + aside * 3
    if (!best || cost < best.cost) best = { place, cost }
  }
  return best?.place
}

/** Says whether black is easier to read on this color (`#rrggbb`) than white, by WCAG's contrast. */
export function isLight(color: string): boolean {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => linear(Number.parseInt(color.slice(at, at + 2), 16) / 255))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179
}

const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
