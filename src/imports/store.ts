import type { ReadTx, Tx } from '../database/index.ts'
import { nameSql, type People, type Person } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { Sight } from '../warehouse/index.ts'
import type { OpeningList } from './schema.ts'

export type NewOpeningList = {
  readonly sha256: string
  readonly sizeBytes: number
  readonly rows: number
  readonly receivedAtMs: number
}

/** @returns whether a row was added: the same bytes again add nothing */
export function addOpeningList(
  tx: Tx,
  { sha256, sizeBytes, rows, receivedAtMs }: NewOpeningList,
  people: People,
  actor: Person,
): boolean {
  if (findOpeningList(tx, sha256)) return false
  const row = (tx.oneOf<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM main.opening_list')?.id ?? 0) + 1
  const commitment = people.inRow(tx, actor, { subject: 'opening_list', row, field: 'actor' })
  tx.runOf(
    `INSERT INTO opening_list (id, sha256, size_bytes, rows, received_at_ms, actor_commitment)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [row, sha256, sizeBytes, rows, receivedAtMs, commitment],
  )
  return true
}

export function findOpeningList(tx: ReadTx, sha256: string): { size_bytes: number } | undefined {
  return tx.oneOf('SELECT size_bytes FROM main.opening_list WHERE sha256 = ?', [sha256])
}

type ListRow = {
  sha256: string
  size_bytes: number
  rows: number
  received_at_ms: number
  name: string | null
}

/** The newest first. */
export function openingLists(tx: ReadTx): Omit<OpeningList, 'uncounted'>[] {
  const rows = tx.allOf<ListRow>(
    `SELECT l.sha256, l.size_bytes, l.rows, l.received_at_ms,
       ${nameSql('opening_list', 'l.id', 'actor', 'l.actor_commitment')} AS name
     FROM main.opening_list l ORDER BY l.id DESC`,
  )
  return rows.map((row) => ({
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    rows: row.rows,
    receivedAt: isoTime(row.received_at_ms),
    importedBy: row.name,
  }))
}

/** Returns how many of the next `looked` lines no count has seen yet, and the line to continue after. */
export function uncountedLines(
  tx: ReadTx,
  sha256: string,
  afterLine: number,
  looked: number,
): { uncounted: number; next: number | undefined } {
  const found = tx.oneOf<{ lines: number; last: number | null; uncounted: number }>(
    `SELECT count(*) AS lines, max(opening_line) AS last, count(CASE WHEN NOT EXISTS (
       SELECT 1 FROM main.placement_event c
       WHERE c.count_id IS NOT NULL AND c.asset_key = e.asset_key AND c.id > e.id) THEN 1 END) AS uncounted
     FROM (SELECT id, asset_key, opening_line FROM main.placement_event
       WHERE opening_list = +? AND opening_line > +? ORDER BY opening_line LIMIT ?) e`,
    [sha256, afterLine, looked],
  )
  const { lines = 0, last = null, uncounted = 0 } = found ?? {}
  return { uncounted, next: lines < looked || last === null ? undefined : last }
}

/**
 * Returns whether a list may name a warehouse that is hidden in this sight: a list of opening stock that put a pallet there,
 * or a list of slots or assets, of which the gateway keeps only the hash.
 */
export function listIsHidden(tx: ReadTx, sha256: string, { hiddenWarehouses }: Sight): boolean {
  if (hiddenWarehouses.length === 0) return false
  if (!findOpeningList(tx, sha256)) return true
  const holes = hiddenWarehouses.map(() => '?').join(', ')
  return (
    tx.oneOf(
      `SELECT 1 FROM main.placement_event e JOIN main.slot s ON s.id = e.slot_id
       WHERE e.opening_list = +? AND s.warehouse_id IN (${holes}) LIMIT 1`,
      [sha256, ...hiddenWarehouses],
    ) !== undefined
  )
}
