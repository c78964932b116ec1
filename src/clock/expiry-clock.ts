import type { Clock } from '../platform/index.ts'
import { markEveryMs } from './steps.ts'

/**
 * The time by which credentials end. It never goes back: after the wall clock was set back it goes on from the newest time, at the
 * pace of the monotonic clock. So nothing that has expired is valid again, and a new credential lasts as long as it should.
 */
export class ExpiryClock {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  #newestMs: number
  #readAtMs: number

  /** @param markedMs the newest time that was stored; a crash leaves it up to a minute behind */
  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, markedMs = 0) {
    this.#clock = clock
    this.#newestMs = clock.now() >= markedMs ? clock.now() : markedMs + markEveryMs
    this.#readAtMs = clock.monotonic()
  }

  // Bound, because a clock is often handed on in pieces.
  now = (): number => {
    const readAtMs = this.#clock.monotonic()
    this.#newestMs = Math.max(this.#clock.now(), this.#newestMs + readAtMs - this.#readAtMs)
    this.#readAtMs = readAtMs
    return Math.floor(this.#newestMs)
  }
}
