const leastMs = 3000
/** Pictures a second. Below the first a stream is slow; from the second on it is well again. */
const slowBelow = 3
const wellFrom = 4

/**
 * Sees that a stream has too few pictures for motion to be found. Takes the rate in the time of the stream: a busy box
 * that reads late is no fault of the camera.
 */
export class PicturePace {
  #slow = false

  /** Says whether there are fewer than 3 pictures a second, and then until there are 4. `overMs`: what the rate is of. */
  isSlow(perSecond: number | undefined, overMs: number): boolean {
    if (perSecond !== undefined && overMs >= leastMs) this.#slow = perSecond < (this.#slow ? wellFrom : slowBelow)
    return this.#slow
  }

  /** Begins again: another process. */
  restart(): void {
    this.#slow = false
  }
}
