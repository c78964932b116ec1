import { createHash } from 'node:crypto'
import type { OpenSession as Opened, Sessions } from '../auth/index.ts'
import type { UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, identityOf, type RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { isoTime } from '../platform/index.ts'
import type { OpenSession, SessionsToEnd } from './schema.ts'

type OpenSessionsNeeds = {
  readonly work: UnitOfWork
  readonly audit: AuditTrail
  readonly sessions: Pick<Sessions, 'list' | 'endAll'>
  readonly siteUrl: () => string
}

/** Lists and ends sessions of the console. Everybody has the own ones, and `accounts:manage` those of everybody. */
export class OpenSessions {
  readonly #needs: OpenSessionsNeeds

  constructor(needs: OpenSessionsNeeds) {
    this.#needs = needs
  }

  /** Lists open sessions, the newest first. @param current hash of the token of this request */
  list(caller: Caller, current: Buffer | undefined): OpenSession[] {
    return this.#visible(caller).map((session) => ({
      id: idOf(session),
      username: session.username,
      instance: session.instance,
      address: session.address,
      createdAt: isoTime(session.created_at_ms),
      expiresAt: isoTime(session.expires_at_ms),
      current: current !== undefined && session.token_sha256.equals(current),
    }))
  }

  /** Ends one session. Throws NOT_FOUND, also for one of somebody else. */
  async end(id: string, by: RequestOrigin): Promise<void> {
    const session = this.#visible(by.caller).find((one) => idOf(one) === id)
    if (!session || (await this.#needs.sessions.endAll([session])) === 0) throw AppError.notFound('Session')
    await this.#audit([session], by)
  }

  /**
   * Ends sessions together: the caller's other ones, those of one user, or those of everybody. Throws PERMISSION_DENIED.
   * @returns how many ended
   */
  async endMany(
    { username, instance, all = false }: SessionsToEnd,
    by: RequestOrigin,
    current: Buffer | undefined,
  ): Promise<number> {
    const whose = username === undefined ? by.caller : { username, instance: instance ?? this.#needs.siteUrl() }
    if (instance !== undefined && username === undefined) throw AppError.field('instance', 'needs username beside it')
    if (all && username !== undefined) throw AppError.field('all', 'has no username beside it')
    const isOfOthers = all || identityOf(whose) !== identityOf(by.caller)
    if (isOfOthers) demandManager(by.caller)
    const chosen = this.#needs.sessions
      .list()
      .filter((session) => all || identityOf(session) === identityOf(whose))
      .filter(({ token_sha256 }) => current === undefined || !token_sha256.equals(current))
    await this.#needs.sessions.endAll(chosen)
    await this.#audit(chosen, by)
    return chosen.length
  }

  #visible(caller: Caller): Opened[] {
    const open = this.#needs.sessions.list()
    if (caller.permissions.has('accounts:manage')) return open
    return open.filter((session) => identityOf(session) === identityOf(caller))
  }

  /** Writes one entry for each person whose sessions ended. */
  async #audit(ended: readonly Opened[], by: RequestOrigin): Promise<void> {
    if (ended.length === 0) return
    await this.#needs.work.write((tx) => {
      for (const [, [first, ...more]] of Map.groupBy(ended, identityOf)) {
        if (!first) continue
        const operator = { name: first.username, instance: first.instance }
        const changes = { sessions: 1 + more.length }
        this.#needs.audit.write(tx, by, { action: 'caller.sessions_ended', entity: 'caller', operator, changes })
      }
    })
  }
}

/** Names a session without anything that opens it. */
const idOf = ({ token_sha256 }: Opened): string =>
  createHash('sha256').update('session id').update(token_sha256).digest('hex').slice(0, 32)

function demandManager(caller: Caller): void {
  if (caller.permissions.has('accounts:manage')) return
  throw new AppError('PERMISSION_DENIED', 'These sessions are not yours to end', {
    details: `role ${caller.role} lacks accounts:manage`,
  })
}
