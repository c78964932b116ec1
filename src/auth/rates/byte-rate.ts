import { AppError } from '../../errors/index.ts'
import type { Clock } from '../../platform/index.ts'
import { Recent } from './recent.ts'

const windowMs = 60_000
const usersKept = 10_000

type Taken = { readonly atMs: number; readonly bytes: number }

type ByteRateNeeds = { clock: Pick<Clock, 'monotonic'>; bytesPerMinute: () => number }

/** Limits how many bytes each user may send in any minute. */
export class ByteRate {
  readonly #needs: ByteRateNeeds
  readonly #taken = new Recent<readonly Taken[]>(usersKept)

  constructor(needs: ByteRateNeeds) {
    this.#needs = needs
  }

  /**
   * Counts bytes; throws RATE_LIMITED above the rate. A single larger upload passes when none was sent for a minute.
   */
  take(user: string, bytes: number): void {
    const nowMs = this.#needs.clock.monotonic()
    const taken = (this.#taken.get(user) ?? []).filter(({ atMs }) => atMs > nowMs - windowMs)
    const waitMs = this.#waitMs(taken, bytes, nowMs)
    this.#taken.set(user, waitMs === 0 ? [...taken, { atMs: nowMs, bytes }] : taken)
    if (waitMs === 0) return
    const seconds = Math.max(1, Math.ceil(waitMs / 1000))
    throw new AppError('RATE_LIMITED', 'Too many bytes of photos in a minute', {
      details: `at most ${this.#needs.bytesPerMinute()} bytes a minute; try again in ${seconds} s`,
      retryAfterSeconds: seconds,
    })
  }

  /** Returns milliseconds until enough of the counted bytes are a minute old. */
  #waitMs(taken: readonly Taken[], bytes: number, nowMs: number): number {
    let sum = taken.reduce((total, one) => total + one.bytes, 0)
    let waitMs = 0
    for (const one of taken) {
      if (sum + bytes <= this.#needs.bytesPerMinute()) break
      sum -= one.bytes
      waitMs = one.atMs + windowMs - nowMs
    }
    return waitMs
  }
}
