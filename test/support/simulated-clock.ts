import type { Clock } from '../../src/platform/index.ts'

type Timer = { readonly dueMs: number; readonly order: number; readonly callback: () => void }

/** A clock that stands still until `advance` moves it. Timers fire inside `advance`, in the order of their time. */
export class SimulatedClock implements Clock {
  #wallMs: number
  #monotonicMs = 0
  #order = 0
  readonly #timers = new Set<Timer>()

  /** @param startMs the wall clock at the beginning, milliseconds since the epoch */
  constructor(startMs = Date.UTC(2026, 2, 2, 8)) {
    this.#wallMs = startMs
  }

  // Bound, because a clock is often handed on in pieces.
  now = (): number => this.#wallMs

  monotonic = (): number => this.#monotonicMs

  after = (delayMs: number, callback: () => void): (() => void) => {
    this.#order += 1
    const timer = { dueMs: this.#monotonicMs + Math.max(delayMs, 0), order: this.#order, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /**
   * Lets `ms` pass. Every timer due by then fires at its own time, also those that a callback sets on the way.
   * Asynchronous work of a callback has not run yet when this returns.
   */
  advance(ms: number): void {
    const endMs = this.#monotonicMs + ms
    for (let timer = this.#next(endMs); timer; timer = this.#next(endMs)) {
      this.#moveTo(Math.max(timer.dueMs, this.#monotonicMs))
      this.#timers.delete(timer)
      timer.callback()
    }
    this.#moveTo(endMs)
  }

  /** Lets `ms` pass while the process is held up: timers due meanwhile fire at the next `advance`. */
  stall(ms: number): void {
    this.#moveTo(this.#monotonicMs + ms)
  }

  /** Sets the wall clock without letting time pass, as a correction by NTP does. No timer fires. */
  setWall(nowMs: number): void {
    this.#wallMs = nowMs
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size
  }

  /** Milliseconds until the next timer; undefined when none waits. */
  get nextInMs(): number | undefined {
    const next = this.#next(Number.POSITIVE_INFINITY)
    return next && Math.max(next.dueMs - this.#monotonicMs, 0)
  }

  #next(endMs: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue
      if (!first || timer.dueMs < first.dueMs || (timer.dueMs === first.dueMs && timer.order < first.order))
        first = timer
    }
    return first
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs
    this.#monotonicMs = monotonicMs
  }
}
