import { change, type Tx, type UnitOfWork } from '../../database/index.ts'
import type { Clock } from '../../platform/index.ts'

/** Less than this is drift, or the clock being slewed. */
const leastStepMs = 1000

/** A longer step is no correction: the clock was wrong before, and its times mean nothing. */
const longestStepMs = 24 * 60 * 60 * 1000

export type Reading = { readonly wallMs: number; readonly monotonicMs: number }

/** Returns by how many ms the wall clock was set between two readings; 0 when it was not, or by more than a day. */
export function stepBetween(before: Reading, after: Reading): number {
  const stepMs = after.wallMs - before.wallMs - (after.monotonicMs - before.monotonicMs)
  const size = Math.abs(stepMs)
  return size < leastStepMs || size > longestStepMs ? 0 : Math.round(stepMs)
}

const shifted = change(
  `UPDATE delivery SET next_attempt_at_ms = max(1, next_attempt_at_ms + ?) WHERE state = 'pending' AND next_attempt_at_ms > 0`,
)

/** Moves the due times of pending deliveries along with the clock; 0 (at once) stays 0. */
export function shiftDue(tx: Tx, stepMs: number): void {
  tx.run(shifted, [stepMs])
}

type ClockStepsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Moves stored due times by a step. */
  readonly shift: (tx: Tx, stepMs: number) => void
}

/**
 * Keeps delays right when the wall clock is set while the gateway runs. Due times are stored by the wall clock, because only that
 * survives a restart. Each step of the clock moves them along.
 */
export class ClockSteps {
  readonly #needs: ClockStepsNeeds
  #last: Reading
  #owedMs = 0

  constructor(needs: ClockStepsNeeds) {
    this.#needs = needs
    this.#last = this.#read()
  }

  /** To be called before a due time is compared or stored. Rejects when it cannot be written; the next call does it. */
  async follow(): Promise<void> {
    const now = this.#read()
    this.#owedMs += stepBetween(this.#last, now)
    this.#last = now
    const stepMs = this.#owedMs
    if (stepMs === 0) return
    this.#owedMs = 0
    try {
      await this.#needs.work.write((tx) => this.#needs.shift(tx, stepMs))
    } catch (error) {
      this.#owedMs += stepMs
      throw error
    }
  }

  #read(): Reading {
    return { wallMs: this.#needs.clock.now(), monotonicMs: this.#needs.clock.monotonic() }
  }
}
