import { isUtf8 } from 'node:buffer'
import { blob, built, integer, maybe, pick, type ReadTx, statement, text } from '../database/index.ts'
import { sql, tables } from './tables.ts'

/** The leaves, for a join in SQL. */
export const leaves = 'main.log_leaf'

const nextLeaves = statement({
  columns: tables.log_leaf,
  sql: `SELECT row, log_id, seq, kind, ref, bytes, hash FROM log_leaf
    WHERE log_id = +? AND seq >= +? AND seq <= +? ORDER BY seq LIMIT ?`,
})
const nextLeafTexts = statement({
  columns: { ...pick(tables.log_leaf, 'seq', 'kind', 'ref'), content: text, hash: text },
  sql: `SELECT seq, kind, ref, CAST(bytes AS TEXT) AS content, lower(hex(hash)) AS hash FROM main.log_leaf
    WHERE log_id = +? AND seq >= +? AND seq <= +? ORDER BY seq LIMIT ?`,
})
const bytesOfLeaf = statement({
  columns: pick(tables.log_leaf, 'bytes'),
  sql: 'SELECT bytes FROM main.log_leaf WHERE log_id = +? AND seq = +?',
})
const hashesInSpan = statement({
  columns: { log_id: integer, hash: blob, bytes: maybe(blob) },
  sql: `SELECT log_id, hash, CASE kind WHEN ? THEN bytes END AS bytes FROM main.log_leaf
    WHERE row > +? AND row <= +? ORDER BY row`,
})
const rowOfLeaf = statement({
  columns: { row: integer },
  sql: `SELECT coalesce((SELECT row FROM main.log_leaf WHERE log_id = ? AND seq = ?),
    (SELECT max(row) FROM main.log_leaf WHERE log_id < ?), 0) AS row`,
})
const lastRow = built({}, () => sql.selectFrom('log_leaf').select(({ fn }) => fn.max<number | null>('row').as('row')))
const leavesInSpan = statement({
  columns: { bytes: blob },
  sql: 'SELECT bytes FROM main.log_leaf WHERE row > +? AND row <= +? AND instr(bytes, CAST(? AS BLOB)) > 0',
})

/** Leaves of a log from `firstSeq` to `lastSeq`, at most `limit`. */
export function leavesBetween(tx: ReadTx, log: number, firstSeq: number, lastSeq: number, limit: number) {
  return tx.all(nextLeaves, [log, firstSeq, lastSeq, limit])
}

/** A leaf whose content is the text that its bytes are, or the bytes when they are no UTF-8. Its hash is in hex. */
export type LeafText = {
  readonly seq: number
  readonly kind: string
  readonly ref: string
  readonly content: string | Buffer
  readonly hash: string
}

/** SQLite's text has it where the bytes are no UTF-8, or where they contain it themselves. */
const replaced = '\ufffd'

/** As `leavesBetween`, for a verification: a text is read, hashed and compared in half the time of a Buffer. */
export function leafTextsBetween(
  tx: ReadTx,
  log: number,
  firstSeq: number,
  lastSeq: number,
  limit: number,
): LeafText[] {
  return tx.all(nextLeafTexts, [log, firstSeq, lastSeq, limit]).map((leaf) => {
    if (!leaf.content.includes(replaced)) return leaf
    const bytes = tx.get(bytesOfLeaf, [log, leaf.seq])?.bytes
    return bytes && !isUtf8(bytes) ? { ...leaf, content: bytes } : leaf
  })
}

/** Hashes of leaves behind a row, up to and with another, of whatever log; with their bytes where they are of this kind. */
export function hashesBetween(tx: ReadTx, kind: string, after: number, last: number) {
  return tx.all(hashesInSpan, [kind, after, last])
}

/** Returns the last of the first leaves of a log, counted over all logs: the logs that it continues come before it. */
export function lastLeafRow(tx: ReadTx, log: number, logSize: number): number {
  return tx.get(rowOfLeaf, [log, logSize, log])?.row ?? 0
}

/** Returns the last row over all logs. */
export function endOfLeaves(tx: ReadTx): number {
  return tx.get(lastRow)?.row ?? 0
}

/** Returns the bytes of the leaves behind a row, up to and with another, that have this commitment. */
export function leavesHolding(tx: ReadTx, commitment: string, after: number, last: number): Buffer[] {
  return tx.all(leavesInSpan, [after, last, commitment]).map(({ bytes }) => bytes)
}

/** SQL by which verification reads a table whose rows leaves state; for the room that owns the table. */
export const statedSql = (table: string, kind: string) => ({
  /** The rows of a log, by their leaves' numbers. */
  between: `SELECT * FROM main.${table} WHERE log_id = +? AND leaf_seq >= +? AND leaf_seq <= +?`,
  /** How many rows of a log there are up to a leaf's number. */
  upTo: `SELECT count(*) AS n FROM main.${table} e WHERE e.log_id = ? AND e.leaf_seq <= ?`,
  /** How many rows no leaf states. */
  withoutLeaf: `SELECT count(*) AS n FROM main.${table} e WHERE NOT EXISTS (
    SELECT 1 FROM main.log_leaf l WHERE l.log_id = e.log_id AND l.seq = e.leaf_seq AND l.kind = '${kind}')`,
})
