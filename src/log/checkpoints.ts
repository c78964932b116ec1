import { built, integer, maybe, pick, type ReadTx, type RowOf, statement, type Tx, text } from '../database/index.ts'
import { sql, tables } from './tables.ts'

/** A checkpoint of a log, as it is stored: `root` has 32 bytes, `note` is the signed note without cosignatures. */
export type Checkpoint = Omit<RowOf<typeof tables.log_checkpoint>, 'row'>

const newCheckpoint = built(tables.log_checkpoint, (row) => sql.insertInto('log_checkpoint').values(row))
const lastRow = built({}, () =>
  sql.selectFrom('log_checkpoint').select(({ fn }) => fn.max<number | null>('row').as('row')),
)
const columnsOfCheckpoint = pick(tables.log_checkpoint, 'log_id', 'size', 'root', 'note', 'signed_at_ms')
const newest = statement({
  columns: columnsOfCheckpoint,
  sql: `SELECT log_id, size, root, note, signed_at_ms FROM main.log_checkpoint
    WHERE log_id = +? ORDER BY size DESC LIMIT 1`,
})
const newestHead = statement({
  columns: { size: integer, root: text, cosignature: maybe(text) },
  sql: `SELECT size, lower(hex(root)) AS root, (SELECT line FROM main.log_cosignature ORDER BY row DESC LIMIT 1) AS cosignature
    FROM main.log_checkpoint WHERE log_id = +? ORDER BY size DESC LIMIT 1`,
})
const before = built({ log_id: integer, size: integer, limit: integer }, ({ log_id, size, limit }) =>
  sql
    .selectFrom('log_checkpoint')
    .select(['log_id', 'size', 'root', 'note', 'signed_at_ms'])
    .where('log_id', '=', log_id)
    .where('size', '<', size)
    .orderBy('size', 'desc')
    .limit(limit),
)
const between = built({ log_id: integer, from: integer, to: integer, limit: integer }, ({ log_id, from, to, limit }) =>
  sql
    .selectFrom('log_checkpoint')
    .select(['size', 'root', 'note'])
    .where('log_id', '=', log_id)
    .where('size', '>=', from)
    .where('size', '<=', to)
    .orderBy('size')
    .limit(limit),
)
const largest = built(pick(tables.log_checkpoint, 'log_id'), ({ log_id }) =>
  sql
    .selectFrom('log_checkpoint')
    .select(({ fn }) => fn.max<number | null>('size').as('size'))
    .where('log_id', '=', log_id),
)
const covering = statement({
  columns: columnsOfCheckpoint,
  sql: `SELECT log_id, size, root, note, signed_at_ms FROM main.log_checkpoint
    WHERE log_id = +? AND size >= +? ORDER BY size LIMIT 1`,
})
/** Heads that cover a leaf: most countersigned first (witnesses, then a time stamp), then the smallest. */
const strongest = statement({
  columns: columnsOfCheckpoint,
  sql: `SELECT c.log_id, c.size, c.root, c.note, c.signed_at_ms FROM main.log_checkpoint c
    JOIN (SELECT size, max(cosigned) AS cosigned, max(stamped) AS stamped FROM (
        SELECT * FROM (SELECT size, 1 AS cosigned, 0 AS stamped FROM main.log_cosignature
          WHERE log_id = +? AND size >= +? ORDER BY size LIMIT 500)
        UNION ALL SELECT * FROM (SELECT size, 0, 1 FROM main.log_timestamp
          WHERE log_id = +? AND size >= +? ORDER BY size LIMIT 500)) GROUP BY size) s ON s.size = c.size
    WHERE c.log_id = +? ORDER BY s.cosigned + s.stamped DESC, s.cosigned DESC, c.size LIMIT 1`,
})

/** Appends a checkpoint. Call it only after the head before it was checked in the same transaction. */
export function addCheckpoint(tx: Tx, checkpoint: Checkpoint): void {
  tx.run(newCheckpoint, { row: (tx.get(lastRow)?.row ?? 0) + 1, ...checkpoint })
}

/** Returns the newest checkpoint of a log. */
export function newestCheckpoint(tx: ReadTx, log: number): Checkpoint | undefined {
  return tx.get(newest, [log])
}

export type NewestHead = {
  readonly size: number
  /** Hex. */
  readonly root: string
  /** The newest cosignature, of whatever checkpoint, as its line; null before the first. Its number may return after a rollback. */
  readonly cosignature: string | null
}

/** Returns the columns that identify the newest checkpoint of a log with its cosignatures. */
export function newestHeadOf(tx: ReadTx, log: number): NewestHead | undefined {
  return tx.get(newestHead, [log])
}

/** Returns checkpoints of a log with fewer than `size` leaves, the largest first. */
export function checkpointsBefore(tx: ReadTx, log: number, size: number, limit: number): Checkpoint[] {
  return tx.all(before, { log_id: log, size, limit })
}

/** Returns the checkpoints of a log from one size to another, the smallest first, at most `limit`. */
export function checkpointsBetween(tx: ReadTx, log: number, from: number, to: number, limit: number) {
  return tx.all(between, { log_id: log, from, to, limit })
}

/** Returns how many leaves of a log were signed; 0 before its first checkpoint. */
export function signedSize(tx: ReadTx, log: number): number {
  return tx.get(largest, { log_id: log })?.size ?? 0
}

/** Returns the smallest checkpoint that covers a leaf (its number from 1 on). */
export function checkpointCovering(tx: ReadTx, log: number, seq: number): Checkpoint | undefined {
  return tx.get(covering, [log, seq])
}

/**
 * Returns a countersigned head that covers a leaf (its number from 1 on): cosigned and stamped, else cosigned, else stamped.
 * Undefined when there is none. It reads the next 500 countersignatures of each kind.
 */
export function countersignedCovering(tx: ReadTx, log: number, seq: number): Checkpoint | undefined {
  return tx.get(strongest, [log, seq, log, seq, log])
}
