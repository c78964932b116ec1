import { longestPauseMs } from '../../feed/index.ts'

/** The mean is over so many measurements, the newest count most. */
const meanOver = 64
/** Each feed that no other waited behind lowers the estimated time of a feed by this share. Queued feeds correct it. */
const easing = 1 / 4096
/** A shorter pause would change nothing: a gateway feeds once a second. */
const leastPauseMs = 1000

/**
 * Tells each gateway when to come with its next leaves where feeds queue: one after the other, as fast as they can be stored. So
 * leaves wait at their gateway, not a second time in the queue. There they gather in one feed, which costs less a leaf. Pure.
 */
export class Pace {
  /** Between the ends of two feeds while others wait. */
  #feedMs = 0
  #measurements = 0
  /** End of the last feed, if another one waited then. */
  #endedMs: number | undefined
  /** Time for the last gateway that was asked to wait. */
  #lastMs = Number.NEGATIVE_INFINITY

  /** A feed was stored. `isQueue`: others still wait. Call it in the order in which they end. */
  ended(nowMs: number, isQueue: boolean): void {
    if (this.#endedMs === undefined) this.#feedMs *= 1 - easing
    else {
      this.#measurements = Math.min(this.#measurements + 1, meanOver)
      this.#feedMs += (nowMs - this.#endedMs - this.#feedMs) / this.#measurements
    }
    this.#endedMs = isQueue ? nowMs : undefined
  }

  /** A feed failed, which says nothing of how long one takes. */
  failed(): void {
    this.#endedMs = undefined
  }

  /** Returns how long the gateway whose feed has queued so long is asked to gather leaves, in whole milliseconds; undefined: not at all. */
  next(nowMs: number, queuedMs: number): number | undefined {
    const rowMs = Math.max(0, this.#lastMs - nowMs)
    // The feeds that queue now are to be stored when the last gateway comes.
    const catchUp = Math.min(1, queuedMs / (2 * Math.max(rowMs, leastPauseMs)))
    const pauseMs = Math.min(rowMs + this.#feedMs * (1 + catchUp), longestPauseMs)
    this.#lastMs = nowMs + pauseMs
    return pauseMs < leastPauseMs ? undefined : Math.round(pauseMs)
  }
}
