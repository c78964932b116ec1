import type { Picture } from './grid.ts'

/** By how many pixels the picture has moved against the reference. */
export type Shift = { readonly x: number; readonly y: number }

const most = 4
/** Differences above this count as this: somebody who walks through must not decide. */
const mostDifference = 40
export const unmoved: Shift = { x: 0, y: 0 }

/** Returns the shift of the whole picture that makes reference and frame alike; none unless it does so clearly. */
export function cameraShift(reference: Uint8Array, frame: Uint8Array, picture: Picture): Shift {
  const still = unlike(reference, frame, picture, unmoved)
  let best = unmoved
  let least = still
  // From the best of the neighbours to the next best, until none is better.
  for (let step = 0; step < 2 * most; step += 1) {
    const from = best
    for (const [x, y] of directions) {
      const shift = { x: from.x + x, y: from.y + y }
      if (Math.abs(shift.x) > most || Math.abs(shift.y) > most) continue
      const difference = unlike(reference, frame, picture, shift)
      if (difference < least) [best, least] = [shift, difference]
    }
    if (best === from) break
  }
  return least < 0.85 * still ? best : unmoved
}

const directions = [-1, 0, 1]
  .flatMap((x) => [-1, 0, 1].map((y) => [x, y] as const))
  .filter(([x, y]) => x !== 0 || y !== 0)

function unlike(reference: Uint8Array, frame: Uint8Array, { width, height }: Picture, { x, y }: Shift): number {
  let sum = 0
  const offset = 4 * (y * width + x)
  for (let row = most + 1; row < height - most; row += 4) {
    for (let column = most + ((row >> 2) & 3); column < width - most; column += 4) {
      const at = 4 * (row * width + column) + 1
      sum += Math.min(Math.abs((frame[at] ?? 0) - (reference[at + offset] ?? 0)), mostDifference)
    }
  }
  return sum
}
