import { createHash } from 'node:crypto'
import type { Clock } from '../platform/index.ts'
import { FairTurns } from './fair-turns.ts'
import { networkOf } from './network-of.ts'
import { Recent } from './recent.ts'

/** So many different wrong secrets of one name from one address cost nothing: fat fingers, an old password. */
const forNothing = 10
const firstDelayMs = 250
const longestDelayMs = 4000
/** A quarter of an hour without a wrong one, and all is forgotten. */
const forgottenAfterMs = 15 * 60_000
const placesKept = 10_000
const secretsKept = 64

type Guesses = { readonly secrets: Set<string>; lastMs: number }

/**
 * Makes whoever guesses wait, by address and identity: the wait grows with each different wrong secret. It is a wait
 * and no refusal, so the right secret is never turned away by it; and whoever else has that name or that address does
 * not wait at all.
 */
export class Slowing {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>
  readonly #guesses = new Recent<Guesses>(placesKept)
  readonly #turns = new FairTurns({ atOnce: 1024, waitingOfLane: 8, waiting: 4096 })

  constructor(options: { clock: Pick<Clock, 'monotonic' | 'after'> }) {
    this.#clock = options.clock
  }

  /** Looks at a secret once its wait is over. Throws NOT_READY when too many of the same guesser wait already. */
  async check<T>(address: string, identity: string, look: () => Promise<T>): Promise<T> {
    const place = placeOf(address, identity)
    if (this.#delayMs(place) === 0) return look()
    return this.#turns.run(place, async () => {
      await new Promise<void>((go) => this.#clock.after(this.#delayMs(place), go))
      return look()
    })
  }

  /** A secret was wrong. The same one again is no new guess: a device keeps trying what it was given. */
  wrong(address: string, identity: string, secret: string): void {
    const place = placeOf(address, identity)
    const nowMs = this.#clock.monotonic()
    const known = this.#guesses.get(place)
    const guesses = known && nowMs - known.lastMs < forgottenAfterMs ? known : { secrets: new Set<string>(), lastMs: 0 }
    if (guesses.secrets.size < secretsKept) guesses.secrets.add(sha256(secret))
    guesses.lastMs = nowMs
    this.#guesses.set(place, guesses)
  }

  #delayMs(place: string): number {
    const guesses = this.#guesses.get(place)
    if (!guesses || this.#clock.monotonic() - guesses.lastMs >= forgottenAfterMs) return 0
    const costly = guesses.secrets.size - forNothing
    return costly < 0 ? 0 : Math.min(firstDelayMs * 2 ** costly, longestDelayMs)
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64')
/** A name is as long as the sender likes, and may be a secret in the wrong field. */
const placeOf = (address: string, identity: string): string => sha256(JSON.stringify([networkOf(address), identity]))
