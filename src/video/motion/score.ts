/**
 * The second half of motion detection: from cells to a score. It needs no pixels, no clock and no chance, so cells that
 * were stored give the same scores again.
 */
import type { FrameCells } from './cells.ts'
import { FleetingChanges } from './fleeting-changes.ts'
import { cellCount, columns, framesBack, rows } from './grid.ts'
import { type MotionArea, openCells } from './mask.ts'
import { RestlessWindows } from './restless-windows.ts'

/** Change of a frame. */
export type FrameScore = Pick<FrameCells, 'whole' | 'view'> & {
  /**
   * 0 to 1, compared with the sensitivity: four of the last five frames reach it near one place. Where changes that do not last are
   * usual, three such frames in a row reach it.
   */
  readonly score: number
  /** Score of this frame alone. Both are 0 when the picture has changed as a whole. */
  readonly raw: number
}

/** A window is two by two cells; windows overlap. */
export const windowColumns = columns - 1
export const windowRows = rows - 1
export const windowCount = windowColumns * windowRows

/** A window of which less than a quarter is open counts as if a quarter were: a sliver is not more sensitive. */
const leastOpenShare = 0.25
/** Number of frames. All but one must have changed. */
const lastFrames = 5
/**
 * Where changes that do not last are usual, limits the growth of a lasting change against each of so many frames before. Insects
 * that cross each other's ways, or one that turns back, meet near one place for a frame or two.
 */
const framesBefore = 2
const mostGrowth = 1.25
/**
 * Insects change fewer cells than this together, 3 % of the picture. Somebody who changes more is close to the camera, and soon
 * gone.
 */
const insectCells = 4
const keptFrames = lastFrames + framesBefore
const everywhere: MotionArea = { masks: [], zones: [] }

/** Change of each window in one frame. The change near each window, and the lasting change, are computed on demand. */
type Changes = {
  readonly shares: Float64Array
  readonly near: Float64Array
  isNearKnown: boolean
  lasting: number | undefined
}

/** Scores the cells of one camera in order. */
export class Scorer {
  #open: WindowShares
  readonly #restless = new RestlessWindows(windowCount, windowColumns)
  readonly #fleeting = new FleetingChanges()
  /** Changes of the last seven frames; the oldest is written over. */
  readonly #last: readonly Changes[] = Array.from({ length: keptFrames }, () => ({
    shares: new Float64Array(windowCount),
    near: new Float64Array(windowCount),
    isNearKnown: true,
    lasting: 0,
  }))
  readonly #across = new Float64Array(windowCount)
  #newest = 0
  /** The first frames of a connection are compared with none, so they do not show what moves all the time. */
  #uncompared = framesBack

  constructor(area: MotionArea = everywhere) {
    this.#open = new WindowShares(openCells(area))
  }

  /** Counts motion in another area from now on. Motion that never stops stays learned. */
  setArea(area: MotionArea): void {
    this.#open = new WindowShares(openCells(area))
  }

  /**
   * Scores a frame. Most of the time goes into the score of frames with little change. A caller for whom all scores up to `least`
   * are the same gets 0 for them.
   */
  push({ changed, whole, view }: FrameCells, least = 0): FrameScore {
    this.#newest = (this.#newest + 1) % keptFrames
    const changes = this.#ago(0)
    let cells = 0
    if (whole) changes.shares.fill(0)
    else {
      cells = this.#open.fill(changes.shares, changed)
      if (this.#uncompared === 0) this.#restless.subtract(changes.shares)
    }
    this.#uncompared = Math.max(this.#uncompared - 1, 0)
    changes.isNearKnown = false
    changes.lasting = undefined
    const share = largest(changes.shares)
    const raw = scoreOf(share)
    const isMuch = share > defaultShare
    const lasting = isMuch || raw > least ? Math.min(this.#lasting(0), share) : 0
    const mayBeInsects = cells < insectCells && this.#fleeting.areUsual
    const score = raw > least ? scoreOf(mayBeInsects ? this.#grown(lasting) : lasting) : 0
    // Learning does not depend on `least`, so a replay learns the same.
    this.#fleeting.add(isMuch, lasting > defaultShare)
    return { score, raw, whole, view }
  }

  /** Returns the lasting change, as far as the frames before allow it. */
  #grown(lasting: number): number {
    let most = lasting
    for (let ago = 1; ago <= framesBefore; ago += 1) most = Math.min(most, mostGrowth * this.#lasting(ago))
    return most
  }

  #ago(frames: number): Changes {
    return this.#last[(this.#newest + keptFrames - frames) % keptFrames] as Changes
  }

  /** Forgets the last frames: the next ones come from another connection. */
  reset(): void {
    this.#uncompared = framesBack
    for (const changes of this.#last) {
      changes.near.fill(0)
      changes.isNearKnown = true
      changes.lasting = 0
    }
  }

  /** Forgets permanent motion and usual changes, as if the watch began now. */
  forget(): void {
    this.#uncompared = framesBack
    this.#restless.forget()
    this.#fleeting.forget()
  }

  /** Returns the largest share that all but one of the last frames reached near one window, so many frames ago. */
  #lasting(ago: number): number {
    const changes = this.#ago(ago)
    changes.lasting ??= this.#lastingOf(
      this.#nearOf(ago),
      this.#nearOf(ago + 1),
      this.#nearOf(ago + 2),
      this.#nearOf(ago + 3),
      this.#nearOf(ago + 4),
    )
    return changes.lasting
  }

  #lastingOf(a: Float64Array, b: Float64Array, c: Float64Array, d: Float64Array, e: Float64Array): number {
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

  #nearOf(ago: number): Float64Array {
    const changes = this.#ago(ago)
    if (!changes.isNearKnown) this.#fillNear(changes)
    return changes.near
  }

  /** For each window, takes the largest of it and its neighbors: a moving thing is soon in the next one. */
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
const defaultShare = 0.15

/**
 * Returns the score of a changed share, both 0 to 1. 15 % of a window scores 0.3. Below and above that, the score grows in
 * proportion; the whole window scores 1. So each sensitivity is a share of a window, and a higher one is a larger share.
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

  /** Writes them into `shares`, and returns how many cells have changed together. */
  fill(shares: Float64Array, changed: Uint8Array): number {
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
      return 0
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
    return sum / 100
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
