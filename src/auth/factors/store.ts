import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, type RowOf, type Tx } from '../../database/index.ts'
import { sql, tables } from '../tables.ts'

export type FactorRow = RowOf<typeof tables.second_factor>

const named = pick(tables.second_factor, 'username')
const factors = built(named, ({ username }) =>
  sql.selectFrom('second_factor').selectAll().where('username', '=', username).orderBy('id'),
)
const anyFactor = built(named, ({ username }) =>
  sql.selectFrom('second_factor').select('id').where('username', '=', username).limit(raw.lit(1)),
)
const passkey = built({ credential_id: tables.recovery_code.username }, ({ credential_id }) =>
  // The index has no rows without one, and SQLite finds it by these words.
  sql
    .selectFrom('second_factor')
    .selectAll()
    .where('credential_id', 'is not', null)
    .where('credential_id', '=', credential_id),
)
const newFactor = built(
  pick(tables.second_factor, 'username', 'kind', 'name', 'credential_id', 'secret', 'counter', 'created_at_ms'),
  (row) => sql.insertInto('second_factor').values(row),
)
const used = built({ id: integer, counter: integer, used_at_ms: integer }, ({ id, ...use }) =>
  sql.updateTable('second_factor').set(use).where('id', '=', id),
)
const withoutFactor = built({ ...named, id: integer }, ({ id, username }) =>
  sql.deleteFrom('second_factor').where('id', '=', id).where('username', '=', username),
)
const withoutFactors = built(named, ({ username }) => sql.deleteFrom('second_factor').where('username', '=', username))
const newCode = built(tables.recovery_code, (row) => sql.insertInto('recovery_code').values(row))
const withoutCode = built(pick(tables.recovery_code, 'code_sha256'), ({ code_sha256 }) =>
  sql.deleteFrom('recovery_code').where('code_sha256', '=', code_sha256),
)
const withoutCodes = built(named, ({ username }) => sql.deleteFrom('recovery_code').where('username', '=', username))
const codes = built(named, ({ username }) =>
  sql.selectFrom('recovery_code').select('code_sha256').where('username', '=', username),
)

export const factorsOf = (tx: ReadTx, username: string): FactorRow[] => tx.all(factors, { username })
export const hasFactors = (tx: ReadTx, username: string): boolean => tx.get(anyFactor, { username }) !== undefined
export const findPasskey = (tx: ReadTx, credentialId: string): FactorRow | undefined =>
  tx.get(passkey, { credential_id: credentialId })
export const insertFactor = (tx: Tx, row: Omit<FactorRow, 'id' | 'used_at_ms'>): number => tx.run(newFactor, row).lastId
export const noteUse = (tx: Tx, id: number, counter: number, nowMs: number): void =>
  void tx.run(used, { id, counter, used_at_ms: nowMs })
export const removeFactor = (tx: Tx, username: string, id: number): boolean =>
  tx.run(withoutFactor, { username, id }).changes > 0
export const countCodes = (tx: ReadTx, username: string): number => tx.all(codes, { username }).length
/** Uses a recovery code up. @returns whether there was one */
export const takeCode = (tx: Tx, code_sha256: Buffer): boolean => tx.run(withoutCode, { code_sha256 }).changes > 0

/** Replaces the recovery codes of an account. */
export function putCodes(tx: Tx, username: string, marks: readonly Buffer[]): void {
  tx.run(withoutCodes, { username })
  for (const code_sha256 of marks) tx.run(newCode, { code_sha256, username })
}

/** Removes all factors and codes of an account. @returns whether it had a factor */
export function removeFactors(tx: Tx, username: string): boolean {
  tx.run(withoutCodes, { username })
  return tx.run(withoutFactors, { username }).changes > 0
}
