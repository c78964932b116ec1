import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, type Tx } from '../../database/index.ts'
import { sql, tables } from '../tables.ts'
import type { SessionRow } from './unstored.ts'

/** Sessions of one user at once; the oldest end first. */
const mostOfOneUser = 200

const session = built(pick(tables.console_session, 'token_sha256'), ({ token_sha256 }) =>
  sql
    .selectFrom('console_session as s')
    .leftJoin('console_session_secret as k', 'k.token_sha256', 's.token_sha256')
    .leftJoin('console_session_facts as f', 'f.token_sha256', 's.token_sha256')
    .select([
      's.username',
      's.instance',
      's.account_mark',
      's.created_at_ms',
      's.expires_at_ms',
      'k.sealed',
      'f.address',
      'f.factor_at_ms',
    ])
    .where('s.token_sha256', '=', token_sha256),
)
const newSession = built(tables.console_session, (row) => sql.insertInto('console_session').values(row))
const newSecret = built(tables.console_session_secret, (row) => sql.insertInto('console_session_secret').values(row))
const newSeal = built(tables.console_session_secret, ({ token_sha256, sealed }) =>
  sql.updateTable('console_session_secret').set({ sealed }).where('token_sha256', '=', token_sha256),
)
const newFacts = built(tables.console_session_facts, ({ token_sha256, ...facts }) =>
  sql
    .insertInto('console_session_facts')
    .values({ token_sha256, ...facts })
    .onConflict((on) => on.column('token_sha256').doUpdateSet(facts)),
)
const withoutExpired = built({ ms: integer }, ({ ms }) =>
  sql.deleteFrom('console_session').where('expires_at_ms', '<=', ms),
)
const withoutOldest = built(
  { ...pick(tables.console_session, 'username', 'instance'), kept: integer },
  ({ username, instance, kept }) =>
    sql.deleteFrom('console_session').where('token_sha256', 'in', ({ selectFrom }) =>
      selectFrom('console_session as s')
        .select('s.token_sha256')
        .where('s.username', '=', username)
        .where('s.instance', '=', instance)
        .orderBy('s.expires_at_ms', 'desc')
        .orderBy('s.created_at_ms', 'desc')
        // SQLite has no OFFSET without a LIMIT.
        .limit(raw.lit(-1))
        .offset(kept),
    ),
)
const withoutSession = built(pick(tables.console_session, 'token_sha256'), ({ token_sha256 }) =>
  sql.deleteFrom('console_session').where('token_sha256', '=', token_sha256),
)
const newExpiry = built(
  pick(tables.console_session, 'token_sha256', 'expires_at_ms'),
  ({ token_sha256, expires_at_ms }) =>
    sql.updateTable('console_session').set({ expires_at_ms }).where('token_sha256', '=', token_sha256),
)

export const find = (tx: ReadTx, hash: Buffer): SessionRow | undefined => tx.get(session, { token_sha256: hash })

export function insert(
  tx: Tx,
  hash: Buffer,
  { sealed, address, factor_at_ms, ...row }: SessionRow,
  nowMs: number,
): void {
  tx.run(withoutExpired, { ms: nowMs })
  tx.run(newSession, { token_sha256: hash, ...row })
  if (sealed) tx.run(newSecret, { token_sha256: hash, sealed })
  if (address !== null) putFacts(tx, hash, { address, factor_at_ms })
  tx.run(withoutOldest, { username: row.username, instance: row.instance, kept: mostOfOneUser })
}

export function putFacts(tx: Tx, hash: Buffer, facts: { address: string; factor_at_ms: number | null }): void {
  tx.run(newFacts, { token_sha256: hash, ...facts })
}

/** Replaces the sealed credential of a session that still exists. */
export function reseal(tx: Tx, hash: Buffer, sealed: Buffer): void {
  tx.run(newSeal, { token_sha256: hash, sealed })
}

export function remove(tx: Tx, hash: Buffer): boolean {
  return tx.run(withoutSession, { token_sha256: hash }).changes > 0
}

export function moveExpiry(tx: Tx, hash: Buffer, expiresAtMs: number): void {
  tx.run(newExpiry, { token_sha256: hash, expires_at_ms: expiresAtMs })
}
