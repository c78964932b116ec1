import type { Clock } from '../platform/index.ts'
import { BasicBudget, type BasicTry, type TryEnd } from './basic-budget.ts'
import type { TryRecord } from './basic-tries.ts'
import { admit, afterFailure, type Breaker, closedBreaker } from './breaker.ts'
import { sameButForCase } from './credentials.ts'
import type { StorageAnswer, StorageClient } from './storage-client.ts'

/** How a storage server is, for health. */
export type ServerWellness = {
  readonly url: string
  /** How long it has not been well, in milliseconds; null while it answers in time. */
  readonly illForMs: number | null
  /** Whether it answers at all. */
  readonly answers: boolean
  /** Why the newest question has no answer; empty when it has one. */
  readonly why: string
}

/** Why nobody was asked: too many wrong passwords, of this asker or of others, or the server says so itself. */
export type Held = 'own-tries' | 'tries-of-all'

/** An answer, and how it came about. */
export type GateAnswer = StorageAnswer & {
  /** Whether the server took the secret as a bearer token; else as a Basic password. */
  readonly asBearer: boolean
  /** Whether the server knows the user by the login that was presented too: another case, an e-mail address. */
  readonly knowsLogin: boolean
  readonly held?: Held
}

export type Question = BasicTry & {
  readonly secret: string
  /** Whether the server is known to take it as a bearer token; then as Basic it could only be wrong. */
  readonly wasBearer: boolean
  /** Whom the server is known to take the credential for. */
  readonly wasOf: string | undefined
  /** Whether the login was sent with the secret; a bearer token comes without one. */
  readonly hasLogin: boolean
}

/** How a server that is not well has been. */
export type Trouble = { readonly kind: 'down' | 'slow'; readonly sinceMs: number; readonly why: string }

/** What HTTP lets through as a bearer token. */
const tokenForm = /^[A-Za-z0-9._~+/-]+=*$/
const slowFromMs = 2000
/** A server that is not well for this long makes the gateway degraded. */
const noticedAfterMs = 60_000

/** The way to one storage server: first as bearer token, then once as Basic password; not at all while it fails. */
export class StorageGate {
  readonly #url: string
  readonly #client: StorageClient
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #onChange: (before: Trouble | undefined, now: Trouble | undefined) => void
  readonly #basic: BasicBudget
  #breaker: Breaker = closedBreaker
  #lastAskedMs = Number.NEGATIVE_INFINITY
  #trouble: Trouble | undefined

  constructor(options: {
    url: string
    client: StorageClient
    clock: Pick<Clock, 'monotonic'>
    record: TryRecord
    /** Called when it begins to be down, or slow, or is well again. */
    onChange: (before: Trouble | undefined, now: Trouble | undefined) => void
  }) {
    this.#url = options.url
    this.#client = options.client
    this.#clock = options.clock
    this.#onChange = options.onChange
    this.#basic = new BasicBudget(options)
  }

  /** Milliseconds until it is asked again; 0: now. */
  get closedForMs(): number {
    if (this.#breaker.state === 'closed') return 0
    return Math.max(this.#breaker.openUntilMs - this.#clock.monotonic(), this.#breaker.isProbing ? 1000 : 0)
  }

  get isOpen(): boolean {
    return this.#breaker.state === 'open'
  }

  /** What is wrong with it, once it has been so for a minute. */
  get trouble(): Trouble | undefined {
    const isNoticed = this.#trouble && this.#clock.monotonic() - this.#trouble.sinceMs >= noticedAfterMs
    return isNoticed ? this.#trouble : undefined
  }

  /** For health. */
  get wellness(): ServerWellness {
    const trouble = this.#trouble
    const illForMs = trouble ? this.#clock.monotonic() - trouble.sinceMs : null
    return { url: this.#url, illForMs, answers: trouble?.kind !== 'down', why: trouble?.why ?? '' }
  }

  async verify(question: Question): Promise<GateAnswer> {
    if (tokenForm.test(question.secret)) {
      const answer = await this.#ask(`Bearer ${question.secret}`)
      if (answer.kind === 'verified') return this.#withLogin(answer, question)
      if (answer.kind !== 'wrong' || question.wasBearer) return { ...answer, asBearer: true, knowsLogin: false }
    }
    return { ...(await this.#asBasic(question)), asBearer: false }
  }

  /** Asks without a credential whether the server is there, unless somebody has just asked. */
  async look(idleMs: number): Promise<void> {
    if (!this.isOpen && !this.#trouble && this.#clock.monotonic() - this.#lastAskedMs < idleMs) return
    await this.#ask(undefined)
  }

  /**
   * A bearer token says whose it is, but not whether the login that came with it is that user's. Where the name does not
   * show it (the login of a directory, a second e-mail address), the server is asked once by login.
   */
  async #withLogin(answer: StorageAnswer & { kind: 'verified' }, question: Question): Promise<GateAnswer> {
    const { login, wasOf, hasLogin } = question
    const { username, email } = answer
    const asToken = { ...answer, asBearer: true }
    if (username === wasOf || login === username) return { ...asToken, knowsLogin: true }
    if (email !== undefined && sameButForCase(login, email)) return { ...asToken, knowsLogin: true }
    if (!hasLogin) return { ...asToken, knowsLogin: false }
    if (sameButForCase(login, username)) return { ...asToken, knowsLogin: true }
    const byLogin = await this.#asBasic(question)
    if (byLogin.kind === 'unclear') return { ...byLogin, asBearer: true }
    return { ...asToken, knowsLogin: byLogin.kind === 'verified' && byLogin.username === username }
  }

  async #asBasic(question: Question): Promise<Omit<GateAnswer, 'asBearer'> & StorageAnswer> {
    const { login, secret } = question
    if (login.includes(':')) return { kind: 'wrong', knowsLogin: false }
    const authorization = `Basic ${Buffer.from(`${login}:${secret}`, 'utf8').toString('base64')}`
    const result = await this.#basic.run(question, () => this.#ask(authorization), endOf)
    if ('spent' in result) {
      const { waitMs, isOwnFault } = result.spent
      const held = isOwnFault ? 'own-tries' : 'tries-of-all'
      return { ...notAsked('its lock-out is near', waitMs), knowsLogin: false, held }
    }
    const { answer } = result
    const isLockOut = answer.kind === 'unclear' && answer.isLockOut
    if (isLockOut) this.#basic.lockedOut(answer.retryAfterMs)
    return { ...answer, knowsLogin: answer.kind === 'verified', ...(isLockOut && { held: 'tries-of-all' as const }) }
  }

  async #ask(authorization: string | undefined): Promise<StorageAnswer> {
    const { may, next } = admit(this.#breaker, this.#clock.monotonic())
    if (!may) return notAsked('it has not answered lately', this.closedForMs)
    this.#breaker = next
    const startedMs = this.#clock.monotonic()
    this.#lastAskedMs = startedMs
    const answer = await this.#client.ask(this.#url, authorization)
    const nowMs = this.#clock.monotonic()
    const isThere = answer.kind !== 'unclear' || (answer.isLockOut && authorization?.startsWith('Basic ') === true)
    if (isThere) this.#breaker = closedBreaker
    else this.#breaker = afterFailure(this.#breaker, nowMs, answer.retryAfterMs)
    const tookMs = nowMs - startedMs
    if (!isThere) this.#isTroubled('down', answer.why, nowMs)
    else if (tookMs > slowFromMs) this.#isTroubled('slow', `answered after ${(tookMs / 1000).toFixed(1)} s`, nowMs)
    else this.#change(undefined)
    return answer
  }

  #isTroubled(kind: Trouble['kind'], why: string, nowMs: number): void {
    this.#change({ kind, why, sinceMs: this.#trouble?.sinceMs ?? nowMs })
  }

  #change(now: Trouble | undefined): void {
    const before = this.#trouble
    this.#trouble = now
    if (before?.kind !== now?.kind) this.#onChange(before, now)
  }
}

function endOf(answer: StorageAnswer): TryEnd {
  if (answer.kind === 'verified') return 'right'
  if (answer.kind === 'wrong') return 'wrong'
  return answer.mayCount ? 'maybe-counted' : 'not-counted'
}

const notAsked = (why: string, retryAfterMs: number): StorageAnswer & { kind: 'unclear' } => ({
  kind: 'unclear',
  why: `not asked: ${why}`,
  isLockOut: false,
  retryAfterMs,
  mayCount: false,
})
