import type { Clock } from '../world/index.ts'
import { networkOf } from './network-of.ts'

/** The server counts failures this long. */
const windowMs = 30 * 60_000
/** Above ten failures it locks our address out. Credentials that nobody has seen right leave two to those that were. */
const failuresInAll = 10
const failuresOfUnknown = 8
const failuresOfAddress = 6
const failuresOfOne = 5

export type BasicTry = { readonly address: string; readonly login: string; readonly wasRight: boolean }
type Failure = { readonly atMs: number; readonly network: string; readonly login: string }

/**
 * How many Basic passwords may still be wrong at one server before it locks out everybody behind this gateway. Bearer
 * tokens are not counted by the server, so they are none of this.
 */
export class BasicBudget {
  readonly #clock: Pick<Clock, 'monotonic'>
  #failures: Failure[] = []
  #underWay = 0
  #lockedUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: { clock: Pick<Clock, 'monotonic'> }) {
    this.#clock = options.clock
  }

  /** 0: ask. Else the milliseconds until there is room again, and whether the asker's own failures are why. */
  wait({ address, login, wasRight }: BasicTry): { readonly waitMs: number; readonly isOwnFault: boolean } {
    const nowMs = this.#clock.monotonic()
    this.#failures = this.#failures.filter(({ atMs }) => atMs > nowMs - windowMs)
    if (nowMs < this.#lockedUntilMs) return { waitMs: this.#lockedUntilMs - nowMs, isOwnFault: false }
    const network = networkOf(address)
    const ofAddress = this.#failures.filter((failure) => failure.network === network)
    const ofOne = ofAddress.filter((failure) => failure.login === login)
    const own = full(ofOne, failuresOfOne) ?? full(ofAddress, failuresOfAddress)
    if (own && !wasRight) return { waitMs: own.atMs + windowMs - nowMs, isOwnFault: true }
    const room = (wasRight ? failuresInAll : failuresOfUnknown) - this.#underWay
    const oldest = full(this.#failures, room)
    return { waitMs: oldest ? oldest.atMs + windowMs - nowMs : room > 0 ? 0 : 1000, isOwnFault: false }
  }

  /** Runs one try; until it is answered it counts as one that fails. */
  async run<T>({ address, login }: BasicTry, ask: () => Promise<T>, hasFailed: (answer: T) => boolean): Promise<T> {
    this.#underWay += 1
    try {
      const answer = await ask()
      if (hasFailed(answer)) {
        this.#failures.push({ atMs: this.#clock.monotonic(), network: networkOf(address), login })
      }
      return answer
    } finally {
      this.#underWay -= 1
    }
  }

  /** The server says that it counts us out. */
  lockedOut(forMs = 5 * 60_000): void {
    this.#lockedUntilMs = this.#clock.monotonic() + Math.min(forMs, windowMs)
  }
}

/** The failure that has to grow old before there are less than `limit`; undefined when there are. */
function full(failures: readonly Failure[], limit: number): Failure | undefined {
  return limit > 0 && failures.length >= limit ? failures[failures.length - limit] : undefined
}
