import { isoTime } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { builtStatement, hubStatement, sql } from '../store/statement.ts'

const newEnrolment = builtStatement(
  'put-enrolment',
  { codeHash: 'bytea', siteId: 'text', name: 'text', madeAt: 'timestamptz', expiresAt: 'timestamptz' },
  ({ codeHash, siteId, name, madeAt, expiresAt }) =>
    sql
      .insertInto('enrolment')
      .values({ code_hash: codeHash, site_id: siteId, name, made_at: madeAt, expires_at: expiresAt }),
)
const usedEnrolment = builtStatement(
  'use-enrolment',
  { codeHash: 'bytea', siteId: 'text', at: 'timestamptz' },
  ({ codeHash, siteId, at }) =>
    sql
      .updateTable('enrolment')
      .set({ used_at: at })
      .where('code_hash', '=', codeHash)
      .where('site_id', '=', siteId)
      .where('used_at', 'is', null)
      .where('expires_at', '>', at)
      .returning('name'),
)
const newSite = builtStatement(
  'put-site',
  { siteId: 'text', name: 'text', timezone: 'text' },
  ({ siteId, name, timezone }) =>
    sql
      .insertInto('site')
      .values({ site_id: siteId, name, timezone })
      .onConflict((on) =>
        on.column('site_id').doUpdateSet((row) => ({
          name: row.ref('excluded.name'),
          timezone: row.ref('excluded.timezone'),
        })),
      ),
)
const newLog = builtStatement(
  'put-log',
  { logId: 'uuid', siteId: 'text', origin: 'text', vkeys: 'text[]', at: 'timestamptz' },
  ({ logId, siteId, origin, vkeys, at }) =>
    sql
      .insertInto('log')
      .values({ log_id: logId, site_id: siteId, origin, vkeys, enrolled_at: at })
      .onConflict((on) => on.column('log_id').doNothing()),
)
const knownLog = hubStatement(
  'enrolled-log',
  `SELECT l.site_id, coalesce(h.vkeys, l.vkeys) AS vkeys FROM log l
   LEFT JOIN log_head h ON h.log_id = l.log_id AND h.log_id = $1 WHERE l.log_id = $1`,
)
const revivedLogs = hubStatement('revive-logs', 'UPDATE log SET retired_at = NULL WHERE log_id = ANY($1::uuid[])')
const newToken = builtStatement(
  'put-token',
  { tokenHash: 'bytea', siteId: 'text', at: 'timestamptz' },
  ({ tokenHash, siteId, at }) =>
    sql.insertInto('gateway_token').values({ token_hash: tokenHash, site_id: siteId, made_at: at }),
)

export type NewEnrolment = {
  readonly codeHash: Buffer
  readonly siteId: string
  readonly name: string
  readonly madeAtMs: number
  readonly expiresAtMs: number
}

export async function putEnrolment(tx: HubTx, made: NewEnrolment): Promise<void> {
  const { madeAtMs, expiresAtMs, ...facts } = made
  await tx.rows(newEnrolment, { ...facts, madeAt: isoTime(madeAtMs), expiresAt: isoTime(expiresAtMs) })
}

/** Uses a code up. Returns the name that the site was given; undefined when the code is wrong, of another site, used or too old. */
export async function useEnrolment(tx: HubTx, codeHash: Buffer, siteId: string, nowMs: number) {
  const [row] = await tx.rows(usedEnrolment, { codeHash, siteId, at: isoTime(nowMs) })
  return row?.name
}

export async function putSite(tx: HubTx, site: { siteId: string; name: string; timezone: string }): Promise<void> {
  await tx.rows(newSite, site)
}

export type EnrolledLog = {
  readonly logId: string
  readonly siteId: string
  readonly origin: string
  readonly vkeys: readonly string[]
}

export async function putLog(tx: HubTx, log: EnrolledLog, nowMs: number): Promise<void> {
  await tx.rows(newLog, { ...log, at: isoTime(nowMs) })
}

export async function findEnrolledLog(tx: HubTx, logId: string) {
  const [row] = await tx.rows<{ site_id: string; vkeys: string[] }>(knownLog, [logId])
  return row
}

/** A log that was retired, and those that it continues, count again. */
export async function reviveLogs(tx: HubTx, logIds: readonly string[]): Promise<void> {
  await tx.rows(revivedLogs, [logIds])
}

export async function putToken(tx: HubTx, tokenHash: Buffer, siteId: string, nowMs: number): Promise<void> {
  await tx.rows(newToken, { tokenHash, siteId, at: isoTime(nowMs) })
}
