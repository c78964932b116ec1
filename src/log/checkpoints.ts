import { built, integer, maybe, pick, type ReadTx, type RowOf, statement, type Tx, text } from '../database/index.ts'
import { sql, tables } from './tables.ts'

/** A checkpoint of a log, as it is stored: `root` has 32 bytes, `note` is the signed note without cosignatures. */
export type Checkpoint = Omit<RowOf<typeof tables.log_checkpoint>, 'row'>

const newCheckpoint = built(tables.log_checkpoint, (row) => sql.insertInto('log_checkpoint').values(row))
const nextRow = statement({
  columns: { row: integer },
  sql: 'SELECT coalesce(max(row), 0) + 1 AS row FROM log_checkpoint',
})
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
const before = statement({
  columns: columnsOfCheckpoint,
  sql: `SELECT log_id, size, root, note, signed_at_ms FROM main.log_checkpoint
    WHERE log_id = +? AND size < +? ORDER BY size DESC LIMIT ?`,
})
const between = statement({
  columns: pick(tables.log_checkpoint, 'size', 'root', 'note'),
  sql: `SELECT size, root, note FROM main.log_checkpoint
    WHERE log_id = +? AND size >= +? AND size <= +? ORDER BY size LIMIT +?`,
})
const largest = statement({
  columns: { size: integer },
  sql: 'SELECT coalesce(max(size), 0) AS size FROM main.log_checkpoint WHERE log_id = +?',
})
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
  tx.run(newCheckpoint, { row: tx.get(nextRow)?.row ?? 1, ...checkpoint })
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
  return tx.all(before, [log, size, limit])
}

/** Returns the checkpoints of a log from one size to another, the smallest first, at most `limit`. */
export function checkpointsBetween(tx: ReadTx, log: number, from: number, to: number, limit: number) {
  return tx.all(between, [log, from, to, limit])
}

/** Returns how many leaves of a log were signed; 0 before its first checkpoint. */
export function signedSize(tx: ReadTx, log: number): number {
  return tx.get(largest, [log])?.size ?? 0
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
