import { type RawBuilder, sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, type RowOf, type Tx } from '../database/index.ts'
import { sql, tables } from './tables.ts'

/** A witness's signature line under a checkpoint, and the time that it states. */
export type Cosignature = Omit<RowOf<typeof tables.log_cosignature>, 'row'>

/** An RFC 3161 token over the note body of a checkpoint, and the time that it states. */
export type Timestamp = Omit<RowOf<typeof tables.log_timestamp>, 'row'>

const newCosignature = built(tables.log_cosignature, (row) => sql.insertInto('log_cosignature').values(row))
const newTimestamp = built(tables.log_timestamp, (row) => sql.insertInto('log_timestamp').values(row))
const lastCosignatureRow = built({}, () =>
  sql.selectFrom('log_cosignature').select(({ fn }) => fn.max<number | null>('row').as('row')),
)
const lastTimestampRow = built({}, () =>
  sql.selectFrom('log_timestamp').select(({ fn }) => fn.max<number | null>('row').as('row')),
)
const cosignaturesIn = (log: RawBuilder<number>) =>
  sql
    .selectFrom('log_cosignature')
    .select(['log_id', 'size', 'name', 'line', 'cosigned_at_ms', 'received_at_ms'])
    .where('log_id', '=', log)
const timestampsIn = (log: RawBuilder<number>) =>
  sql
    .selectFrom('log_timestamp')
    .select(['log_id', 'size', 'url', 'token', 'stamped_at_ms', 'received_at_ms'])
    .where('log_id', '=', log)
const cosignaturesAt = built(pick(tables.log_cosignature, 'log_id', 'size'), ({ log_id, size }) =>
  cosignaturesIn(log_id).where('size', '=', size).orderBy('name').orderBy('cosigned_at_ms'),
)
const firstCosignature = built(pick(tables.log_cosignature, 'log_id', 'name', 'size'), ({ log_id, name, size }) =>
  cosignaturesIn(log_id)
    .where('name', '=', name)
    .where('size', '>=', size)
    .orderBy('size')
    .orderBy('row')
    .limit(raw.lit(1)),
)
const newestCosignature = built(pick(tables.log_cosignature, 'log_id', 'name'), ({ log_id, name }) =>
  cosignaturesIn(log_id).where('name', '=', name).orderBy('size', 'desc').orderBy('row', 'desc').limit(raw.lit(1)),
)
const firstTimestamp = built(pick(tables.log_timestamp, 'log_id', 'size'), ({ log_id, size }) =>
  timestampsIn(log_id).where('size', '>=', size).orderBy('size').orderBy('row').limit(raw.lit(1)),
)
const timestampsAt = built(pick(tables.log_timestamp, 'log_id', 'size'), ({ log_id, size }) =>
  timestampsIn(log_id).where('size', '=', size).orderBy('row'),
)
const newestTimestamp = built(pick(tables.log_timestamp, 'log_id'), ({ log_id }) =>
  timestampsIn(log_id).orderBy('size', 'desc').orderBy('row', 'desc').limit(raw.lit(1)),
)

const newestTimestampBy = built(pick(tables.log_timestamp, 'log_id', 'url'), ({ log_id, url }) =>
  timestampsIn(log_id).where('url', '=', url).orderBy('size', 'desc').orderBy('row', 'desc').limit(raw.lit(1)),
)

const cosignaturesInOrder = built({ row: integer, limit: integer }, ({ row, limit }) =>
  sql
    .selectFrom('log_cosignature as s')
    .leftJoin('log_checkpoint as c', (join) => join.onRef('c.log_id', '=', 's.log_id').onRef('c.size', '=', 's.size'))
    .select(['s.row', 's.log_id', 's.size', 'c.note', 's.name', 's.line', 's.cosigned_at_ms'])
    .where('s.row', '>', row)
    .orderBy('s.row')
    .limit(limit),
)
const timestampsInOrder = built({ row: integer, limit: integer }, ({ row, limit }) =>
  sql
    .selectFrom('log_timestamp as s')
    .leftJoin('log_checkpoint as c', (join) => join.onRef('c.log_id', '=', 's.log_id').onRef('c.size', '=', 's.size'))
    .select(['s.row', 's.log_id', 's.size', 'c.note', 's.url', 's.token', 's.stamped_at_ms'])
    .where('s.row', '>', row)
    .orderBy('s.row')
    .limit(limit),
)
/** A row of either table, with the note of the checkpoint that it is over; null: there is none. */
export type CountersignedRow = Pick<RowOf<typeof tables.log_cosignature>, 'row' | 'log_id' | 'size'> & {
  note: string | null
}
export type StoredCosignature = CountersignedRow &
  Pick<RowOf<typeof tables.log_cosignature>, 'name' | 'line' | 'cosigned_at_ms'>
export type StoredTimestamp = CountersignedRow &
  Pick<RowOf<typeof tables.log_timestamp>, 'url' | 'token' | 'stamped_at_ms'>

/** Returns cosignatures of all logs behind a row, in the order of rows, for verification. */
export function cosignaturesBehind(tx: ReadTx, row: number, limit: number): StoredCosignature[] {
  return tx.all(cosignaturesInOrder, { row, limit })
}

/** Returns RFC 3161 tokens of all logs behind a row, in the order of rows, for verification. */
export function timestampsBehind(tx: ReadTx, row: number, limit: number): StoredTimestamp[] {
  return tx.all(timestampsInOrder, { row, limit })
}

/** Appends a cosignature. Call it only for one that was verified. */
export function addCosignature(tx: Tx, cosignature: Cosignature): void {
  tx.run(newCosignature, { row: (tx.get(lastCosignatureRow)?.row ?? 0) + 1, ...cosignature })
}

/** Appends an RFC 3161 token. Call it only for one that was verified. */
export function addTimestamp(tx: Tx, timestamp: Timestamp): void {
  tx.run(newTimestamp, { row: (tx.get(lastTimestampRow)?.row ?? 0) + 1, ...timestamp })
}

/** Returns the cosignatures of the checkpoint with this size. */
export function cosignaturesOf(tx: ReadTx, log: number, size: number): Cosignature[] {
  return tx.all(cosignaturesAt, { log_id: log, size })
}

/** Returns the first cosignature of a witness that covers a leaf (its number from 1 on). */
export function cosignatureCovering(tx: ReadTx, log: number, name: string, seq: number): Cosignature | undefined {
  return tx.get(firstCosignature, { log_id: log, name, size: seq })
}

/** Returns the cosignature of a witness under the largest checkpoint. */
export function lastCosignature(tx: ReadTx, log: number, name: string): Cosignature | undefined {
  return tx.get(newestCosignature, { log_id: log, name })
}

/** Returns the RFC 3161 tokens over the checkpoint with this size. */
export function timestampsOf(tx: ReadTx, log: number, size: number): Timestamp[] {
  return tx.all(timestampsAt, { log_id: log, size })
}

/** Returns the first RFC 3161 token that covers a leaf (its number from 1 on). */
export function timestampCovering(tx: ReadTx, log: number, seq: number): Timestamp | undefined {
  return tx.get(firstTimestamp, { log_id: log, size: seq })
}

/** Returns the RFC 3161 token of one authority over the largest checkpoint. */
export function lastTimestampBy(tx: ReadTx, log: number, url: string): Timestamp | undefined {
  return tx.get(newestTimestampBy, { log_id: log, url })
}

/** Returns the RFC 3161 token over the largest checkpoint that has one. */
export function lastTimestamp(tx: ReadTx, log: number): Timestamp | undefined {
  return tx.get(newestTimestamp, { log_id: log })
}
