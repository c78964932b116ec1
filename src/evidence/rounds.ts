import { backoffMs } from '../flow/index.ts'
import type { Clock, RandomBytes } from '../platform/index.ts'

const retry = { firstMs: 30_000, longestMs: 3_600_000 }

/**
 * Returns the wait after so many failures in a row: 30 s doubling to an hour, less up to half of it by chance. So many gateways do
 * not ask at once when a witness comes back.
 */
function retryDelayMs(failures: number, random: RandomBytes): number {
  return Math.round(backoffMs(retry, failures, (random(2)[0] ?? 0) / 255))
}

/** Retry state of one outsider. Lost at a stop, because its answers are in the database. */
type Round<Trouble> = {
  /** The problem; undefined while it is well. */
  trouble: Trouble | undefined
  failures: number
  /** Monotonic, of the first failure in a row. */
  failingSinceMs: number | undefined
  /** Ends the wait for the next question. */
  cancel: (() => void) | undefined
}

export type RoundsNeeds<Outsider> = {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  readonly random: RandomBytes
  /** Those of the config, as it is now. */
  readonly outsiders: () => readonly Outsider[]
  readonly nameOf: (outsider: Outsider) => string
  /** Asks what is due, which may be nothing. Never rejects. */
  readonly ask: (outsider: Outsider) => Promise<void>
}

/**
 * Outsiders of the config, such as witnesses, that are asked in parallel. Each gets at most one question at a time, and after a
 * failure none before a growing wait. No one waits for them.
 */
export class Rounds<Outsider, Trouble> {
  readonly #needs: RoundsNeeds<Outsider>
  readonly #rounds = new Map<string, Round<Trouble>>()
  readonly #asking = new Map<string, Promise<void>>()
  #isStarted = false

  constructor(needs: RoundsNeeds<Outsider>) {
    this.#needs = needs
  }

  get isStarted(): boolean {
    return this.#isStarted
  }

  start(): void {
    this.#isStarted = true
    this.wake()
  }

  /** Begins no more questions. Those under way continue until `settled`. */
  halt(): void {
    this.#isStarted = false
    for (const round of this.#rounds.values()) round.cancel?.()
  }

  /** Asks at once, whatever waits: a corrected address, key or file is tried now. */
  onReload(): void {
    const names = this.#needs.outsiders().map(this.#needs.nameOf)
    for (const [name, round] of this.#rounds) {
      round.cancel?.()
      round.cancel = undefined
      if (!names.includes(name)) this.#rounds.delete(name)
    }
    this.wake()
  }

  /** Resolves when no question is under way. */
  async settled(): Promise<void> {
    while (this.#asking.size > 0) await Promise.all(this.#asking.values())
  }

  /** Asks everyone who is neither being asked nor to be asked later. */
  wake(): void {
    if (!this.#isStarted) return
    for (const outsider of this.#needs.outsiders()) {
      if (!this.#roundOf(outsider).cancel) this.#begin(outsider)
    }
  }

  /** Returns what is wrong with one of them, undefined while it is well, and for how many milliseconds. */
  seen(outsider: Outsider): { trouble: Trouble | undefined; forMs: number } {
    const { trouble, failingSinceMs } = this.#roundOf(outsider)
    return { trouble, forMs: failingSinceMs === undefined ? 0 : this.#needs.clock.monotonic() - failingSinceMs }
  }

  /** Notes a good answer. Returns the earlier trouble. */
  well(outsider: Outsider): Trouble | undefined {
    const round = this.#roundOf(outsider)
    const before = round.trouble
    Object.assign(round, { failures: 0, failingSinceMs: undefined, trouble: undefined })
    return before
  }

  /** Notes a bad answer, after which it is asked later. Returns the earlier trouble. */
  unwell(outsider: Outsider, trouble: Trouble): Trouble | undefined {
    const round = this.#roundOf(outsider)
    const before = round.trouble
    round.failingSinceMs ??= this.#needs.clock.monotonic()
    round.trouble = trouble
    this.again(outsider)
    return before
  }

  /** Asks again after a wait that grows with each failure in a row. */
  again(outsider: Outsider): void {
    const round = this.#roundOf(outsider)
    round.failures += 1
    this.later(outsider, retryDelayMs(round.failures, this.#needs.random))
  }

  later(outsider: Outsider, delayMs: number): void {
    if (!this.#isStarted) return
    const { clock, outsiders, nameOf } = this.#needs
    const round = this.#roundOf(outsider)
    round.cancel = clock.after(delayMs, () => {
      round.cancel = undefined
      const now = outsiders().find((one) => nameOf(one) === nameOf(outsider))
      if (now && this.#isStarted) this.#begin(now)
    })
  }

  #begin(outsider: Outsider): void {
    const name = this.#needs.nameOf(outsider)
    if (this.#asking.has(name)) return
    const asking = this.#needs.ask(outsider).finally(() => this.#asking.delete(name))
    this.#asking.set(name, asking)
  }

  #roundOf(outsider: Outsider): Round<Trouble> {
    const name = this.#needs.nameOf(outsider)
    const known = this.#rounds.get(name)
    if (known) return known
    const made = { trouble: undefined, failures: 0, failingSinceMs: undefined, cancel: undefined }
    this.#rounds.set(name, made)
    return made
  }
}
