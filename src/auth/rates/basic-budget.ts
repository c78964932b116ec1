import { type Clock, networkOf } from '../../platform/index.ts'
import { countedForMs, type KeptTry, type TryRecord } from './basic-tries.ts'

/**
 * After ten failures the server locks our address out. The less is known of a login, the fewer failures it may cause.
 */
const failuresAllowed: Record<Standing, number> = { 'right-before': 10, 'known-name': 9, stranger: 7 }
const failuresOfOne = 5

/** Knowledge about a login: this secret was right before, the server vouched for the name before, or nothing. */
export type Standing = 'right-before' | 'known-name' | 'stranger'

export type BasicTry = { readonly address: string; readonly login: string; readonly standing: Standing }
type Failure = KeptTry & { readonly atMs: number }

/** No try is left for now; `isOwnFault`: because of this login's failures from this network. */
export type Spent = { readonly waitMs: number; readonly isOwnFault: boolean }

/** Outcome of a try. The server forgets the failures of a login that gets in, and may have counted a try without an answer. */
export type TryEnd = 'right' | 'wrong' | 'maybe-counted' | 'not-counted'

type BasicBudgetNeeds = { clock: Pick<Clock, 'monotonic'>; record: TryRecord }

/**
 * Limits how many wrong Basic passwords one server sees, because after ten it locks out everyone behind this gateway.
 * The server does not count bearer tokens, so they are not limited here.
 */
export class BasicBudget {
  readonly #needs: BasicBudgetNeeds
  #failures: Failure[]
  #underWay = 0
  #waiting: (() => void)[] = []
  #lockedUntilMs = Number.NEGATIVE_INFINITY

  constructor(needs: BasicBudgetNeeds) {
    this.#needs = needs
    const nowMs = this.#needs.clock.monotonic()
    this.#failures = this.#needs.record.earlier().map(({ ageMs, ...kept }) => ({ ...kept, atMs: nowMs - ageMs }))
  }

  /**
   * Runs a question as soon as no more tries are in progress than may fail; a try in progress counts as a failure. With
   * no try left it asks nothing and returns how long that lasts, in milliseconds.
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
    const [network, mark] = [networkOf(address), this.#needs.record.markOf(login)]
    const startedMs = this.#needs.clock.monotonic()
    const id = this.#needs.record.begun(network, mark)
    this.#underWay += 1
    let end: TryEnd = 'maybe-counted'
    try {
      const answer = await ask()
      end = endOf(answer)
      return { answer }
    } finally {
      this.#underWay -= 1
      this.#settle({ id, network, login: mark, atMs: this.#needs.clock.monotonic() }, end, startedMs)
      for (const go of this.#waiting.splice(0)) go()
    }
  }

  /** Returns undefined when a try is left, perhaps after those in progress. */
  #spent({ address, login, standing }: BasicTry): Spent | undefined {
    const nowMs = this.#needs.clock.monotonic()
    this.#failures = this.#failures.filter(({ atMs }) => atMs > nowMs - countedForMs)
    if (nowMs < this.#lockedUntilMs) return { waitMs: this.#lockedUntilMs - nowMs, isOwnFault: false }
    const [network, mark] = [networkOf(address), this.#needs.record.markOf(login)]
    const own = this.#failures.filter((failure) => failure.network === network && failure.login === mark)
    const lastOwn = standing === 'right-before' ? undefined : full(own, failuresOfOne)
    const last = lastOwn ?? full(this.#failures, failuresAllowed[standing])
    return last && { waitMs: last.atMs + countedForMs - nowMs, isOwnFault: lastOwn !== undefined }
  }

  /** Says whether this try must wait for those in progress, which may use up what is left. */
  #mayFollow(attempt: BasicTry): boolean {
    if (this.#spent(attempt)) return false
    return this.#underWay > 0 && this.#failures.length + this.#underWay >= failuresAllowed[attempt.standing]
  }

  /** Forgets the failures that the server had certainly counted when the right password came. */
  #settle(failure: Failure, end: TryEnd, startedMs: number): void {
    if (end === 'wrong' || end === 'maybe-counted') {
      this.#failures.push(failure)
      return
    }
    const isForgotten = ({ login, atMs }: Failure) => end === 'right' && login === failure.login && atMs <= startedMs
    this.#needs.record.over([failure, ...this.#failures.filter(isForgotten)].map(({ id }) => id))
    this.#failures = this.#failures.filter((one) => !isForgotten(one))
  }

  /** Notes that the server has locked the gateway out. */
  lockedOut(forMs = 5 * 60_000): void {
    this.#lockedUntilMs = this.#needs.clock.monotonic() + Math.min(forMs, countedForMs)
  }
}

/** Returns the failure that must expire before there are less than `limit`; undefined when there are. */
function full(failures: readonly Failure[], limit: number): Failure | undefined {
  return failures.length >= limit ? failures[failures.length - limit] : undefined
}
