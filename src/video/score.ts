/**
 * The second half of motion detection: from cells to a score. It needs no pixels, no clock and no chance, so cells that
 * were stored give the same scores again.
 */
import type { FrameCells, WholeChange } from './cells.ts'
import { columns, rows } from './grid.ts'
import { type MotionArea, openCells } from './mask.ts'
import { RestlessWindows } from './restless-windows.ts'

/** How much a frame has changed. */
export type FrameScore = {
  /** 0 to 1, compared with the sensitivity: what four of the last five frames reach near one place. */
  readonly score: number
  /** Of this frame alone. */
  readonly raw: number
  /** The picture has changed as a whole. The score is 0 then. */
  readonly whole: WholeChange | null
}

/** A window is two by two cells; windows overlap. */
export const windowColumns = columns - 1
export const windowRows = rows - 1
export const windowCount = windowColumns * windowRows

/** A window of which less than a quarter is open counts as if a quarter were: a sliver is not more sensitive. */
const leastOpenShare = 0.25
/** Of this many frames, all but one must have changed. */
const lastFrames = 5
const everywhere: MotionArea = { masks: [], zones: [] }

/** Scores the cells of one camera in order. */
export class Scorer {
  #open: Float64Array
  readonly #restless = new RestlessWindows(windowCount)
  /** What is active near each window, of the last five frames; the oldest is written over. */
  readonly #near = Array.from({ length: lastFrames }, () => new Float64Array(windowCount))
  readonly #shares = new Float64Array(windowCount)
  readonly #across = new Float64Array(windowCount)
  #frames = 0

  constructor(area: MotionArea = everywhere) {
    this.#open = openCells(area)
  }

  /** Counts motion in another area from now on. What moves all the time stays learned. */
  setArea(area: MotionArea): void {
    this.#open = openCells(area)
  }

  push({ changed, whole }: FrameCells): FrameScore {
    if (whole) this.#shares.fill(0)
    else {
      fillShares(this.#shares, changed, this.#open)
      this.#restless.subtract(this.#shares)
    }
    this.#fillNear(this.#near[this.#frames % lastFrames] ?? this.#shares)
    this.#frames += 1
    const raw = largest(this.#shares)
    return { score: scoreOf(Math.min(this.#lasting(), raw)), raw: scoreOf(raw), whole }
  }

  /** Forgets the last frames: the next ones come from another connection. */
  reset(): void {
    for (const near of this.#near) near.fill(0)
  }

  /** For each window, takes the largest of it and its neighbours: what moves is soon in the next one. */
  #fillNear(near: Float64Array): void {
    for (let i = 0; i < windowCount; i += 1) {
      const column = i % windowColumns
      const left = column > 0 ? (this.#shares[i - 1] ?? 0) : 0
      const right = column < windowColumns - 1 ? (this.#shares[i + 1] ?? 0) : 0
      this.#across[i] = Math.max(this.#shares[i] ?? 0, left, right)
    }
    for (let i = 0; i < windowCount; i += 1) {
      near[i] = Math.max(
        this.#across[i] ?? 0,
        this.#across[i - windowColumns] ?? 0,
        this.#across[i + windowColumns] ?? 0,
      )
    }
  }

  /** Returns the largest share that all but one of the last frames reach near one window. */
  #lasting(): number {
    let most = 0
    for (let i = 0; i < windowCount; i += 1) {
      let least = 1
      let next = 1
      for (const near of this.#near) {
        const share = near[i] ?? 0
        if (share < least) {
          next = least
          least = share
        } else if (share < next) next = share
      }
      if (next > most) most = next
    }
    return most
  }
}

/** The share of a window from which motion is found at the default sensitivity, 0.3. */
const defaultShare = 0.2

/**
 * Returns the score of a changed share, both 0 to 1: 0.3 for a fifth of a window, in proportion below, and in proportion
 * from there to 1. So each sensitivity is a share of a window, and a higher one is a larger share.
 */
export function scoreOf(share: number): number {
  return share <= defaultShare
    ? (share / defaultShare) * 0.3
    : 0.3 + ((share - defaultShare) / (1 - defaultShare)) * 0.7
}

/** Writes the changed share of each window of two by two cells. */
export function fillShares(shares: Float64Array, changed: Uint8Array, open: Float64Array): void {
  for (let i = 0; i < windowCount; i += 1) {
    const upper = Math.floor(i / windowColumns) * columns + (i % windowColumns)
    const lower = upper + columns
    const room = (open[upper] ?? 0) + (open[upper + 1] ?? 0) + (open[lower] ?? 0) + (open[lower + 1] ?? 0)
    const sum =
      (changed[upper] ?? 0) * (open[upper] ?? 0) +
      (changed[upper + 1] ?? 0) * (open[upper + 1] ?? 0) +
      (changed[lower] ?? 0) * (open[lower] ?? 0) +
      (changed[lower + 1] ?? 0) * (open[lower + 1] ?? 0)
    shares[i] = sum / 100 / Math.max(room, 4 * leastOpenShare)
  }
}

function largest(shares: Float64Array): number {
  let most = 0
  for (const share of shares) if (share > most) most = share
  return most
}
