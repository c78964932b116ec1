import { type RawBuilder, sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import { statedSql } from '../log/index.ts'
import { type AuditEntryRow, entryHash } from './audit-hash.ts'
import type { AuditDigestRow } from './digest-leaf.ts'
import { sql, tables } from './tables.ts'

const newDigest = built(tables.audit_digest, (row) => sql.insertInto('audit_digest').values(row))
const newHash = built(tables.audit_hash, (row) => sql.insertInto('audit_hash').values(row))
const newest = built({}, () =>
  sql.selectFrom('audit_digest').select(['id', 'to_entry', 'made_at_ms']).orderBy('id', 'desc').limit(raw.lit(1)),
)
const afterEntry = built({ after: integer, last: integer, limit: integer }, ({ after, last, limit }) =>
  sql.selectFrom('audit_entry').selectAll().where('id', '>', after).where('id', '<=', last).orderBy('id').limit(limit),
)
const hashesOfEntries = (after: RawBuilder<number>, last: RawBuilder<number>) =>
  sql.selectFrom('audit_hash').where('entry_id', '>', after).where('entry_id', '<=', last).orderBy('entry_id')
const afterHash = built({ after: integer, last: integer }, ({ after, last }) =>
  hashesOfEntries(after, last).select(['entry_id', 'hash']),
)
/** In hex: a text is read in a third of the time of a Buffer. */
const textAfterHash = built({ after: integer, last: integer }, ({ after, last }) =>
  hashesOfEntries(after, last).select(({ fn }) => ['entry_id', fn<string>('lower', [fn('hex', ['hash'])]).as('hash')]),
)
const lastHash = built({}, () =>
  sql.selectFrom('audit_hash').select(({ fn }) => fn.max<number | null>('entry_id').as('id')),
)
const firstBehind = built(pick(tables.audit_entry, 'id'), ({ id }) =>
  sql.selectFrom('audit_entry').select('timestamp_ms').where('id', '>', id).orderBy('id').limit(raw.lit(1)),
)

const asked = statedSql('audit_digest', 'audit-digest')

/** The rows that leaves state, for verification. */
export const statedDigests = {
  between: statement({ columns: tables.audit_digest, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

/** Entries behind `after`, up to and with `last`, at most `limit`, in the order of ids. */
export function entriesBehind(tx: ReadTx, after: number, last: number, limit: number): AuditEntryRow[] {
  return tx.all(afterEntry, { after, last, limit })
}

/** Hashes of entries behind `after`, up to and with `last`, in the order of ids. */
function hashesBehind(tx: ReadTx, after: number, last: number) {
  return tx.all(afterHash, { after, last })
}

/** As `hashesBehind`, each in hex. */
export function hashTextsBehind(tx: ReadTx, after: number, last: number) {
  return tx.all(textAfterHash, { after, last })
}

/** Returns the newest entry that has a hash. */
export function endOfHashes(tx: ReadTx): number {
  return tx.get(lastHash)?.id ?? 0
}

/** Returns the end of the digests: number, last entry and time of the newest one; zeros before the first. */
export function endOfDigests(tx: ReadTx): Pick<AuditDigestRow, 'id' | 'to_entry' | 'made_at_ms'> {
  return tx.get(newest) ?? { id: 0, to_entry: 0, made_at_ms: 0 }
}

/** Returns when the first entry behind `entryId` was written; undefined when there is none. */
export function timeBehind(tx: ReadTx, entryId: number): number | undefined {
  return tx.get(firstBehind, { id: entryId })?.timestamp_ms
}

/** Returns the hashes of the entries from `from` to `to`; entries from before schema 16 get theirs now. */
export function hashesOfSpan(tx: Tx, from: number, to: number): Buffer[] {
  const size = to - from + 1
  const known = hashesBehind(tx, from - 1, to)
  if (known.length === size) return known.map(({ hash }) => hash)
  const hashes = new Map(known.map(({ entry_id, hash }) => [entry_id, hash]))
  for (const entry of entriesBehind(tx, from - 1, to, size)) {
    if (hashes.has(entry.id)) continue
    const hash = entryHash(entry)
    tx.run(newHash, { entry_id: entry.id, hash })
    hashes.set(entry.id, hash)
  }
  return [...hashes].toSorted(([a], [b]) => a - b).map(([, hash]) => hash)
}

/** Appends the row of a digest. */
export function appendDigest(tx: Tx, row: AuditDigestRow): void {
  tx.run(newDigest, row)
}
