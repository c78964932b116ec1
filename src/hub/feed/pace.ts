import { longestPauseMs } from '../../feed/index.ts'

/** The mean is over so many measurements, the newest count most. */
const meanOver = 64
/** How much less a feed is thought to take with each for which no one had to wait: whether it is so shows when feeds queue. */
const easing = 1 / 4096
/** A shorter pause would change nothing: a gateway feeds once a second. */
const leastPauseMs = 1000

/**
 * Where feeds queue, says when each gateway is to come with its next leaves: one after the other, as fast as they can be taken in. So
 * leaves wait at their gateway, where they gather in one feed, which costs less a leaf, and not a second time in the queue. Pure.
 */
export class Pace {
  /** Between the ends of two feeds while others wait. */
  #feedMs = 0
  #measurements = 0
  /** When the last feed ended, if another one waited then. */
  #endedMs: number | undefined
  /** When the last gateway that was asked to wait is to come. */
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
    // What queues now is to be gone when the last one comes.
    const catchUp = Math.min(1, queuedMs / (2 * Math.max(rowMs, leastPauseMs)))
    const pauseMs = Math.min(rowMs + this.#feedMs * (1 + catchUp), longestPauseMs)
    this.#lastMs = nowMs + pauseMs
    return pauseMs < leastPauseMs ? undefined : Math.round(pauseMs)
  }
}
