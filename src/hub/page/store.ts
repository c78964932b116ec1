import { isoTime } from '../../platform/index.ts'
import type { HubTx } from '../store/database.ts'
import { hubStatement } from '../store/statement.ts'

const begun = hubStatement(
  'begin-page-session',
  `INSERT INTO page_session (token_hash, instance, username, account_mark, sealed, made_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
)
// No row is ever deleted, so a new session takes the row of one that is over.
const reusable = hubStatement(
  'page-session-to-reuse',
  `SELECT token_hash FROM page_session WHERE ended_at IS NOT NULL OR expires_at <= $1
   ORDER BY expires_at, token_hash LIMIT 1`,
)
const oldest = hubStatement(
  'page-session-of-many',
  `SELECT token_hash FROM page_session WHERE instance = $1 AND username = $2
   ORDER BY made_at DESC, token_hash OFFSET $3 LIMIT 1`,
)
const reused = hubStatement(
  'reuse-page-session',
  `UPDATE page_session SET token_hash = $1, instance = $2, username = $3, account_mark = $4, sealed = $5, made_at = $6,
   expires_at = $7, ended_at = NULL WHERE token_hash = $8 RETURNING 1 AS reused`,
)
const found = hubStatement(
  'find-page-session',
  `SELECT instance, username, account_mark, sealed, made_at, expires_at FROM page_session
   WHERE token_hash = $1 AND ended_at IS NULL`,
)
const moved = hubStatement('move-page-session', 'UPDATE page_session SET expires_at = $2 WHERE token_hash = $1')
const ended = hubStatement(
  'end-page-session',
  'UPDATE page_session SET ended_at = $2, sealed = NULL WHERE token_hash = $1 AND ended_at IS NULL',
)

/** `mark`: of an account of the config. `sealed`: the credential of a user of a storage server. */
export type PageSession = {
  readonly instance: string
  readonly username: string
  readonly mark: Buffer
  readonly sealed: Buffer | null
  readonly madeAtMs: number
  readonly expiresAtMs: number
}

/** Stores a new session, in the row of one that is over; a name that has `most` of them loses its oldest. */
export async function beginSession(db: HubTx, tokenHash: Buffer, session: PageSession, most: number): Promise<void> {
  const { instance, username, mark, sealed, madeAtMs, expiresAtMs } = session
  const values = [tokenHash, instance, username, mark, sealed, isoTime(madeAtMs), isoTime(expiresAtMs)]
  type Row = { token_hash: Buffer }
  const [old] = [
    ...(await db.rows<Row>(oldest, [instance, username, most - 1])),
    ...(await db.rows<Row>(reusable, [isoTime(madeAtMs)])),
  ]
  // Another sign-in may have taken the same row meanwhile.
  const taken = old ? await db.rows(reused, [...values, old.token_hash]) : []
  if (taken.length === 0) await db.rows(begun, values)
}

/** Returns a session that no one has ended; it may have expired. */
export async function findSession(db: HubTx, tokenHash: Buffer): Promise<PageSession | undefined> {
  type Row = { instance: string; username: string; account_mark: Buffer; sealed: Buffer | null } & {
    made_at: Date
    expires_at: Date
  }
  const [row] = await db.rows<Row>(found, [tokenHash])
  if (!row) return undefined
  const times = { madeAtMs: row.made_at.getTime(), expiresAtMs: row.expires_at.getTime() }
  const { instance, username, account_mark: mark, sealed } = row
  return { instance, username, mark, sealed, ...times }
}

export async function moveSession(db: HubTx, tokenHash: Buffer, expiresAtMs: number): Promise<void> {
  await db.rows(moved, [tokenHash, isoTime(expiresAtMs)])
}

export async function endSession(db: HubTx, tokenHash: Buffer, atMs: number): Promise<void> {
  await db.rows(ended, [tokenHash, isoTime(atMs)])
}
