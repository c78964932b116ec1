import { isoTime } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'

const newEnrolment = hubStatement(
  'put-enrolment',
  'INSERT INTO enrolment (code_hash, site_id, name, made_at, expires_at) VALUES ($1, $2, $3, $4, $5)',
)
const usedEnrolment = hubStatement(
  'use-enrolment',
  `UPDATE enrolment SET used_at = $2 WHERE code_hash = $1 AND site_id = $3 AND used_at IS NULL AND expires_at > $2
   RETURNING name`,
)
const newSite = hubStatement(
  'put-site',
  `INSERT INTO site (site_id, name, timezone) VALUES ($1, $2, $3)
   ON CONFLICT (site_id) DO UPDATE SET name = excluded.name, timezone = excluded.timezone`,
)
const newLog = hubStatement(
  'put-log',
  `INSERT INTO log (log_id, site_id, origin, vkeys, enrolled_at) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (log_id) DO NOTHING`,
)
const knownLog = hubStatement(
  'enrolled-log',
  `SELECT l.site_id, coalesce(h.vkeys, l.vkeys) AS vkeys FROM log l
   LEFT JOIN log_head h ON h.log_id = l.log_id AND h.log_id = $1 WHERE l.log_id = $1`,
)
const revivedLogs = hubStatement('revive-logs', 'UPDATE log SET retired_at = NULL WHERE log_id = ANY($1::uuid[])')
const newToken = hubStatement(
  'put-token',
  'INSERT INTO gateway_token (token_hash, site_id, made_at) VALUES ($1, $2, $3)',
)

export type NewEnrolment = {
  readonly codeHash: Buffer
  readonly siteId: string
  readonly name: string
  readonly madeAtMs: number
  readonly expiresAtMs: number
}

export async function putEnrolment(tx: HubTx, made: NewEnrolment): Promise<void> {
  const { codeHash, siteId, name, madeAtMs, expiresAtMs } = made
  await tx.rows(newEnrolment, [codeHash, siteId, name, isoTime(madeAtMs), isoTime(expiresAtMs)])
}

/** Uses a code up. Returns the name that the site was given; undefined when the code is wrong, of another site, used or too old. */
export async function useEnrolment(tx: HubTx, codeHash: Buffer, siteId: string, nowMs: number) {
  const [row] = await tx.rows<{ name: string }>(usedEnrolment, [codeHash, isoTime(nowMs), siteId])
  return row?.name
}

export async function putSite(tx: HubTx, site: { siteId: string; name: string; timezone: string }): Promise<void> {
  await tx.rows(newSite, [site.siteId, site.name, site.timezone])
}

export type EnrolledLog = {
  readonly logId: string
  readonly siteId: string
  readonly origin: string
  readonly vkeys: readonly string[]
}

export async function putLog(tx: HubTx, { logId, siteId, origin, vkeys }: EnrolledLog, nowMs: number): Promise<void> {
  await tx.rows(newLog, [logId, siteId, origin, vkeys, isoTime(nowMs)])
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
  await tx.rows(newToken, [tokenHash, siteId, isoTime(nowMs)])
}
