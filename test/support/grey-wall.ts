import { frameSize } from '../../src/video/index.ts'
import { Comparer } from '../../src/video/motion/cells.ts'
import { columns, rows } from '../../src/video/motion/grid.ts'

const cellWide = frameSize.width / columns
const cellHigh = frameSize.height / rows
export const wall = 100

/** By how much each pixel of a cell becomes brighter. Coordinates are those of the picture. */
export type Change = (x: number, y: number) => number
export type Changes = Readonly<Record<string, Change>>

/** A picture of a grey wall, brighter at each pixel by so much. */
export function wallWith(more: Change): Uint8Array {
  const frame = new Uint8Array(frameSize.bytes).fill(255)
  for (let i = 0; i < frameSize.width * frameSize.height; i += 1) {
    const tone = wall + more(i % frameSize.width, Math.floor(i / frameSize.width))
    frame.fill(tone, 4 * i, 4 * i + 3)
  }
  return frame
}

/** Compares a picture with one that was there for four seconds, without noise: how many cells have changed by a fifth, and all of it. */
export function seenAfter(before: Uint8Array, frame: Uint8Array) {
  const comparer = new Comparer(frameSize)
  // Until then the noise of the camera is not known. Later, brightness may differ by 3.17 and noise has a variance of 2.5.
  for (let i = 0; i < 20; i += 1) comparer.push(before)
  const { changed, whole } = comparer.push(frame)
  return { left: changed.filter((share) => share > 20).length, changed, whole }
}

/** Says the same of a grey wall of which these cells change, a letter for each; the drawing begins in the second row and column. */
export function seenOfWall(drawing: readonly string[], changes: Changes) {
  const letterAt = (x: number, y: number) =>
    drawing[Math.floor(y / cellHigh) - 1]?.[Math.floor(x / cellWide) - 1] ?? ' '
  return seenAfter(
    wallWith(() => 0),
    wallWith((x, y) => changes[letterAt(x, y)]?.(x, y) ?? 0),
  )
}

/** Chooses so many of a hundred pixels, evenly spread. */
export const isOneOf = (x: number, y: number, ofHundred: number) => (x * 37 + y * 61) % 100 < ofHundred

/** Steps of two pixels, so high. */
export const stripes =
  (low: number, high: number): Change =>
  (x) =>
    x % 4 < 2 ? low : high
