import {
  type Authenticator,
  hashOfToken,
  longestSessionMs,
  newSessionToken,
  openCredential,
  Recent,
  sealCredential,
} from '../../auth/index.ts'
import { ExpiryClock } from '../../clock/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller } from '../../http/index.ts'
import type { Clock, RandomBytes } from '../../platform/index.ts'
import type { HubDatabase } from '../store/database.ts'
import { beginSession, endSession, findSession, moveSession, newestUseMs, type PageSession } from './store.ts'

/** A session ends this long after its last use. */
const idleMs = 12 * 3_600_000
/** The expiry is moved in steps of this, so that not every request writes. */
const stepMs = 5 * 60_000
/** Sign-ins of one account that are kept; one more ends the oldest. */
const mostOfAccount = 200
const tokensInMemory = 10_000

/** `instance`: who verifies the name; default: the head office itself. */
type SignIn = { readonly username: string; readonly secret: string; readonly instance?: string | undefined }

type PageSessionsNeeds = {
  readonly db: HubDatabase
  /** Never goes back: see `ExpiryClock`. */
  readonly clock: Pick<Clock, 'now'>
  readonly random: RandomBytes
  readonly authenticator: Pick<Authenticator, 'verify' | 'recall'>
  /** Value of X-Storage-Instance for the accounts of the config. */
  readonly instance: string
}

/** Keeps the sign-ins of browsers in the database, so that they survive a restart; found by the hash of the cookie's token. */
export class PageSessions {
  readonly #needs: PageSessionsNeeds
  /** Hashes of tokens that were right lately. */
  readonly #lately = new Recent<true>(tokensInMemory)

  constructor(needs: PageSessionsNeeds) {
    this.#needs = needs
  }

  /** Makes the clock of the sessions go on from the newest time that is stored. */
  static async open({ clock, ...needs }: Omit<PageSessionsNeeds, 'clock'> & { readonly clock: Clock }) {
    return new PageSessions({ ...needs, clock: new ExpiryClock(clock, await newestUseMs(needs.db, idleMs)) })
  }

  /** Exchanges user name and secret for the token of a new session. Throws what `Authenticator.verify` throws. */
  async begin({ instance = this.#needs.instance, ...signIn }: SignIn, address: string) {
    const { db, clock, random, authenticator } = this.#needs
    // A pasted name often has a space at its end.
    const named = { username: signIn.username.trim(), secret: signIn.secret }
    const { caller, mark } = await authenticator.verify(
      { scheme: 'bearer', instance, ...named, isTyped: true },
      address,
    )
    const token = newSessionToken(random)
    const madeAtMs = clock.now()
    const session = {
      instance: caller.instance,
      username: caller.username,
      mark: mark ?? Buffer.alloc(0),
      sealed: mark ? null : sealCredential(token, named, caller, random),
      madeAtMs,
      expiresAtMs: madeAtMs + idleMs,
    }
    const hash = hashOfToken(token)
    await beginSession(db, hash, session, mostOfAccount)
    this.#lately.set(hash.toString('base64'), true)
    return { token, caller }
  }

  /**
   * Returns the caller of a live session as the account is now, otherwise undefined. Extends the session. Throws
   * AUTH_BACKEND_UNREACHABLE when the storage server does not answer and its last yes is too old.
   */
  async callerOf(token: string, address: string): Promise<Caller | undefined> {
    const { db, clock } = this.#needs
    const hash = hashOfToken(token)
    const session = await findSession(db, hash)
    const nowMs = clock.now()
    const isLive = session !== undefined && session.expiresAtMs > nowMs
    const caller = isLive ? await this.#standing(session, token, address) : undefined
    if (!caller || !isLive) {
      this.#lately.delete(hash.toString('base64'))
      // An expired one stays ended, whatever the clock shows after a restart.
      if (session && !isLive) await endSession(db, hash, nowMs)
      return undefined
    }
    this.#lately.set(hash.toString('base64'), true)
    await this.#extend(hash, session, nowMs)
    return caller
  }

  /** Verifies the account of a session again: by its mark, or by presenting the sealed credential. */
  async #standing({ instance, username, mark, sealed }: PageSession, token: string, address: string) {
    const { authenticator, random } = this.#needs
    if (!sealed) {
      const account = authenticator.recall(username, instance)
      return account?.mark?.equals(mark) ? account.caller : undefined
    }
    try {
      const credential = openCredential(token, sealed, random)
      return (await authenticator.verify({ ...credential, username, instance }, address)).caller
    } catch (error) {
      // 403: the user is in none of the groups any more.
      if (error instanceof AppError && error.status !== 401 && error.status !== 403) throw error
      return undefined
    }
  }

  async #extend(hash: Buffer, { madeAtMs, expiresAtMs }: PageSession, nowMs: number): Promise<void> {
    const nextMs = Math.min(nowMs + idleMs, madeAtMs + longestSessionMs)
    if (nextMs - expiresAtMs >= stepMs) await moveSession(this.#needs.db, hash, nextMs)
  }

  /** Says, without a look into the database, whether this token was right lately. Guesses of a neighbour must not bar it. */
  wasRight(token: string): boolean {
    return this.#lately.get(hashOfToken(token).toString('base64')) === true
  }

  async end(token: string): Promise<void> {
    const hash = hashOfToken(token)
    this.#lately.delete(hash.toString('base64'))
    await endSession(this.#needs.db, hash, this.#needs.clock.now())
  }
}
