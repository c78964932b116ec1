/** How far the picture of a wall screen moves, in CSS pixels, in each direction. The frame in `wall.css` is as wide. */
const farthestPx = 12
/** It takes a step this often; a step is two pixels at most, so it is not seen. */
export const shiftEveryMs = 60_000
/** After this many steps the parts of the picture change places: a large figure is wider than the picture moves. */
const turnEvery = 60

type Shift = { readonly x: number; readonly y: number; readonly isTurned: boolean }

/**
 * Returns where the picture is at a step, so that no edge is on the same dots for years. The periods have no common divisor:
 * the path visits hundreds of places before it repeats. Pure.
 */
export const shiftAt = (step: number): Shift => ({
  x: swing(step, 37),
  y: swing(step, 29),
  isTurned: Math.floor(step / turnEvery) % 2 !== 0,
})

/** Goes from one end to the other and back, one step at a time. */
function swing(step: number, period: number): number {
  const part = (((step % period) + period) % period) / period
  return Math.round(farthestPx * (part < 0.5 ? 4 * part - 1 : 3 - 4 * part))
}

/** Returns those whose turn it is when only `atOnce` have room; all of them come around, about as many at each turn. Pure. */
export function turnOf<T>(all: readonly T[], atOnce: number, turn: number): readonly T[] {
  const turns = Math.max(1, Math.ceil(all.length / atOnce))
  const each = Math.ceil(all.length / turns)
  const first = (turn % turns) * each
  return all.slice(first, first + each)
}
