import { AppError } from '../../errors/index.ts'
import { type Clock, isoTime } from '../../platform/index.ts'
import { closeAlert } from '../ask/alerts-store.ts'
import { endAhead } from '../feed/ahead.ts'
import { formerLogs, raiseAlert } from '../feed/store.ts'
import type { HubDatabase } from '../store/database.ts'
import { builtStatement, hubStatement, sql } from '../store/statement.ts'

const logsOfSite = builtStatement('log-ids-of-site', { siteId: 'text' }, ({ siteId }) =>
  sql.selectFrom('log').select('log_id').where('site_id', '=', siteId).orderBy('enrolled_at'),
)
const siteOfLog = builtStatement('site-of-log', { logId: 'uuid' }, ({ logId }) =>
  sql.selectFrom('log').select('site_id').where('log_id', '=', logId),
)
const retired = hubStatement(
  'retire-logs',
  'UPDATE log SET retired_at = $2 WHERE log_id = ANY($1::uuid[]) AND retired_at IS NULL RETURNING log_id',
)
const revoked = builtStatement('revoke-tokens', { siteId: 'text', at: 'timestamptz' }, ({ siteId, at }) =>
  sql
    .updateTable('gateway_token')
    .set({ revoked_at: at })
    .where('site_id', '=', siteId)
    .where('revoked_at', 'is', null)
    .returning('site_id'),
)
const endedCodes = builtStatement('end-codes', { siteId: 'text' }, ({ siteId }) =>
  sql
    .updateTable('enrolment')
    .set((row) => ({ expires_at: row.ref('made_at') }))
    .where('site_id', '=', siteId)
    .where('used_at', 'is', null)
    .whereRef('expires_at', '>', 'made_at')
    .returning('site_id'),
)

/** The actor and the reason. */
export type Explained = { readonly by: string; readonly reason: string | null }

export type Retired = {
  readonly siteId: string
  readonly logs: readonly string[]
  readonly tokens: number
  readonly codes: number
}

type RetirementNeeds = { readonly db: HubDatabase; readonly clock: Pick<Clock, 'now'> }

/** Ends what a box or a whole site may do here. Nothing that it sent is lost; each act stays in the list of alerts, closed. */
export class RetirementService {
  readonly #needs: RetirementNeeds

  constructor(needs: RetirementNeeds) {
    this.#needs = needs
  }

  /** Retires the log of a box that was replaced, and those that it continues. Throws NOT_FOUND for one that is not known. */
  async retireLog(logId: string, why: Explained): Promise<Retired> {
    const [log] = await this.#needs.db.rows(siteOfLog, { logId })
    if (!log) throw AppError.notFound('Log')
    const logs = await this.#retire([logId, ...(await formerLogs(this.#needs.db, logId))], why)
    return { siteId: log.site_id, logs, tokens: 0, codes: 0 }
  }

  /** Retires all logs of a site that is closed, revokes its tokens and ends its codes. Throws NOT_FOUND for one that is not known. */
  async retireSite(siteId: string, why: Explained): Promise<Retired> {
    const { tokens, codes } = await this.revoke(siteId, why)
    return { siteId, logs: await this.#retire(await this.#logsOf(siteId), why), tokens, codes }
  }

  /**
   * Revokes every token of a site and ends its unused codes: no gateway feeds for it before it joins anew. Before its first gateway has
   * joined a site has codes only, and no list of alerts. Throws NOT_FOUND for a site that has nothing at all.
   */
  async revoke(siteId: string, { by, reason }: Explained): Promise<Retired> {
    const at = isoTime(this.#needs.clock.now())
    const tokens = (await this.#needs.db.rows(revoked, { siteId, at })).length
    const codes = (await this.#needs.db.rows(endedCodes, { siteId })).length
    const isEnded = tokens + codes > 0
    const newest = (await this.#logsOf(siteId)).at(-1)
    if (newest === undefined && !isEnded) throw AppError.notFound('Site')
    if (newest !== undefined && isEnded) await this.#note(newest, 'site.revoked', { by, reason, tokens, codes })
    return { siteId, logs: [], tokens, codes }
  }

  async #logsOf(siteId: string): Promise<string[]> {
    return (await this.#needs.db.rows(logsOfSite, { siteId })).map(({ log_id }) => log_id)
  }

  async #retire(logIds: readonly string[], { by, reason }: Explained): Promise<string[]> {
    const rows = await this.#needs.db.rows<{ log_id: string }>(retired, [logIds, isoTime(this.#needs.clock.now())])
    for (const { log_id } of rows) {
      await this.#needs.db.transaction(async (tx) => endAhead(tx, log_id, this.#needs.clock.now()))
      await this.#note(log_id, 'log.retired', { by, reason })
    }
    return rows.map(({ log_id }) => log_id)
  }

  async #note(
    logId: string,
    type: string,
    detail: { readonly by: string; readonly [more: string]: unknown },
  ): Promise<void> {
    const atMs = this.#needs.clock.now()
    const id = `${type}.${isoTime(atMs)}`
    await this.#needs.db.transaction(async (tx) => raiseAlert(tx, logId, { id, type, severity: 'info', detail }, atMs))
    await closeAlert(this.#needs.db, logId, id, { atMs, name: detail.by })
  }
}
