/** A point of a picture or plan. */
type Point = { readonly x: number; readonly y: number }
/** From `begin` to `end` along a line. */
export type LineSpan = readonly [begin: number, end: number]

/** Lines on which the area is measured. */
const lines = 900

/**
 * Returns the spans of the horizontal line at `y` that a polygon goes around, once or more often, in either direction. A part that
 * was circled twice, or the middle of a star, is inside. By the even-odd rule it would be outside.
 */
export function spansAround(polygon: readonly Point[], y: number): LineSpan[] {
  const crossings = polygon
    .map((from, i) => ({ from, to: polygon[(i + 1) % polygon.length] ?? from }))
    .filter(({ from, to }) => from.y <= y !== to.y <= y)
    .map(({ from, to }) => ({
      x: from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x),
      turn: from.y <= y ? 1 : -1,
    }))
    .sort((a, b) => a.x - b.x)
  const spans: LineSpan[] = []
  let turns = 0
  let begin = 0
  for (const { x, turn } of crossings) {
    if (turns === 0) begin = x
    turns += turn
    if (turns === 0) spans.push([begin, x])
  }
  return spans
}

/** Returns the share of a square from 0 to 1 that a polygon goes around. */
export function shareAround(polygon: readonly Point[]): number {
  let share = 0
  for (let line = 0; line < lines; line += 1) {
    for (const [begin, end] of spansAround(polygon, (line + 0.5) / lines)) {
      share += Math.max(Math.min(end, 1) - Math.max(begin, 0), 0) / lines
    }
  }
  return share
}
