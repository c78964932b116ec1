import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import canonicalize from 'canonicalize'

const sha256 = (...parts: readonly Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()

/** The hash of an entry as the document says it: SHA-256 of 0x00 and the RFC 8785 text of its columns that are not null. */
export function hashOfEntry(entry: Record<string, unknown>): Buffer {
  const known = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null))
  return sha256(Buffer.of(0), Buffer.from(canonicalize(known) ?? ''))
}

/** MTH of RFC 6962, section 2.1, word for word: split at the largest power of two below the size. */
export function rootOver(hashes: readonly Buffer[]): Buffer {
  const [only] = hashes
  if (!only) return sha256()
  if (hashes.length === 1) return only
  let split = 1
  while (split * 2 < hashes.length) split *= 2
  return sha256(Buffer.of(1), rootOver(hashes.slice(0, split)), rootOver(hashes.slice(split)))
}

/** The entries from `from` to `to` as they are stored. */
export function entriesOf(db: Database, from: number, to: number): Record<string, unknown>[] {
  return db.prepare('SELECT * FROM audit_entry WHERE id BETWEEN ? AND ? ORDER BY id').all(from, to) as never
}

/** Hashes the entries again, as an attacker who knows the format would. */
export function hashAnew(db: Database, from: number, to: number): void {
  db.prepare('DELETE FROM audit_hash WHERE entry_id BETWEEN ? AND ?').run(from, to)
  const put = db.prepare('INSERT INTO audit_hash VALUES (?, ?)')
  for (const entry of entriesOf(db, from, to)) put.run(entry['id'], hashOfEntry(entry))
}

/** Changes the file with its guards taken away, and puts them back word for word. */
export function withoutGuards(db: Database, change: () => void): void {
  const guards = db.prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`).all() as {
    name: string
    sql: string
  }[]
  db.pragma('foreign_keys = OFF')
  for (const { name } of guards) db.exec(`DROP TRIGGER ${name}`)
  change()
  for (const { sql } of guards) db.exec(sql)
}
