/**
 * The second half of motion detection: from cells to a score. It needs no pixels, no clock and no chance, so cells that
 * were stored give the same scores again.
 */
import type { FrameCells, WholeChange } from './cells.ts'
import { cellCount, columns, rows } from './grid.ts'
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

/** What has changed in each window in one frame, and near each window once that was asked for. */
type Changes = { readonly shares: Float64Array; readonly near: Float64Array; isNearKnown: boolean }

type Near = Float64Array

/** Scores the cells of one camera in order. */
export class Scorer {
  #open: WindowShares
  readonly #restless = new RestlessWindows(windowCount)
  /** Of the last five frames; the oldest is written over. */
  readonly #last: readonly Changes[] = Array.from({ length: lastFrames }, () => ({
    shares: new Float64Array(windowCount),
    near: new Float64Array(windowCount),
    isNearKnown: true,
  }))
  readonly #nears = this.#last.map(({ near }) => near) as [Near, Near, Near, Near, Near]
  readonly #across = new Float64Array(windowCount)
  #frames = 0

  constructor(area: MotionArea = everywhere) {
    this.#open = new WindowShares(openCells(area))
  }

  /** Counts motion in another area from now on. What moves all the time stays learned. */
  setArea(area: MotionArea): void {
    this.#open = new WindowShares(openCells(area))
  }

  /**
   * Scores a frame. Most of the time goes into the score of frames in which little has changed: a caller to whom all scores
   * up to `least` are the same gets 0 for them.
   */
  push({ changed, whole }: FrameCells, least = 0): FrameScore {
    const changes = this.#last[this.#frames % lastFrames] as Changes
    this.#frames += 1
    if (whole) changes.shares.fill(0)
    else {
      this.#open.fill(changes.shares, changed)
      this.#restless.subtract(changes.shares)
    }
    changes.isNearKnown = false
    const share = largest(changes.shares)
    const raw = scoreOf(share)
    return { score: raw > least ? scoreOf(Math.min(this.#lasting(), share)) : 0, raw, whole }
  }

  /** Forgets the last frames: the next ones come from another connection. */
  reset(): void {
    for (const changes of this.#last) {
      changes.near.fill(0)
      changes.isNearKnown = true
    }
  }

  /** Forgets what moves all the time, as if the watch began now. */
  forget(): void {
    this.#restless.forget()
  }

  /** Returns the largest share that all but one of the last frames reach near one window. */
  #lasting(): number {
    for (const changes of this.#last) if (!changes.isNearKnown) this.#fillNear(changes)
    const [a, b, c, d, e] = this.#nears
    let most = 0
    for (let i = 0; i < windowCount; i += 1) {
      const first = a[i] ?? 0
      const second = b[i] ?? 0
      // With two that are not larger, the window is not either.
      if (first <= most && second <= most) continue
      const third = c[i] ?? 0
      const fourth = d[i] ?? 0
      const fifth = e[i] ?? 0
      const next = secondOfFive(first, second, third, fourth, fifth)
      if (next > most) most = next
    }
    return most
  }

  /** For each window, takes the largest of it and its neighbours: what moves is soon in the next one. */
  #fillNear(changes: Changes): void {
    const { shares, near } = changes
    const across = this.#across
    for (let i = 0; i < windowCount; i += 1) {
      const column = i % windowColumns
      const left = column > 0 ? (shares[i - 1] ?? 0) : 0
      const right = column < windowColumns - 1 ? (shares[i + 1] ?? 0) : 0
      across[i] = Math.max(shares[i] ?? 0, left, right)
    }
    for (let i = 0; i < windowCount; i += 1) {
      near[i] = Math.max(across[i] ?? 0, across[i - windowColumns] ?? 0, across[i + windowColumns] ?? 0)
    }
    changes.isNearKnown = true
  }
}

/** Returns the second smallest of five numbers. */
function secondOfFive(a: number, b: number, c: number, d: number, e: number): number {
  let least = a < b ? a : b
  let next = a < b ? b : a
  if (c < least) {
    next = least
    least = c
  } else if (c < next) next = c
  if (d < least) {
    next = least
    least = d
  } else if (d < next) next = d
  if (e < least) return least
  return e < next ? e : next
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

/** Computes the changed share of each window of two by two cells. */
export class WindowShares {
  readonly #open: Float64Array
  readonly #rooms: Float64Array
  readonly #changed = new Float64Array(cellCount)

  /** @param open the share of each cell in which motion counts */
  constructor(open: Float64Array) {
    this.#open = open
    this.#rooms = Float64Array.from({ length: windowCount }, (_, i) => {
      const upper = upperLeft(i)
      const lower = upper + columns
      const room = (open[upper] ?? 0) + (open[upper + 1] ?? 0) + (open[lower] ?? 0) + (open[lower + 1] ?? 0)
      return Math.max(room, 4 * leastOpenShare)
    })
  }

  /** Writes them into `shares`. */
  fill(shares: Float64Array, changed: Uint8Array): void {
    const counted = this.#changed
    const [open, rooms] = [this.#open, this.#rooms]
    let sum = 0
    for (let i = 0; i < cellCount; i += 1) {
      const share = (changed[i] ?? 0) * (open[i] ?? 0)
      counted[i] = share
      sum += share
    }
    if (sum === 0) {
      shares.fill(0)
      return
    }
    for (let row = 0; row < windowRows; row += 1) {
      for (let column = 0; column < windowColumns; column += 1) {
        const upper = row * columns + column
        const lower = upper + columns
        const inside =
          (counted[upper] ?? 0) + (counted[upper + 1] ?? 0) + (counted[lower] ?? 0) + (counted[lower + 1] ?? 0)
        const i = row * windowColumns + column
        shares[i] = inside / 100 / (rooms[i] ?? 1)
      }
    }
  }
}

const upperLeft = (window: number): number => Math.floor(window / windowColumns) * columns + (window % windowColumns)

function largest(shares: Float64Array): number {
  let most = 0
  for (let i = 0; i < shares.length; i += 1) {
    const share = shares[i] ?? 0
    if (share > most) most = share
  }
  return most
}
