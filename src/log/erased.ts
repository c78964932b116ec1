import { built, integer, maybe, pick, type ReadTx, statement, type Tx, text } from '../database/index.ts'
import { sql, tables } from './tables.ts'

const newIdentity = built(tables.erased_identity, (row) => sql.insertInto('erased_identity').values(row))
const newPerson = built(tables.erased_person, (row) => sql.insertInto('erased_person').values(row))
const withPrefix = statement({
  columns: pick(tables.erased_person, 'commitment'),
  sql: `SELECT commitment FROM erased_person WHERE commitment >= +? AND commitment < +? || 'g'`,
})
const newestWithMark = statement({
  columns: { commitment: maybe(text), erased_at_ms: integer },
  sql: `SELECT NULL AS commitment, erased_at_ms FROM erased_identity WHERE identity_mark = ?
    UNION ALL SELECT NULL, erased_at_ms FROM erased_identity WHERE name_mark = ?
    UNION ALL SELECT commitment, erased_at_ms FROM erased_person WHERE name_mark = ?
    ORDER BY erased_at_ms DESC, commitment LIMIT 1`,
})

const everyErasure = statement({
  columns: { mark: maybe(text), commitment: maybe(text), erased_at_ms: integer },
  sql: `SELECT identity_mark AS mark, NULL AS commitment, erased_at_ms FROM erased_identity WHERE erased_at_ms > ?
    UNION ALL SELECT NULL, commitment, erased_at_ms FROM erased_person WHERE erased_at_ms > ?
    ORDER BY erased_at_ms`,
})

const erasedCount = statement({
  columns: { n: integer },
  sql: 'SELECT (SELECT count(*) FROM erased_identity) + (SELECT count(*) FROM erased_person) AS n',
})
const everybodyErased = statement({
  columns: { person: maybe(integer), commitment: maybe(text) },
  sql: `SELECT person_id AS person, NULL AS commitment FROM erased_identity
    UNION ALL SELECT NULL, commitment FROM erased_person ORDER BY person, commitment LIMIT ? OFFSET ?`,
})

/** A mark proves that a name was erased before, and reveals no name. */
export type ErasedIdentity = {
  readonly personId: number
  readonly identityMark: string
  readonly nameMark: string
  readonly erasedAtMs: number
}

export function keepErasedIdentity(tx: Tx, erased: ErasedIdentity): void {
  const { personId, identityMark, nameMark, erasedAtMs } = erased
  tx.run(newIdentity, {
    person_id: personId,
    identity_mark: identityMark,
    name_mark: nameMark,
    erased_at_ms: erasedAtMs,
  })
}

/** Stores a name of rows of version 1, in which it has one commitment. */
export function keepErasedName(tx: Tx, erased: { commitment: string; nameMark: string; erasedAtMs: number }): void {
  const { commitment, nameMark, erasedAtMs } = erased
  tx.run(newPerson, { commitment, name_mark: nameMark, erased_at_ms: erasedAtMs })
}

/** Returns when a name or an identity with this mark was last erased, and the commitment that a name has in rows of version 1. */
export function erasedBefore(tx: ReadTx, mark: string): { commitment: string | null; erasedAtMs: number } | undefined {
  const row = tx.get(newestWithMark, [mark, mark, mark])
  return row && { commitment: row.commitment, erasedAtMs: row.erased_at_ms }
}

/** One erasure: `mark` recognizes an identity of later rows, `commitment` a name of rows of version 1. */
export type KnownErasure = {
  readonly mark: string | null
  readonly commitment: string | null
  readonly erasedAtMs: number
}

/** Returns every erasure behind a time, the oldest first. */
export function erasuresAfter(tx: ReadTx, afterMs: number): KnownErasure[] {
  return tx
    .all(everyErasure, [afterMs, afterMs])
    .map(({ mark, commitment, erased_at_ms: erasedAtMs }) => ({ mark, commitment, erasedAtMs }))
}

/** An erased person: the former number, or the commitment of a name of rows of version 1. */
export type ErasedPeople = { readonly person: number | null; readonly commitment: string | null }

/** Returns the number of erasures. */
export function countErased(tx: ReadTx): number {
  return tx.get(erasedCount)?.n ?? 0
}

/** Returns everybody who was erased, behind the first so many. */
export function erasedPeople(tx: ReadTx, behind: number, limit: number): ErasedPeople[] {
  return tx.all(everybodyErased, [limit, behind])
}

/** Returns the commitment of an erased name that begins with these digits. */
export function version1OfErased(tx: ReadTx, prefix: string): string | undefined {
  return tx.get(withPrefix, [prefix, prefix])?.commitment
}
