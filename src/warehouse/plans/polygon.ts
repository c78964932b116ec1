export type Point = { readonly x: number; readonly y: number }

/**
 * Returns why these points enclose no area; undefined when they do. Points and edges are counted from 0, as in the path of a
 * refused field; edge 0 goes from point 0 to point 1. Pure.
 */
export function polygonFault(points: readonly Point[]): string | undefined {
  const plain = scaled(points)
  return (
    repeatedPoint(plain) ??
    (isFlat(plain) ? 'has no area: all points stand on one line' : undefined) ??
    meetingEdges(plain)
  )
}

/** Returns the points without a last one that repeats the first, as drawing programs and GeoJSON write it. */
export function withoutClosing<P extends Point>(points: P[]): P[] {
  const [first, last] = [points[0], points.at(-1)]
  const closes = points.length > 1 && first?.x === last?.x && first?.y === last?.y
  return closes ? points.slice(0, -1) : points
}

/** Around the origin and at most 1: the sums and products below stay finite, whatever unit the plan has. */
function scaled(points: readonly Point[]): Point[] {
  const most = points.reduce((max, { x, y }) => Math.max(max, Math.abs(x), Math.abs(y)), 0)
  const by = most > 1e100 || (most > 0 && most < 1e-100) ? most : 1
  return points.map(({ x, y }) => ({ x: x / by, y: y / by }))
}

function repeatedPoint(points: readonly Point[]): string | undefined {
  const seen = new Map<string, number>()
  for (const [i, { x, y }] of points.entries()) {
    const first = seen.get(`${x} ${y}`)
    if (first !== undefined) return `point ${i} repeats point ${first}`
    seen.set(`${x} ${y}`, i)
  }
  return undefined
}

function isFlat([a, b, ...others]: readonly Point[]): boolean {
  return a !== undefined && b !== undefined && others.every((p) => side(a, b, p) === 0)
}

/** 256 points have some 33,000 pairs of edges: under a millisecond. */
function meetingEdges(points: readonly Point[]): string | undefined {
  const edges = points.map((from, i) => ({ from, to: points[(i + 1) % points.length] ?? from }))
  for (const [i, one] of edges.entries()) {
    for (let j = i + 1; j < edges.length; j += 1) {
      const other = edges[j]
      if (!other) continue
      const follows = j === i + 1
      const closes = i === 0 && j === edges.length - 1
      if (
        follows
          ? turnsBack(one.from, one.to, other.to)
          : closes
            ? turnsBack(other.from, other.to, one.to)
            : meet(one, other)
      )
        return `crosses itself: edge ${i} and edge ${j} ${follows || closes ? 'lie on each other' : 'meet'}`
    }
  }
  return undefined
}

type Edge = { readonly from: Point; readonly to: Point }

function meet(a: Edge, b: Edge): boolean {
  const [b1, b2] = [side(a.from, a.to, b.from), side(a.from, a.to, b.to)]
  const [a1, a2] = [side(b.from, b.to, a.from), side(b.from, b.to, a.to)]
  if (b1 !== b2 && a1 !== a2) return true
  const touches = (edge: Edge, p: Point, where: number) => where === 0 && isWithin(edge, p)
  return touches(a, b.from, b1) || touches(a, b.to, b2) || touches(b, a.from, a1) || touches(b, a.to, a2)
}

/** Returns whether the way from `a` to `b` goes back over itself to `c`. */
function turnsBack(a: Point, b: Point, c: Point): boolean {
  return side(a, b, c) === 0 && (a.x - b.x) * (c.x - b.x) + (a.y - b.y) * (c.y - b.y) > 0
}

/** 1 left of the line from `a` to `b`, -1 right of it, 0 on it. */
function side(a: Point, b: Point, p: Point): number {
  return Math.sign((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x))
}

/** For a point that is on the edge's line. */
function isWithin({ from, to }: Edge, p: Point): boolean {
  return (
    p.x >= Math.min(from.x, to.x) &&
    p.x <= Math.max(from.x, to.x) &&
    p.y >= Math.min(from.y, to.y) &&
    p.y <= Math.max(from.y, to.y)
  )
}
