import { sql as raw } from 'kysely'
import { built, maybe, pick, type ReadTx, statement, type Tx, text } from '../database/index.ts'
import { holdsOpeningIn } from '../ledger/index.ts'
import { linkedColumns, linkedRowsSql, nameSql, type People, type Person } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { Sight } from '../warehouse/index.ts'
import type { OpeningList } from './schema.ts'
import { sql, tables } from './tables.ts'

const lastList = built({}, () => sql.selectFrom('opening_list').select('id').orderBy('id', 'desc').limit(raw.lit(1)))
const newList = built(tables.opening_list, (row) => sql.insertInto('opening_list').values(row))
const sizeOf = built(pick(tables.opening_list, 'sha256'), ({ sha256 }) =>
  sql.selectFrom('opening_list').select('size_bytes').where('sha256', '=', sha256),
)
const everyHash = built({}, () => sql.selectFrom('opening_list').select('sha256'))
const everyList = statement({
  columns: { ...pick(tables.opening_list, 'sha256', 'size_bytes', 'rows', 'received_at_ms'), name: maybe(text) },
  sql: `SELECT l.sha256, l.size_bytes, l.rows, l.received_at_ms,
      ${nameSql('opening_list', 'l.id', 'actor', 'l.actor_commitment')} AS name
    FROM main.opening_list l ORDER BY l.id DESC`,
})

/** People linked to the lists, for verification. */
export const linksOfLists = statement({
  columns: linkedColumns,
  sql: linkedRowsSql({ table: 'opening_list', id: 'id', field: 'actor', column: 'actor_commitment', hasLeaf: false }),
})

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
  const row = (tx.get(lastList)?.id ?? 0) + 1
  const commitment = people.inRow(tx, actor, { subject: 'opening_list', row, field: 'actor' })
  tx.run(newList, {
    id: row,
    sha256,
    size_bytes: sizeBytes,
    rows,
    received_at_ms: receivedAtMs,
    actor_commitment: commitment,
  })
  return true
}

export function findOpeningList(tx: ReadTx, sha256: string): { size_bytes: number } | undefined {
  return tx.get(sizeOf, { sha256 })
}

/** Hashes of all lists. */
export function everyListHash(tx: ReadTx): string[] {
  return tx.all(everyHash).map(({ sha256 }) => sha256)
}

/** The newest first. */
export function openingLists(tx: ReadTx): Omit<OpeningList, 'uncounted'>[] {
  return tx.all(everyList).map((row) => ({
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    rows: row.rows,
    receivedAt: isoTime(row.received_at_ms),
    importedBy: row.name,
  }))
}

/**
 * Returns whether a list may name a warehouse that is hidden in this sight. A list of opening stock may when it put a pallet there.
 * A list of slots or assets always may, because the gateway stores only its hash.
 */
export function listIsHidden(tx: ReadTx, sha256: string, { hiddenWarehouses }: Sight): boolean {
  if (hiddenWarehouses.length === 0) return false
  if (!findOpeningList(tx, sha256)) return true
  return holdsOpeningIn(tx, sha256, hiddenWarehouses)
}
