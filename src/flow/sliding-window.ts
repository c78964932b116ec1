import type { Clock } from '../platform/index.ts'

const windowMs = 60_000
/** More keys at once mean an attack from many networks; the oldest are forgotten first. */
const keysKept = 50_000

/** Times of the requests that passed, oldest first; those in front of `head` are older than the window. */
type Passed = { times: number[]; head: number }
type Left = { left: number; seconds: number }

/** Counts requests of the last 60 seconds by key, exactly. Eight bytes a request; idle keys are forgotten. */
export class SlidingWindow {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #passed = new Map<string, Passed>()
  #sweptMs = 0

  constructor(options: { clock: Pick<Clock, 'monotonic'> }) {
    this.#clock = options.clock
  }

  /**
   * Takes one request of `limit` a minute. A refused request is not counted.
   * @returns 0 when it may pass, else the whole seconds until one may: 1 to 60
   */
  take(key: string, limit: number): number {
    return this.takeAndTell(key, limit).waitSeconds
  }

  /** Takes one request as `take` does, and returns beside the wait what is left afterwards, as `left` does. */
  takeAndTell(key: string, limit: number): Left & { waitSeconds: number } {
    const nowMs = this.#clock.monotonic()
    this.#sweep(nowMs)
    const passed = this.#current(key, nowMs)
    const { times, head } = passed
    const isFull = times.length - head >= limit
    if (!isFull) times.push(nowMs)
    return { waitSeconds: isFull ? waitOf(times, limit, nowMs) : 0, ...leftOf(passed, limit, nowMs) }
  }

  /** Returns the rest of `limit` a minute, and the whole seconds until the oldest request leaves the window. */
  left(key: string, limit: number): Left {
    const nowMs = this.#clock.monotonic()
    return leftOf(this.#current(key, nowMs), limit, nowMs)
  }

  #current(key: string, nowMs: number): Passed {
    const passed = this.#passed.get(key) ?? this.#begin(key)
    while ((passed.times[passed.head] ?? nowMs) <= nowMs - windowMs) passed.head += 1
    if (passed.head > passed.times.length / 2) {
      passed.times = passed.times.slice(passed.head)
      passed.head = 0
    }
    return passed
  }

  #begin(key: string): Passed {
    if (this.#passed.size >= keysKept) this.#passed.delete(this.#passed.keys().next().value ?? '')
    const passed = { times: [], head: 0 }
    this.#passed.set(key, passed)
    return passed
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < windowMs) return
    this.#sweptMs = nowMs
    for (const [key, { times }] of this.#passed) {
      if ((times.at(-1) ?? 0) <= nowMs - windowMs) this.#passed.delete(key)
    }
  }
}

/** Reads a full bucket only. V8 looks up an index below zero as a name, which costs a microsecond. */
function waitOf(times: readonly number[], limit: number, nowMs: number): number {
  const blockingMs = times[times.length - limit] ?? nowMs
  return Math.max(1, Math.ceil((blockingMs + windowMs - nowMs) / 1000))
}

function leftOf({ times, head }: Passed, limit: number, nowMs: number): Left {
  const oldestMs = times[Math.max(head, times.length - limit)] ?? nowMs - windowMs
  return {
    left: Math.max(0, limit - (times.length - head)),
    seconds: Math.max(0, Math.ceil((oldestMs + windowMs - nowMs) / 1000)),
  }
}
