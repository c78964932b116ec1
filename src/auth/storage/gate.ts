import { admit, afterFailure, type Breaker, closedBreaker } from '../../flow/index.ts'
import type { Clock } from '../../platform/index.ts'
import { sameButForCase } from '../credentials.ts'
import { BasicBudget, type BasicTry, type TryEnd } from '../rates/basic-budget.ts'
import type { TryRecord } from '../rates/basic-tries.ts'
import type { StorageAnswer, StorageClient } from './client.ts'

/** State of a storage server, for health. */
export type ServerWellness = {
  readonly url: string
  /** Milliseconds for which it has not been well; null while it answers in time. */
  readonly illForMs: number | null
  /** Whether it answers. */
  readonly answers: boolean
  /** Why the newest question has no answer; empty when it has one. */
  readonly why: string
}

/** Why the server was not asked: too many wrong passwords, of this asker or of all. */
export type Held = 'own-tries' | 'tries-of-all'

/** An answer and how it was found. */
export type GateAnswer = StorageAnswer & {
  /** Whether the server took the secret as a bearer token; else as a Basic password. */
  readonly asBearer: boolean
  /** Whether the server knows the user by the login that was presented too: another case, an e-mail address. */
  readonly knowsLogin: boolean
  readonly held?: Held
}

export type Question = BasicTry & {
  readonly secret: string
  /** Whether the server accepted it as a bearer token before; then it is not tried as a Basic password. */
  readonly wasBearer: boolean
  /** The user whom the server named for this credential before. */
  readonly wasOf: string | undefined
  /** Whether the login was sent with the secret; a bearer token comes without one. */
  readonly hasLogin: boolean
}

/** Kind of trouble with a server, its start (monotonic milliseconds), and the reason. */
export type Trouble = { readonly kind: 'down' | 'slow'; readonly sinceMs: number; readonly why: string }

/** The form of a bearer token in HTTP. */
const tokenForm = /^[A-Za-z0-9._~+/-]+=*$/
const slowFromMs = 2000
/** A server in trouble for this long makes the gateway degraded. */
const noticedAfterMs = 60_000

type StorageGateNeeds = {
  readonly url: string
  readonly client: StorageClient
  readonly clock: Pick<Clock, 'monotonic'>
  readonly record: TryRecord
  /** Called when the server becomes down, slow, or well. */
  readonly onChange: (before: Trouble | undefined, now: Trouble | undefined) => void
}

/**
 * Asks one storage server: first as bearer token, then once as Basic password; not at all while its breaker is open.
 */
export class StorageGate {
  readonly #needs: StorageGateNeeds
  readonly #basic: BasicBudget
  #breaker: Breaker = closedBreaker
  #lastAskedMs = Number.NEGATIVE_INFINITY
  #trouble: Trouble | undefined

  constructor(needs: StorageGateNeeds) {
    this.#needs = needs
    this.#basic = new BasicBudget(needs)
  }

  /** Returns milliseconds until it may be asked again; 0: now. */
  get closedForMs(): number {
    if (this.#breaker.state === 'closed') return 0
    return Math.max(this.#breaker.openUntilMs - this.#needs.clock.monotonic(), this.#breaker.isProbing ? 1000 : 0)
  }

  get isOpen(): boolean {
    return this.#breaker.state === 'open'
  }

  /** Returns what is wrong, once it has lasted for a minute. */
  get trouble(): Trouble | undefined {
    const isNoticed = this.#trouble && this.#needs.clock.monotonic() - this.#trouble.sinceMs >= noticedAfterMs
    return isNoticed ? this.#trouble : undefined
  }

  /** Returns the state for health. */
  get wellness(): ServerWellness {
    const trouble = this.#trouble
    const illForMs = trouble ? this.#needs.clock.monotonic() - trouble.sinceMs : null
    return { url: this.#needs.url, illForMs, answers: trouble?.kind !== 'down', why: trouble?.why ?? '' }
  }

  async verify(question: Question): Promise<GateAnswer> {
    if (tokenForm.test(question.secret)) {
      const answer = await this.#ask(`Bearer ${question.secret}`)
      if (answer.kind === 'verified') return this.#withLogin(answer, question)
      if (answer.kind !== 'wrong' || question.wasBearer) return { ...answer, asBearer: true, knowsLogin: false }
    }
    return { ...(await this.#asBasic(question)), asBearer: false }
  }

  /** Tests without a credential whether the server answers, unless it was asked within `idleMs`. */
  async look(idleMs: number): Promise<void> {
    if (!this.isOpen && !this.#trouble && this.#needs.clock.monotonic() - this.#lastAskedMs < idleMs) return
    await this.#ask(undefined)
  }

  /**
   * Finds out whether the presented login is the token's user. Where the name does not show it (a directory login, a
   * second e-mail address), the server is asked once by login.
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
    const { may, next } = admit(this.#breaker, this.#needs.clock.monotonic())
    if (!may) return notAsked('it has not answered lately', this.closedForMs)
    this.#breaker = next
    const startedMs = this.#needs.clock.monotonic()
    this.#lastAskedMs = startedMs
    const answer = await this.#needs.client.ask(this.#needs.url, authorization)
    const nowMs = this.#needs.clock.monotonic()
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
    if (before?.kind !== now?.kind) this.#needs.onChange(before, now)
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
