import { AppError } from '../../errors/index.ts'
import type { SlidingWindow } from '../../flow/index.ts'
import { type Caller, identityOf } from '../../http/index.ts'
import { networkOf } from '../../platform/index.ts'
import type { ConfigNames } from '../config-names.ts'
import type { StrangerWork } from './stranger-work.ts'

export type RateSettings = {
  readonly requestsPerMinute: number
  readonly users: Readonly<Record<string, number>>
  readonly roles: Readonly<Record<string, number>>
}

/** Health, ping and the console's files need no caller, so they have generous separate buckets by network. */
const publicPerMinute = 6000

/** A page of pictures requests many at once. */
const signedPerMinute = 600

/** A log asks its witnesses once for each checkpoint, at most once a second. */
const witnessPerMinute = 300

/** Opened live views and snapshots: a page of many cameras, with one that goes away and comes back. */
const livePerMinute = 600

/**
 * Way in which a caller was recognized: by the X-Storage headers, by the console's cookie, or by a signed address. With `live` they
 * came by headers or cookie, for live pictures.
 */
export type Way = 'headers' | 'session' | 'signed' | 'live'

/** Receives the limit of a bucket and the rest of it, also when it is empty. */
export type TellRate = (rate: { bucket: string; limit: number; left: number; seconds: number }) => void

type AdmissionNeeds = {
  window: SlidingWindow
  strangerWork: StrangerWork
  rates: () => RateSettings
  names: Pick<ConfigNames, 'meanUser'>
}

/** Counts requests by caller and network. Each method throws RATE_LIMITED above the rate. */
export class Admission {
  readonly #needs: AdmissionNeeds

  constructor(needs: AdmissionNeeds) {
    this.#needs = needs
  }

  /** Counts one request without a caller; each kind has a separate bucket. */
  anybody(kind: 'public' | 'console' | 'witness', address: string, tell?: TellRate): void {
    this.#take(`${kind} ${networkOf(address)}`, kind === 'witness' ? witnessPerMinute : publicPerMinute, kind, tell)
  }

  /**
   * Bounds the processor time of requests without a caller, by network.
   * @returns takes the milliseconds that this request needed
   */
  stranger(address: string): (cpuMs: number) => void {
    const network = networkOf(address)
    const { strangerWork } = this.#needs
    const waitSeconds = strangerWork.waitSeconds(network)
    if (waitSeconds > 0) throw tooMany(waitSeconds)
    return (cpuMs) => strangerWork.spent(network, cpuMs)
  }

  /** Counts one refusal by network. Only refusals count there, so guesses never use up a colleague's rate. */
  refused(address: string): void {
    this.#take(`address ${networkOf(address)}`, this.#needs.rates().requestsPerMinute)
  }

  /** Counts one request of a verified caller. The console has a separate bucket beside the same user's scanner. */
  caller(caller: Caller, by: Way, tell?: TellRate): void {
    const identity = identityOf(caller)
    if (by === 'signed' || by === 'live') {
      this.#take(`${by} ${identity}`, by === 'signed' ? signedPerMinute : livePerMinute, by, tell)
      return
    }
    const [key, bucket] = by === 'session' ? ['console user', 'console-user'] : ['user', 'user']
    this.#take(`${key} ${identity}`, this.#limitOf(caller), bucket, tell)
  }

  #limitOf(caller: Caller): number {
    const { users, roles, requestsPerMinute } = this.#needs.rates()
    const own = Object.entries(users).find(([name]) => this.#needs.names.meanUser(name, caller))
    return own?.[1] ?? roles[caller.role] ?? requestsPerMinute
  }

  #take(key: string, limit: number, bucket = 'address', tell?: TellRate): void {
    const { waitSeconds, left, seconds } = this.#needs.window.takeAndTell(key, limit)
    tell?.({ bucket, limit, left, seconds })
    if (waitSeconds > 0) throw tooMany(waitSeconds)
  }
}

const tooMany = (waitSeconds: number) =>
  new AppError('RATE_LIMITED', 'Too many requests', {
    details: `try again in ${waitSeconds} s`,
    retryAfterSeconds: waitSeconds,
  })
