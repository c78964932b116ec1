import { type Authenticator, hashOfToken, longestSessionMs, newSessionToken } from '../../auth/index.ts'
import type { Caller } from '../../http/index.ts'
import type { Clock, RandomBytes } from '../../platform/index.ts'
import type { HubDatabase } from '../store/database.ts'
import { beginSession, endSession, findSession, moveSession, type PageSession } from './store.ts'

/** A session ends this long after its last use. */
const idleMs = 12 * 3_600_000
/** The expiry is moved in steps of this, so that not every request writes. */
const stepMs = 5 * 60_000
/** Sign-ins of one account that are kept; one more ends the oldest. */
const mostOfAccount = 200

type PageSessionsNeeds = {
  readonly db: HubDatabase
  readonly clock: Pick<Clock, 'now'>
  readonly random: RandomBytes
  readonly authenticator: Pick<Authenticator, 'verify' | 'recall'>
  /** What X-Storage-Instance says of the accounts of the config. */
  readonly instance: string
}

/** Keeps the sign-ins of browsers in the database, so that they survive a restart; found by the hash of the cookie's token. */
export class PageSessions {
  readonly #needs: PageSessionsNeeds

  constructor(needs: PageSessionsNeeds) {
    this.#needs = needs
  }

  /** Exchanges user name and secret for the token of a new session. Throws what `Authenticator.verify` throws. */
  async begin({ username, secret }: { readonly username: string; readonly secret: string }, address: string) {
    const { db, clock, random, authenticator, instance } = this.#needs
    // A pasted name often has a space at its end.
    const presented = { scheme: 'bearer', instance, username: username.trim(), secret, isTyped: true } as const
    const { caller, mark = Buffer.alloc(0) } = await authenticator.verify(presented, address)
    const token = newSessionToken(random)
    const madeAtMs = clock.now()
    const session = { username: caller.username, mark, madeAtMs, expiresAtMs: madeAtMs + idleMs }
    await beginSession(db, hashOfToken(token), session, mostOfAccount)
    return { token, caller }
  }

  /** Returns the caller of a live session as the config has the account now, otherwise undefined. Extends the session. */
  async callerOf(token: string): Promise<Caller | undefined> {
    const { db, clock, authenticator, instance } = this.#needs
    const hash = hashOfToken(token)
    const session = await findSession(db, hash)
    const nowMs = clock.now()
    if (!session || session.expiresAtMs <= nowMs) return undefined
    const account = authenticator.recall(session.username, instance)
    if (!account?.mark || !session.mark.equals(account.mark)) return undefined
    await this.#extend(hash, session, nowMs)
    return account.caller
  }

  async #extend(hash: Buffer, { madeAtMs, expiresAtMs }: PageSession, nowMs: number): Promise<void> {
    const nextMs = Math.min(nowMs + idleMs, madeAtMs + longestSessionMs)
    if (nextMs - expiresAtMs >= stepMs) await moveSession(this.#needs.db, hash, nextMs)
  }

  async end(token: string): Promise<void> {
    await endSession(this.#needs.db, hashOfToken(token), this.#needs.clock.now())
  }
}
