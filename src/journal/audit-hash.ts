import type { RowOf } from '../database/index.ts'
import { leafHashOfText } from '../log/index.ts'
import { tables } from './tables.ts'

/** An entry as it is stored: people as commitments, never as names. */
export type AuditEntryRow = RowOf<typeof tables.audit_entry>

/** In the order of RFC 8785, which is that of plain ASCII names. */
const columns = (Object.keys(tables.audit_entry) as (keyof AuditEntryRow)[]).toSorted()

/**
 * Returns the RFC 8785 text of an entry. It has every stored column by its name, without those that are null. So a column that is
 * added later changes no older hash. Only strings and whole numbers under ordered names: JSON.stringify writes them as RFC 8785
 * demands, in half the time of `canonicalJson`.
 */
export function entryJson(row: AuditEntryRow): string {
  const stated: Record<string, unknown> = {}
  for (const name of columns) if (row[name] !== null) stated[name] = row[name]
  return JSON.stringify(stated)
}

/** Returns the RFC 6962 leaf hash of an entry: SHA-256 of 0x00 and its text. */
export function entryHash(row: AuditEntryRow): Buffer {
  return Buffer.from(entryHashHex(row), 'hex')
}

/** As `entryHash`, in hex. */
export function entryHashHex(row: AuditEntryRow): string {
  return leafHashOfText(entryJson(row))
}
