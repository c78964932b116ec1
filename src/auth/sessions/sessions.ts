import { isOidcInstance } from '../../config/index.ts'
import type { Tx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller, RequestOrigin } from '../../http/index.ts'
import { type Clock, networkOf, type RandomBytes } from '../../platform/index.ts'
import type { Authenticator } from '../authenticator.ts'
import { normaliseInstance } from '../credentials.ts'
import { factorWrong, isSteppedUp, type SecondFactors, type ShownFactor } from '../factors/second-factors.ts'
import type { FirstUses } from '../first-uses.ts'
import type { Admission } from '../rates/admission.ts'
import type { Tally } from '../rates/tally.ts'
import type { Refusals } from '../refusals.ts'
import type { GrantVerifier, Verified } from '../verifier.ts'
import { openCredential, sealCredential } from './credential.ts'
import { type OpenSession, openSessions } from './open-sessions.ts'
import { find, insert, moveExpiry, putFacts, remove, reseal } from './session-store.ts'
import { hashOfToken, newSessionToken, openFor, sealFor } from './token.ts'
import { isDiskFull, type SessionRow, UnstoredSessions } from './unstored.ts'

const hourMs = 3_600_000
/** A session ends this long after its last use: longer than a shift, shorter than a day. */
const idleMs = 12 * hourMs
/** A session ends this long after sign-in, used or not. */
export const longestSessionMs = 30 * 24 * hourMs
/** The expiry is moved in steps of this, so that not every request writes. */
const stepMs = 5 * 60_000

export type SignIn = ShownFactor & {
  readonly username: string
  readonly secret: string
  readonly instance?: string | undefined
}

type SessionsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly random: RandomBytes
  /** Counts sign-ins and sign-outs for the audit trail. */
  readonly tally: Tally
  readonly authenticator: Pick<Authenticator, 'verify' | 'recall' | 'knows'>
  readonly admission: Admission
  readonly refusals: Refusals
  readonly firstUses: FirstUses
  /** Absent where accounts have no second factor. */
  readonly secondFactors?: SecondFactors
  /** Absent where no OpenID provider can be configured. */
  readonly people?: GrantVerifier
  readonly siteUrl: () => string
}

/** Keeps console sessions as rows that survive a restart, found by the hash of the cookie's token. */
export class Sessions {
  readonly #needs: SessionsNeeds
  readonly #unstored = new UnstoredSessions()

  constructor(needs: SessionsNeeds) {
    this.#needs = needs
  }

  /**
   * Exchanges a credential for the token of a new session and ends this browser's earlier one.
   * Throws what `Authenticator.verify` throws, RATE_LIMITED, SECOND_FACTOR_REQUIRED or SECOND_FACTOR_WRONG.
   */
  async begin(signIn: SignIn, earlier: string | undefined, from: Omit<RequestOrigin, 'caller'>): Promise<Begun> {
    // A pasted name often has a space at its end.
    const named = { ...signIn, username: signIn.username.trim() }
    const verified = await this.#verify(named, from)
    const factorAtMs = await this.#factorOf(verified.caller, signIn, from)
    const seal = (token: string, caller: Caller) =>
      verified.mark ? null : sealCredential(token, named, caller, this.#needs.random)
    return this.#open(verified, { factorAtMs, seal }, earlier, from)
  }

  /**
   * Signs in by a passkey alone. `mayBeAlone` says whether the account may do so. Throws SECOND_FACTOR_WRONG, RATE_LIMITED.
   */
  async beginByPasskey(
    passkey: NonNullable<ShownFactor['passkey']>,
    mayBeAlone: (username: string) => boolean,
    earlier: string | undefined,
    from: Omit<RequestOrigin, 'caller'>,
  ): Promise<Begun> {
    const username = await this.#needs.secondFactors?.ownerOf(passkey)
    const isAllowed = username !== undefined && mayBeAlone(username)
    const verified = isAllowed
      ? this.#needs.authenticator.recall(username, normaliseInstance(this.#needs.siteUrl()) ?? '')
      : undefined
    if (!verified) throw this.#refused(factorWrong(), from, undefined)
    return this.#open(verified, { factorAtMs: this.#needs.clock.now(), seal: () => null }, earlier, from)
  }

  /**
   * Opens the session of a person of an OpenID provider.
   * @param shownAtMs when the person last signed in there; null: unknown
   */
  beginByGrant(
    { caller, grant, shownAtMs }: { caller: Caller; grant: string; shownAtMs: number | null },
    earlier: string | undefined,
    from: Omit<RequestOrigin, 'caller'>,
  ): Promise<Begun> {
    const seal = (token: string) => sealFor(token, grant, this.#needs.random)
    return this.#open({ caller }, { factorAtMs: shownAtMs, seal }, earlier, from)
  }

  /** Notes in the session that its owner has shown the second factor. */
  async steppedUp(token: string, atMs = this.#needs.clock.now()): Promise<void> {
    const hash = hashOfToken(token)
    const row = this.#find(hash)
    if (!row) return
    await this.#unlessFull(
      (tx) => putFacts(tx, hash, { address: row.address ?? '', factor_at_ms: atMs }),
      () => this.#unstored.begin(hash, { ...row, factor_at_ms: atMs }),
    )
  }

  /** Returns when the account showed its factor. A wrong one counts like a wrong secret. */
  async #factorOf(caller: Caller, shown: ShownFactor, from: Omit<RequestOrigin, 'caller'>): Promise<number | null> {
    try {
      return (await this.#needs.secondFactors?.atSignIn(caller, shown)) ?? null
    } catch (error) {
      const isWrong = error instanceof AppError && error.code === 'SECOND_FACTOR_WRONG'
      throw isWrong ? this.#refused(error, from, caller) : error
    }
  }

  /** Counts a refusal. */
  #refused(
    error: AppError,
    from: Omit<RequestOrigin, 'caller'>,
    who: Pick<Caller, 'username' | 'instance'> | undefined,
  ): AppError {
    this.#needs.refusals.note(error.code, from, who)
    this.#needs.admission.refused(from.address)
    return error
  }

  /** Opens the session of a verified caller. */
  async #open(
    { caller: verified, mark }: Verified,
    { factorAtMs, seal }: { factorAtMs: number | null; seal: (token: string, caller: Caller) => Buffer | null },
    earlier: string | undefined,
    from: Omit<RequestOrigin, 'caller'>,
  ): Promise<Begun> {
    const caller = this.#withFactor(atConsole(verified), factorAtMs)
    this.#needs.admission.caller(caller, 'session')
    const token = newSessionToken(this.#needs.random)
    const nowMs = this.#needs.clock.now()
    const row: SessionRow = {
      ...{ username: caller.username, instance: caller.instance, account_mark: mark ?? Buffer.alloc(0) },
      ...{ created_at_ms: nowMs, expires_at_ms: nowMs + idleMs },
      ...{ sealed: seal(token, caller), address: from.address, factor_at_ms: factorAtMs },
    }
    const hash = hashOfToken(token)
    await this.#unlessFull(
      (tx) => {
        if (earlier !== undefined) remove(tx, hashOfToken(earlier))
        insert(tx, hash, row, nowMs)
      },
      () => {
        if (earlier !== undefined) this.#unstored.end(hashOfToken(earlier))
        this.#unstored.begin(hash, row)
      },
    )
    this.#count('caller.signed_in', { ...from, caller })
    return { token, caller }
  }

  /**
   * Returns the caller of a live session as the account is now, otherwise undefined. Extends the session. Throws
   * AUTH_BACKEND_UNREACHABLE when the storage server does not answer and the last yes is too old.
   */
  async callerOf(token: string, from: Omit<RequestOrigin, 'caller'>): Promise<Caller | undefined> {
    const hash = hashOfToken(token)
    const row = this.#find(hash)
    if (!row) return undefined
    const nowMs = this.#needs.clock.now()
    const standing = row.expires_at_ms <= nowMs ? undefined : await this.#standing(row, token, from)
    const caller = standing && this.#withFactor(standing, row.factor_at_ms)
    if (!caller) {
      await this.#remove(hash)
      return undefined
    }
    const expiresAtMs = Math.min(nowMs + idleMs, row.created_at_ms + longestSessionMs)
    if (expiresAtMs - row.expires_at_ms >= stepMs) await this.#moveExpiry(hash, { ...row, expires_at_ms: expiresAtMs })
    return { ...caller, signIn: { kind: 'session', hash: hash.toString('base64url') } }
  }

  /** Returns whether the session of this hash has neither ended nor expired. It does not verify the account again. */
  isLive(hash: string): boolean {
    const row = this.#find(Buffer.from(hash, 'base64url'))
    return row !== undefined && row.expires_at_ms > this.#needs.clock.now()
  }

  /**
   * Signs out. An unknown token is accepted: the session may have ended before. Returns the address that signs the browser out at
   * the OpenID provider; undefined without one.
   */
  async end(token: string, by: RequestOrigin): Promise<string | undefined> {
    const hash = hashOfToken(token)
    const row = this.#find(hash)
    if (!(await this.#remove(hash))) return undefined
    this.#count('caller.signed_out', by)
    return row?.sealed && isOidcInstance(row.instance)
      ? this.#needs.people?.signedOut(this.#byGrant(row, row.sealed, token))
      : undefined
  }

  /** Lists the open sessions, the newest first. */
  list(): OpenSession[] {
    const stored = this.#needs.work.read((tx) => openSessions(tx, this.#needs.clock.now()))
    const unstored = this.#unstored.all().map(({ token_sha256, row }) => ({ ...row, token_sha256 }))
    const known = new Set(unstored.map(({ token_sha256 }) => token_sha256.toString('base64')))
    return [...unstored, ...stored.filter(({ token_sha256 }) => !known.has(token_sha256.toString('base64')))]
      .filter(({ token_sha256 }) => !this.#unstored.hasEnded(token_sha256))
      .toSorted((a, b) => b.created_at_ms - a.created_at_ms)
  }

  /** Ends sessions of anybody. @returns how many were open */
  async endAll(sessions: readonly OpenSession[]): Promise<number> {
    let ended = 0
    for (const { token_sha256 } of sessions) if (await this.#remove(token_sha256)) ended += 1
    return ended
  }

  /** Adds the state of the second factor. A caller whose role demands one, and who has none, may do nothing but set it up. */
  #withFactor(caller: Caller, shownAtMs: number | null): Caller {
    const secondFactor = isOidcInstance(caller.instance)
      ? isSteppedUp(shownAtMs, this.#needs.clock.now())
        ? undefined
        : 'stale'
      : this.#needs.secondFactors?.ofSession(caller, shownAtMs)
    if (secondFactor === undefined) return caller
    if (secondFactor === 'stale') return { ...caller, secondFactor }
    const withheld = 'the role needs a second factor; set one up at /people'
    return { ...caller, secondFactor, permissions: new Set(), withheld }
  }

  #find(hash: Buffer): SessionRow | undefined {
    if (this.#unstored.hasEnded(hash)) return undefined
    return this.#unstored.find(hash) ?? this.#needs.work.read((tx) => find(tx, hash))
  }

  /** Removes a session. @returns whether there was one */
  #remove(hash: Buffer): Promise<boolean> {
    if (this.#unstored.forget(hash)) return Promise.resolve(true)
    return this.#unlessFull(
      (tx) => remove(tx, hash),
      () => {
        const wasOpen = this.#find(hash) !== undefined
        this.#unstored.end(hash)
        return wasOpen
      },
    )
  }

  /** Extends the session. One that the full disk did not take is stored now, if there is room. */
  async #moveExpiry(hash: Buffer, row: SessionRow): Promise<void> {
    const isUnstored = this.#unstored.find(hash) !== undefined
    await this.#unlessFull(
      (tx) => {
        if (isUnstored) insert(tx, hash, row, this.#needs.clock.now())
        else moveExpiry(tx, hash, row.expires_at_ms)
      },
      () => {
        // So that not every request tries to write; a stored row stays as it is.
        if (isUnstored) this.#unstored.begin(hash, row)
      },
    )
    if (isUnstored && !this.#needs.work.diskFault) this.#unstored.forget(hash)
  }

  #count(action: 'caller.signed_in' | 'caller.signed_out', by: RequestOrigin): void {
    const { username, instance } = by.caller
    this.#needs.tally.note([username, instance, networkOf(by.address)], by, { action, entity: 'caller' })
  }

  /** Stores, or on a full disk keeps in memory, so that people can still sign in and read. */
  async #unlessFull<T>(store: (tx: Tx) => T, keep: () => T): Promise<T> {
    const { ended } = this.#unstored
    try {
      const { result } = await this.#needs.work.write((tx) => {
        for (const hash of ended) remove(tx, hash)
        return { result: store(tx) }
      })
      this.#unstored.removed(ended)
      return result
    } catch (error) {
      if (!isDiskFull(error)) throw error
      return keep()
    }
  }

  /** Verifies the session's account again: by its mark, or by presenting the stored credential. */
  async #standing(row: SessionRow, token: string, from: Omit<RequestOrigin, 'caller'>): Promise<Caller | undefined> {
    const { username, instance, account_mark: mark, sealed } = row
    if (!sealed) {
      const account = this.#needs.authenticator.recall(username, instance)
      return account?.mark?.equals(mark) ? account.caller : undefined
    }
    if (isOidcInstance(instance)) return this.#standingByGrant(row, sealed, token, from)
    try {
      const credential = openCredential(token, sealed, this.#needs.random)
      const { caller } = await this.#needs.authenticator.verify({ ...credential, username, instance }, from.address)
      if (caller.authMode === 'offline-cache') this.#needs.firstUses.note({ ...from, caller })
      return atConsole(caller)
    } catch (error) {
      if (error instanceof AppError && error.status !== 401) throw error
      return undefined
    }
  }

  async #standingByGrant(row: SessionRow, sealed: Buffer, token: string, from: Omit<RequestOrigin, 'caller'>) {
    const keep = (grant: string) => this.#reseal(hashOfToken(token), sealFor(token, grant, this.#needs.random))
    const caller = await this.#needs.people?.standing(this.#byGrant(row, sealed, token), keep)
    if (caller?.authMode === 'offline-cache') this.#needs.firstUses.note({ ...from, caller })
    return caller
  }

  #byGrant({ username, instance }: SessionRow, sealed: Buffer, token: string) {
    const grant = openFor(token, sealed, this.#needs.random)
    return { username, instance, grant, session: hashOfToken(token).toString('base64url') }
  }

  /** Stores a changed grant, if the session has not ended meanwhile. */
  async #reseal(hash: Buffer, sealed: Buffer): Promise<void> {
    const row = this.#find(hash)
    if (!row) return
    const isUnstored = this.#unstored.find(hash) !== undefined
    const inMemory = () => this.#unstored.begin(hash, { ...row, sealed })
    if (isUnstored) inMemory()
    else await this.#unlessFull((tx) => reseal(tx, hash, sealed), inMemory)
  }

  async #verify({ username, secret, instance }: SignIn, from: Omit<RequestOrigin, 'caller'>): Promise<Verified> {
    const named = instance ?? this.#needs.siteUrl()
    const presented = { scheme: 'bearer', username, secret, instance: named, isTyped: true } as const
    try {
      return await this.#needs.authenticator.verify(presented, from.address)
    } catch (error) {
      if (error instanceof AppError && error.status === 401) {
        // An unknown name may be a secret in the wrong field, so it is not stored.
        const isKnown = this.#needs.authenticator.knows(username, named)
        this.#needs.refusals.note(error.code, from, isKnown ? { username, instance: named } : undefined)
        this.#needs.admission.refused(from.address)
      }
      throw error
    }
  }
}

export type Begun = { readonly token: string; readonly caller: Caller }

/** Returns the caller with the console's mode; a stale caller keeps the mode of an outage. */
const atConsole = (caller: Caller): Caller =>
  caller.authMode === 'offline-cache' ? caller : { ...caller, authMode: 'session' }
