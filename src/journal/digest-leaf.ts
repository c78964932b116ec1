import type { RowOf } from '../database/index.ts'
import type { LeafFacts, Stated } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { tables } from './tables.ts'

/** Row of a digest: a stretch of the audit trail that the log states. */
export type AuditDigestRow = RowOf<typeof tables.audit_digest>

/** A row before its leaf is appended. */
export type UnsealedDigest = Omit<AuditDigestRow, keyof Stated>

/** Returns the facts of an audit-digest leaf, made from the row alone. */
export function digestFacts(row: UnsealedDigest): LeafFacts {
  return {
    eventId: row.event_id,
    id: row.id,
    from: row.from_entry,
    to: row.to_entry,
    count: row.entries,
    root: row.root,
    madeAt: isoTime(row.made_at_ms),
  }
}

/** Entries that a digest covers, by its leaf: `from` to `to`, and the root (hex) over `count` hashes. */
export type DigestSpan = { readonly from: number; readonly to: number; readonly count: number; readonly root: string }

/** Reads the span from the parsed bytes of a leaf; undefined when they have none. */
export function digestSpan(leaf: { readonly [key: string]: unknown }): DigestSpan | undefined {
  const { from, to, count, root } = leaf
  if (typeof from !== 'number' || typeof to !== 'number' || typeof count !== 'number') return undefined
  return typeof root === 'string' ? { from, to, count, root } : undefined
}
