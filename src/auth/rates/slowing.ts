import { createHash } from 'node:crypto'
import { backoffMs, FairTurns } from '../../flow/index.ts'
import { type Clock, networkOf } from '../../platform/index.ts'
import { tooManySignIns } from '../secret-hash.ts'
import { Recent } from './recent.ts'

/** Different wrong secrets of one name from one network before the delay starts: typing errors, an old password. */
const freeAttempts = 10
const delay = { firstMs: 250, longestMs: 4000 }
/** Without a wrong secret for this long, the count starts again. */
const forgottenAfterMs = 15 * 60_000
const placesKept = 10_000
const secretsKept = 64

type Guesses = { readonly secrets: Set<string>; lastMs: number }

/**
 * Delays guesses, by network and identity: the delay grows with each different wrong secret. It is a delay, not a refusal, so the
 * right secret still gets in. Other names of the network and other networks of the name do not wait.
 */
export class Slowing {
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>
  readonly #guesses = new Recent<Guesses>(placesKept)
  readonly #turns = new FairTurns({ atOnce: 1024, waitingOfLane: 8, waiting: 4096 }, tooManySignIns)

  constructor(options: { clock: Pick<Clock, 'monotonic' | 'after'> }) {
    this.#clock = options.clock
  }

  /** Checks a secret after its delay. Throws NOT_READY when too many of the same guesser wait already. */
  async check<T>(address: string, identity: string, look: () => Promise<T>): Promise<T> {
    const place = placeOf(address, identity)
    if (this.#delayMs(place) === 0) return look()
    return this.#turns.run(place, async () => {
      await new Promise<void>((go) => this.#clock.after(this.#delayMs(place), go))
      return look()
    })
  }

  /** Counts a wrong secret. The same one again does not count: a device keeps trying what it was given. */
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
    const costly = guesses.secrets.size - freeAttempts + 1
    return costly < 1 ? 0 : backoffMs(delay, costly)
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64')
/** Hashed, because a name may have any length, and may be a secret in the wrong field. */
const placeOf = (address: string, identity: string): string => sha256(JSON.stringify([networkOf(address), identity]))
