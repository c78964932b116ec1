/** Clocks of cameras run so much slower than they should, or less. */
export const mostDrift = 0.001
/** How late the first pictures of a connection are shows within this much video. */
const learningMs = 10_000
/** Pictures that ffmpeg has probed come together, within this time. With a slow camera they are more than `learningMs`. */
const togetherMs = 2000

/**
 * Knows how early a picture can arrive at most: none arrives before it was taken. Pictures may be late for as long as they like. So
 * the most punctual one of the whole connection counts, and only the drift of the camera's clock makes it old.
 */
export class EarliestOffset {
  #beganMs = Infinity
  #newest: { readonly streamMs: number; readonly arrivedMs: number } | undefined
  /**
   * The first picture, with its offset as if it had been taken when the connection began.
   */
  #first: { readonly streamMs: number; readonly arrivedMs: number; readonly offsetMs: number } | undefined
  #offsetMs = Infinity

  /** Notes when (monotonic) the connection began; nothing that it sends was taken much earlier. */
  begin(nowMs: number): void {
    this.#beganMs = nowMs
    this.reset()
  }

  /** Returns the milliseconds by which a picture arrives before it can have been taken; 0 when it does not. */
  earlyMs(streamMs: number, arrivedMs: number): number {
    if (!this.#newest) return 0
    const { offsetMs = Infinity } = this.#isLearning(streamMs, arrivedMs) ? (this.#first ?? {}) : {}
    return Math.max(Math.min(this.#at(arrivedMs), offsetMs) - (arrivedMs - streamMs), 0)
  }

  note(streamMs: number, arrivedMs: number): void {
    const offsetMs = arrivedMs - streamMs
    this.#first ??= { streamMs, arrivedMs, offsetMs: Math.min(this.#beganMs, arrivedMs) - streamMs }
    this.#offsetMs = Math.min(this.#at(arrivedMs), offsetMs)
    this.#newest = { streamMs, arrivedMs }
  }

  reset(): void {
    this.#newest = undefined
    this.#first = undefined
    this.#offsetMs = Infinity
  }

  #at(arrivedMs: number): number {
    const sinceMs = this.#newest ? Math.max(arrivedMs - this.#newest.arrivedMs, 0) : 0
    return this.#offsetMs + sinceMs * mostDrift
  }

  /** Judged by the newest picture before this one, which may have jumped. */
  #isLearning(streamMs: number, arrivedMs: number): boolean {
    if (!this.#first) return false
    const newestMs = this.#newest?.streamMs ?? streamMs
    return newestMs - this.#first.streamMs < learningMs || arrivedMs - this.#first.arrivedMs < togetherMs
  }
}
