import { AppError } from '../errors/index.ts'
import { type Caller, identityOf } from '../http/index.ts'
import type { ConfigNames } from './config-names.ts'
import { networkOf } from './network-of.ts'
import type { SlidingWindow } from './sliding-window.ts'

export type RateSettings = {
  readonly requestsPerMinute: number
  readonly users: Readonly<Record<string, number>>
  readonly roles: Readonly<Record<string, number>>
}

/** Health, ping and the console's files answer everybody, so they have generous buckets of their own by address. */
const publicPerMinute = 6000

/** A page of pictures asks for many at once. */
const signedPerMinute = 600

/** How a caller came: by the document's headers, by the console's cookie, by a signed address. */
export type Way = 'headers' | 'session' | 'signed'

/** Told what a bucket allows and what is left in it, also when that is nothing. */
export type TellRate = (rate: { bucket: string; limit: number; left: number; seconds: number }) => void

/** Who may ask again already. Everything here throws RATE_LIMITED when it is too soon. */
export class Admission {
  readonly #window: SlidingWindow
  readonly #rates: () => RateSettings
  readonly #names: Pick<ConfigNames, 'meanUser'>

  constructor(options: { window: SlidingWindow; rates: () => RateSettings; names: Pick<ConfigNames, 'meanUser'> }) {
    this.#window = options.window
    this.#rates = options.rates
    this.#names = options.names
  }

  /** One request for what is public; each kind of it has its own bucket. */
  anybody(kind: 'public' | 'console', address: string, tell?: TellRate): void {
    this.#take(`${kind} ${networkOf(address)}`, publicPerMinute, kind, tell)
  }

  /** One refusal. Only those count by address: a stranger's attempts never use up what a colleague behind it has. */
  refused(address: string): void {
    this.#take(`address ${networkOf(address)}`, this.#rates().requestsPerMinute)
  }

  /** One request of a verified caller. An open console never takes the rate away from the same user's scanner. */
  caller(caller: Caller, by: Way, tell?: TellRate): void {
    const identity = identityOf(caller)
    if (by === 'signed') {
      this.#take(`signed ${identity}`, signedPerMinute, 'signed', tell)
      return
    }
    const [key, bucket] = by === 'session' ? ['console user', 'console-user'] : ['user', 'user']
    this.#take(`${key} ${identity}`, this.#limitOf(caller), bucket, tell)
  }

  #limitOf(caller: Caller): number {
    const { users, roles, requestsPerMinute } = this.#rates()
    const own = Object.entries(users).find(([name]) => this.#names.meanUser(name, caller))
    return own?.[1] ?? roles[caller.role] ?? requestsPerMinute
  }

  #take(key: string, limit: number, bucket = 'address', tell?: TellRate): void {
    const waitSeconds = this.#window.take(key, limit)
    tell?.({ bucket, limit, ...this.#window.left(key, limit) })
    if (waitSeconds === 0) return
    throw new AppError('RATE_LIMITED', 'Too many requests', {
      details: `try again in ${waitSeconds} s`,
      retryAfterSeconds: waitSeconds,
    })
  }
}
