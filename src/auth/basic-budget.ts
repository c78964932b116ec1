import type { Clock } from '../platform/index.ts'
import { countedForMs, type KeptTry, type TryRecord } from './basic-tries.ts'
import { networkOf } from './network-of.ts'

/** Above ten failures the server locks our address out. The fewer know a name, the fewer of them it may use up. */
const failuresAllowed: Record<Standing, number> = { 'right-before': 10, 'known-name': 9, stranger: 7 }
const failuresOfOne = 5

/** What is known of a login: this secret of it was right before, the server vouched for the name before, or nothing. */
export type Standing = 'right-before' | 'known-name' | 'stranger'

export type BasicTry = { readonly address: string; readonly login: string; readonly standing: Standing }
type Failure = KeptTry & { readonly atMs: number }

/** No try is left for now, and whether the asker's own failures are why. */
export type Spent = { readonly waitMs: number; readonly isOwnFault: boolean }

/** How a try ended: the server forgets the failures of who gets in, and may have counted what got no answer. */
export type TryEnd = 'right' | 'wrong' | 'maybe-counted' | 'not-counted'

/**
 * How many Basic passwords may still be wrong at one server before it locks out everybody behind this gateway. Bearer
 * tokens are not counted by the server, so they are none of this.
 */
export class BasicBudget {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #record: TryRecord
  #failures: Failure[]
  #underWay = 0
  #waiting: (() => void)[] = []
  #lockedUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: { clock: Pick<Clock, 'monotonic'>; record: TryRecord }) {
    this.#clock = options.clock
    this.#record = options.record
    const nowMs = this.#clock.monotonic()
    this.#failures = this.#record.earlier().map(({ ageMs, ...kept }) => ({ ...kept, atMs: nowMs - ageMs }))
  }

  /**
   * Asks, as soon as no more tries are under way than may fail. Until it is answered a try counts as one that fails. With
   * nothing left to try it asks nobody and says how long that lasts.
   */
  async run<T>(
    attempt: BasicTry,
    ask: () => Promise<T>,
    endOf: (answer: T) => TryEnd,
  ): Promise<{ readonly answer: T } | { readonly spent: Spent }> {
    while (this.#mayFollow(attempt)) await new Promise<void>((go) => this.#waiting.push(go))
    const spent = this.#spent(attempt)
    if (spent) return { spent }
    const { address, login } = attempt
    const [network, mark] = [networkOf(address), this.#record.markOf(login)]
    const startedMs = this.#clock.monotonic()
    const id = this.#record.begun(network, mark)
    this.#underWay += 1
    let end: TryEnd = 'maybe-counted'
    try {
      const answer = await ask()
      end = endOf(answer)
      return { answer }
    } finally {
      this.#underWay -= 1
      this.#settle({ id, network, login: mark, atMs: this.#clock.monotonic() }, end, startedMs)
      for (const go of this.#waiting.splice(0)) go()
    }
  }

  /** Undefined: there is a try left, perhaps after those under way. */
  #spent({ address, login, standing }: BasicTry): Spent | undefined {
    const nowMs = this.#clock.monotonic()
    this.#failures = this.#failures.filter(({ atMs }) => atMs > nowMs - countedForMs)
    if (nowMs < this.#lockedUntilMs) return { waitMs: this.#lockedUntilMs - nowMs, isOwnFault: false }
    const [network, mark] = [networkOf(address), this.#record.markOf(login)]
    const own = this.#failures.filter((failure) => failure.network === network && failure.login === mark)
    const lastOwn = standing === 'right-before' ? undefined : full(own, failuresOfOne)
    const last = lastOwn ?? full(this.#failures, failuresAllowed[standing])
    return last && { waitMs: last.atMs + countedForMs - nowMs, isOwnFault: lastOwn !== undefined }
  }

  /** Whether a try is left, but those under way may use it up. */
  #mayFollow(attempt: BasicTry): boolean {
    if (this.#spent(attempt)) return false
    return this.#underWay > 0 && this.#failures.length + this.#underWay >= failuresAllowed[attempt.standing]
  }

  /** Forgotten is only what the server had surely counted when the right password came. */
  #settle(failure: Failure, end: TryEnd, startedMs: number): void {
    if (end === 'wrong' || end === 'maybe-counted') {
      this.#failures.push(failure)
      return
    }
    const isForgotten = ({ login, atMs }: Failure) => end === 'right' && login === failure.login && atMs <= startedMs
    this.#record.over([failure, ...this.#failures.filter(isForgotten)].map(({ id }) => id))
    this.#failures = this.#failures.filter((one) => !isForgotten(one))
  }

  /** The server says that it counts us out. */
  lockedOut(forMs = 5 * 60_000): void {
    this.#lockedUntilMs = this.#clock.monotonic() + Math.min(forMs, countedForMs)
  }
}

/** The failure that has to grow old before there are less than `limit`; undefined when there are. */
function full(failures: readonly Failure[], limit: number): Failure | undefined {
  return failures.length >= limit ? failures[failures.length - limit] : undefined
}
