import type { Clock } from '../world/index.ts'
import { BasicBudget, type BasicTry } from './basic-budget.ts'
import { admit, afterFailure, type Breaker, closedBreaker } from './breaker.ts'
import { type ServerWellness, WellnessOf } from './server-wellness.ts'
import type { StorageAnswer, StorageClient } from './storage-client.ts'

/** An answer, how the credential was presented, and whose fault it is that there is none. */
export type Asked = StorageAnswer & { readonly asBearer: boolean; readonly isOwnFault?: boolean }

export type Question = BasicTry & {
  readonly secret: string
  /** Whether the server is known to take it as a bearer token; then as Basic it could only be wrong. */
  readonly wasBearer: boolean
}

/** What HTTP lets through as a bearer token. */
const tokenForm = /^[A-Za-z0-9._~+/-]+=*$/
/** A server that does not answer for this long makes the gateway degraded. */
const downForMs = 60_000

/** The way to one storage server: first as bearer token, then once as Basic password; not at all while it fails. */
export class StorageGate {
  readonly #url: string
  readonly #client: StorageClient
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #onTrouble: (why: string) => void
  readonly #basic: BasicBudget
  readonly #wellness: WellnessOf
  #breaker: Breaker = closedBreaker
  #lastAskedMs = Number.NEGATIVE_INFINITY

  constructor(options: {
    url: string
    client: StorageClient
    clock: Pick<Clock, 'monotonic'>
    /** Told at the first failure of a row. */
    onTrouble: (why: string) => void
  }) {
    this.#url = options.url
    this.#client = options.client
    this.#clock = options.clock
    this.#onTrouble = options.onTrouble
    this.#basic = new BasicBudget(options)
    this.#wellness = new WellnessOf(options.url)
  }

  /** Milliseconds until it is asked again; 0: now. */
  get closedForMs(): number {
    if (this.#breaker.state === 'closed') return 0
    return Math.max(this.#breaker.openUntilMs - this.#clock.monotonic(), this.#breaker.isProbing ? 1000 : 0)
  }

  get isOpen(): boolean {
    return this.#breaker.state === 'open'
  }

  /** Whether it has not answered for so long that somebody should look. */
  get isDown(): boolean {
    const { failingSinceMs } = this.#breaker
    return failingSinceMs !== undefined && this.#clock.monotonic() - failingSinceMs >= downForMs
  }

  /** For health. */
  get wellness(): ServerWellness {
    return this.#wellness.at(this.#clock.monotonic())
  }

  async verify(question: Question): Promise<Asked> {
    const { secret, wasBearer } = question
    if (tokenForm.test(secret)) {
      const answer = { ...(await this.#ask(`Bearer ${secret}`)), asBearer: true }
      if (answer.kind !== 'wrong' || wasBearer) return answer
    }
    return { ...(await this.#asBasic(question)), asBearer: false }
  }

  /** Asks without a credential whether the server is there, unless somebody has just asked. */
  async look(idleMs: number): Promise<void> {
    const isWell = this.wellness.illForMs === null
    if (!this.isOpen && this.#breaker.failingSinceMs === undefined && isWell) {
      if (this.#clock.monotonic() - this.#lastAskedMs < idleMs) return
    }
    await this.#ask(undefined)
  }

  async #asBasic(question: Question): Promise<StorageAnswer & { isOwnFault?: boolean }> {
    const { login, secret } = question
    if (login.includes(':')) return { kind: 'wrong' }
    const { waitMs, isOwnFault } = this.#basic.wait(question)
    if (waitMs > 0) return { ...notAsked('its lock-out is near', waitMs), isOwnFault }
    const authorization = `Basic ${Buffer.from(`${login}:${secret}`, 'utf8').toString('base64')}`
    const answer = await this.#basic.run(
      question,
      () => this.#ask(authorization),
      ({ kind }) => kind === 'wrong',
    )
    if (answer.kind === 'unclear' && answer.isLockOut) this.#basic.lockedOut(answer.retryAfterMs)
    return answer
  }

  async #ask(authorization: string | undefined): Promise<StorageAnswer> {
    const { may, next } = admit(this.#breaker, this.#clock.monotonic())
    if (!may) return notAsked('it has not answered lately', this.closedForMs)
    this.#breaker = next
    const startedMs = this.#clock.monotonic()
    this.#lastAskedMs = startedMs
    const answer = await this.#client.ask(this.#url, authorization)
    const isThere = answer.kind !== 'unclear' || (answer.isLockOut && authorization?.startsWith('Basic '))
    this.#wellness.asked(
      startedMs,
      this.#clock.monotonic(),
      isThere || answer.kind !== 'unclear' ? undefined : answer.why,
    )
    if (isThere) this.#breaker = closedBreaker
    else {
      if (this.#breaker.failingSinceMs === undefined) this.#onTrouble(answer.why)
      this.#breaker = afterFailure(this.#breaker, this.#clock.monotonic(), answer.retryAfterMs)
    }
    return answer
  }
}

const notAsked = (why: string, retryAfterMs: number): StorageAnswer & { kind: 'unclear' } => ({
  kind: 'unclear',
  why: `not asked: ${why}`,
  isLockOut: false,
  retryAfterMs,
})
