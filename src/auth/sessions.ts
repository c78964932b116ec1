import type { Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import type { Clock, RandomBytes } from '../world/index.ts'
import type { Admission } from './admission.ts'
import type { Authenticator } from './authenticator.ts'
import type { FirstUses } from './first-uses.ts'
import type { Refusals } from './refusals.ts'
import { hashOfToken, newSessionToken, openFor, sealFor } from './session-token.ts'
import type { Verified } from './verifier.ts'

const hourMs = 3_600_000
/** A session ends this long after its last use: longer than a shift, shorter than until the next one of the day after. */
const idleMs = 12 * hourMs
/** And this long after sign-in, used or not. */
export const longestSessionMs = 30 * 24 * hourMs
/** The expiry is moved in steps of this, so that not every request writes. */
const stepMs = 5 * 60_000
/** Of one user at once; the oldest end. */
const mostOfOneUser = 200

type Row = {
  username: string
  instance: string
  /** Empty where the session rests on the sealed credential. */
  account_mark: Buffer
  created_at_ms: number
  expires_at_ms: number
  sealed: Buffer | null
}

export type SignIn = { readonly username: string; readonly secret: string; readonly instance?: string | undefined }

/** Who is signed in at the console: rows that survive a restart, found by the hash of the cookie's token. */
export class Sessions {
  readonly #work: UnitOfWork
  readonly #clock: Pick<Clock, 'now'>
  readonly #random: RandomBytes
  readonly #audit: AuditTrail
  readonly #authenticator: Pick<Authenticator, 'verify' | 'recall' | 'knows'>
  readonly #admission: Admission
  readonly #refusals: Refusals
  readonly #firstUses: FirstUses
  readonly #siteUrl: () => string

  constructor(options: {
    work: UnitOfWork
    clock: Pick<Clock, 'now'>
    random: RandomBytes
    audit: AuditTrail
    authenticator: Pick<Authenticator, 'verify' | 'recall' | 'knows'>
    admission: Admission
    refusals: Refusals
    firstUses: FirstUses
    siteUrl: () => string
  }) {
    this.#work = options.work
    this.#clock = options.clock
    this.#random = options.random
    this.#audit = options.audit
    this.#authenticator = options.authenticator
    this.#admission = options.admission
    this.#refusals = options.refusals
    this.#firstUses = options.firstUses
    this.#siteUrl = options.siteUrl
  }

  /**
   * Exchanges a credential for the token of a new session, which this browser's earlier one makes way for.
   * Throws what `Authenticator.verify` throws, or RATE_LIMITED.
   */
  async begin(signIn: SignIn, earlier: string | undefined, from: Omit<RequestOrigin, 'caller'>): Promise<Begun> {
    const { caller: verified, mark } = await this.#verify(signIn, from)
    const caller = atConsole(verified)
    this.#admission.caller(caller, 'session')
    const token = newSessionToken(this.#random)
    const sealed = mark ? undefined : sealFor(token, signIn.secret, this.#random)
    await this.#work.write((tx) => {
      if (earlier !== undefined) remove(tx, earlier)
      this.#insert(tx, token, caller, mark)
      if (sealed) tx.runOf('INSERT INTO console_session_secret VALUES (?, ?)', [hashOfToken(token), sealed])
      this.#audit.write(tx, { ...from, caller }, { action: 'caller.signed_in', entity: 'caller' })
    })
    return { token, caller }
  }

  /**
   * The caller of a live session as the account is now, undefined otherwise. Moves the expiry on. Throws
   * AUTH_BACKEND_UNREACHABLE when whoever vouched for the caller can't be asked, and has not lately.
   */
  async callerOf(token: string, from: Omit<RequestOrigin, 'caller'>): Promise<Caller | undefined> {
    const row = this.#work.read((tx) => find(tx, token))
    if (!row) return undefined
    const nowMs = this.#clock.now()
    const caller = row.expires_at_ms <= nowMs ? undefined : await this.#standing(row, token, from)
    if (!caller) {
      await this.#quietly((tx) => remove(tx, token))
      return undefined
    }
    const expiresAtMs = Math.min(nowMs + idleMs, row.created_at_ms + longestSessionMs)
    if (expiresAtMs - row.expires_at_ms >= stepMs) await this.#quietly((tx) => moveExpiry(tx, token, expiresAtMs))
    return caller
  }

  /** Signs out. A token of no session is fine: somebody was faster. */
  end(token: string, by: RequestOrigin): Promise<void> {
    return this.#work.write((tx) => {
      if (remove(tx, token)) this.#audit.write(tx, by, { action: 'caller.signed_out', entity: 'caller' })
    })
  }

  /** Whether the account still vouches for the session: by its mark, or by being shown the credential again. */
  async #standing(row: Row, token: string, from: Omit<RequestOrigin, 'caller'>): Promise<Caller | undefined> {
    const { username, instance, account_mark: mark, sealed } = row
    if (!sealed) {
      const account = this.#authenticator.recall(username, instance)
      return account?.mark?.equals(mark) ? account.caller : undefined
    }
    try {
      const secret = openFor(token, sealed, this.#random)
      const { caller } = await this.#authenticator.verify(
        { scheme: 'bearer', username, secret, instance },
        from.address,
      )
      if (caller.authMode === 'offline-cache') this.#firstUses.note({ ...from, caller })
      return atConsole(caller)
    } catch (error) {
      if (error instanceof AppError && error.status !== 401) throw error
      return undefined
    }
  }

  async #verify({ username, secret, instance }: SignIn, from: Omit<RequestOrigin, 'caller'>): Promise<Verified> {
    const named = instance ?? this.#siteUrl()
    const presented = { scheme: 'bearer', username, secret, instance: named, isTyped: true } as const
    try {
      return await this.#authenticator.verify(presented, from.address)
    } catch (error) {
      if (error instanceof AppError && error.status === 401) {
        // A name that nobody has may be a secret typed into the wrong field, so it is kept nowhere.
        const isKnown = this.#authenticator.knows(username, named)
        await this.#refusals.note(error.code, from, isKnown ? username : undefined)
        this.#admission.refused(from.address)
      }
      throw error
    }
  }

  #insert(tx: Tx, token: string, { username, instance }: Caller, mark: Buffer = Buffer.alloc(0)): void {
    const nowMs = this.#clock.now()
    tx.runOf('DELETE FROM console_session WHERE expires_at_ms <= +?', [nowMs])
    tx.runOf('INSERT INTO console_session VALUES (?, ?, ?, ?, ?, ?)', [
      hashOfToken(token),
      username,
      instance,
      mark,
      nowMs,
      nowMs + idleMs,
    ])
    tx.runOf(
      `DELETE FROM console_session WHERE token_sha256 IN (SELECT token_sha256 FROM console_session
         WHERE username = +? AND instance = +? ORDER BY expires_at_ms DESC, created_at_ms DESC LIMIT -1 OFFSET ?)`,
      [username, instance, mostOfOneUser],
    )
  }

  /** Housekeeping must not stop anybody who only wants to look, not even on a full disk. */
  async #quietly(work: (tx: Tx) => unknown): Promise<void> {
    await this.#work.write((tx) => void work(tx)).catch(() => {})
  }
}

export type Begun = { readonly token: string; readonly caller: Caller }

/** What an outage lets in stays told as such. */
const atConsole = (caller: Caller): Caller =>
  caller.authMode === 'offline-cache' ? caller : { ...caller, authMode: 'session' }

function find(tx: Pick<Tx, 'oneOf'>, token: string): Row | undefined {
  return tx.oneOf<Row>(
    `SELECT username, instance, account_mark, created_at_ms, expires_at_ms, sealed FROM console_session
       LEFT JOIN console_session_secret USING (token_sha256) WHERE token_sha256 = +?`,
    [hashOfToken(token)],
  )
}

function remove(tx: Tx, token: string): boolean {
  return tx.runOf('DELETE FROM console_session WHERE token_sha256 = +?', [hashOfToken(token)]).changes > 0
}

function moveExpiry(tx: Tx, token: string, expiresAtMs: number): void {
  tx.runOf('UPDATE console_session SET expires_at_ms = ? WHERE token_sha256 = +?', [expiresAtMs, hashOfToken(token)])
}
