import { built, integer, maybe, pick, type ReadTx, type RowOf, statement, type Tx, text } from '../database/index.ts'
import { sql, tables } from './tables.ts'

/** A witness's signature line under a checkpoint, and the time that it states. */
export type Cosignature = Omit<RowOf<typeof tables.log_cosignature>, 'row'>

/** An RFC 3161 token over the note body of a checkpoint, and the time that it states. */
export type Timestamp = Omit<RowOf<typeof tables.log_timestamp>, 'row'>

const newCosignature = built(tables.log_cosignature, (row) => sql.insertInto('log_cosignature').values(row))
const newTimestamp = built(tables.log_timestamp, (row) => sql.insertInto('log_timestamp').values(row))
const nextCosignature = statement({
  columns: { row: integer },
  sql: 'SELECT coalesce(max(row), 0) + 1 AS row FROM log_cosignature',
})
const nextTimestamp = statement({
  columns: { row: integer },
  sql: 'SELECT coalesce(max(row), 0) + 1 AS row FROM log_timestamp',
})
const columnsOfCosignature = pick(
  tables.log_cosignature,
  ...(['log_id', 'size', 'name', 'line', 'cosigned_at_ms', 'received_at_ms'] as const),
)
const columnsOfTimestamp = pick(
  tables.log_timestamp,
  ...(['log_id', 'size', 'url', 'token', 'stamped_at_ms', 'received_at_ms'] as const),
)
const cosignaturesAt = statement({
  columns: columnsOfCosignature,
  sql: `SELECT log_id, size, name, line, cosigned_at_ms, received_at_ms FROM main.log_cosignature
    WHERE log_id = +? AND size = +? ORDER BY name, cosigned_at_ms`,
})
const firstCosignature = statement({
  columns: columnsOfCosignature,
  sql: `SELECT log_id, size, name, line, cosigned_at_ms, received_at_ms FROM main.log_cosignature
    WHERE log_id = +? AND name = +? AND size >= +? ORDER BY size, row LIMIT 1`,
})
const newestCosignature = statement({
  columns: columnsOfCosignature,
  sql: `SELECT log_id, size, name, line, cosigned_at_ms, received_at_ms FROM main.log_cosignature
    WHERE log_id = +? AND name = +? ORDER BY size DESC, row DESC LIMIT 1`,
})
const firstTimestamp = statement({
  columns: columnsOfTimestamp,
  sql: `SELECT log_id, size, url, token, stamped_at_ms, received_at_ms FROM main.log_timestamp
    WHERE log_id = +? AND size >= +? ORDER BY size, row LIMIT 1`,
})
const timestampsAt = statement({
  columns: columnsOfTimestamp,
  sql: `SELECT log_id, size, url, token, stamped_at_ms, received_at_ms FROM main.log_timestamp
    WHERE log_id = +? AND size = +? ORDER BY row`,
})
const newestTimestamp = statement({
  columns: columnsOfTimestamp,
  sql: `SELECT log_id, size, url, token, stamped_at_ms, received_at_ms FROM main.log_timestamp
    WHERE log_id = +? ORDER BY size DESC, row DESC LIMIT 1`,
})

const newestTimestampBy = statement({
  columns: columnsOfTimestamp,
  sql: `SELECT log_id, size, url, token, stamped_at_ms, received_at_ms FROM main.log_timestamp
    WHERE log_id = +? AND url = +? ORDER BY size DESC, row DESC LIMIT 1`,
})

/** A row of either table, with the note of the checkpoint that it is over; null: there is none. */
const placed = { row: integer, log_id: integer, size: integer, note: maybe(text) }
const cosignaturesInOrder = statement({
  columns: { ...placed, ...pick(tables.log_cosignature, 'name', 'line', 'cosigned_at_ms') },
  sql: `SELECT s.row, s.log_id, s.size, c.note, s.name, s.line, s.cosigned_at_ms FROM main.log_cosignature s
    LEFT JOIN main.log_checkpoint c ON c.log_id = s.log_id AND c.size = s.size
    WHERE s.row > +? ORDER BY s.row LIMIT ?`,
})
const timestampsInOrder = statement({
  columns: { ...placed, ...pick(tables.log_timestamp, 'url', 'token', 'stamped_at_ms') },
  sql: `SELECT s.row, s.log_id, s.size, c.note, s.url, s.token, s.stamped_at_ms FROM main.log_timestamp s
    LEFT JOIN main.log_checkpoint c ON c.log_id = s.log_id AND c.size = s.size
    WHERE s.row > +? ORDER BY s.row LIMIT ?`,
})
export type CountersignedRow = RowOf<typeof placed>
export type StoredCosignature = CountersignedRow &
  Pick<RowOf<typeof tables.log_cosignature>, 'name' | 'line' | 'cosigned_at_ms'>
export type StoredTimestamp = CountersignedRow &
  Pick<RowOf<typeof tables.log_timestamp>, 'url' | 'token' | 'stamped_at_ms'>

/** Returns cosignatures of all logs behind a row, in the order of rows, for verification. */
export function cosignaturesBehind(tx: ReadTx, row: number, limit: number): StoredCosignature[] {
  return tx.all(cosignaturesInOrder, [row, limit])
}

/** Returns RFC 3161 tokens of all logs behind a row, in the order of rows, for verification. */
export function timestampsBehind(tx: ReadTx, row: number, limit: number): StoredTimestamp[] {
  return tx.all(timestampsInOrder, [row, limit])
}

/** Appends a cosignature. Call it only for one that was verified. */
export function addCosignature(tx: Tx, cosignature: Cosignature): void {
  tx.run(newCosignature, { row: tx.get(nextCosignature)?.row ?? 1, ...cosignature })
}

/** Appends an RFC 3161 token. Call it only for one that was verified. */
export function addTimestamp(tx: Tx, timestamp: Timestamp): void {
  tx.run(newTimestamp, { row: tx.get(nextTimestamp)?.row ?? 1, ...timestamp })
}

/** Returns the cosignatures of the checkpoint with this size. */
export function cosignaturesOf(tx: ReadTx, log: number, size: number): Cosignature[] {
  return tx.all(cosignaturesAt, [log, size])
}

/** Returns the first cosignature of a witness that covers a leaf (its number from 1 on). */
export function cosignatureCovering(tx: ReadTx, log: number, name: string, seq: number): Cosignature | undefined {
  return tx.get(firstCosignature, [log, name, seq])
}

/** Returns the cosignature of a witness under the largest checkpoint. */
export function lastCosignature(tx: ReadTx, log: number, name: string): Cosignature | undefined {
  return tx.get(newestCosignature, [log, name])
}

/** Returns the RFC 3161 tokens over the checkpoint with this size. */
export function timestampsOf(tx: ReadTx, log: number, size: number): Timestamp[] {
  return tx.all(timestampsAt, [log, size])
}

/** Returns the first RFC 3161 token that covers a leaf (its number from 1 on). */
export function timestampCovering(tx: ReadTx, log: number, seq: number): Timestamp | undefined {
  return tx.get(firstTimestamp, [log, seq])
}

/** Returns the RFC 3161 token of one authority over the largest checkpoint. */
export function lastTimestampBy(tx: ReadTx, log: number, url: string): Timestamp | undefined {
  return tx.get(newestTimestampBy, [log, url])
}

/** Returns the RFC 3161 token over the largest checkpoint that has one. */
export function lastTimestamp(tx: ReadTx, log: number): Timestamp | undefined {
  return tx.get(newestTimestamp, [log])
}
