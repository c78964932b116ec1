import {
  built,
  change,
  integer,
  pick,
  type ReadTx,
  type RowOf,
  statement,
  type Tx,
  text,
} from '../../database/index.ts'
import { sql, tables } from '../tables.ts'

/** The last checkpoint that this box cosigned for a log. `root` has 32 bytes. */
export type WitnessedLog = RowOf<typeof tables.witness_log>

/** Two signed checkpoints of one size with different roots: proof that a log shows two histories. */
export type Conflict = Omit<RowOf<typeof tables.witness_conflict>, 'row'>

const newConflict = built(tables.witness_conflict, (row) => sql.insertInto('witness_conflict').values(row))
const nextConflict = statement({
  columns: { row: integer },
  sql: 'SELECT coalesce(max(row), 0) + 1 AS row FROM witness_conflict',
})
const ofOrigin = statement({
  columns: tables.witness_log,
  sql: 'SELECT origin, size, root, note, cosigned_at_ms FROM main.witness_log WHERE origin = +?',
})
const every = statement({
  columns: tables.witness_log,
  sql: 'SELECT origin, size, root, note, cosigned_at_ms FROM main.witness_log ORDER BY origin',
})
const kept = change(`INSERT INTO witness_log (origin, size, root, note, cosigned_at_ms) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root, note = excluded.note,
    cosigned_at_ms = excluded.cosigned_at_ms`)
const conflictsOf = statement({
  columns: pick(tables.witness_conflict, 'note'),
  sql: 'SELECT note FROM main.witness_conflict WHERE origin = +?',
})
const conflicting = statement({
  columns: { origin: text, size: integer },
  sql: 'SELECT origin, min(size) AS size FROM main.witness_conflict GROUP BY origin ORDER BY origin',
})

/** Conflicts kept for one log: the first few prove it, and a log that makes more must not fill the disk. */
const keptConflicts = 8

/** Returns the last checkpoint that was cosigned for a log; undefined when there was none. */
export function witnessed(tx: ReadTx, origin: string): WitnessedLog | undefined {
  return tx.get(ofOrigin, [origin])
}

/** Returns the last checkpoints of all logs. */
export function everyWitnessed(tx: ReadTx): WitnessedLog[] {
  return tx.all(every, [])
}

/** Stores the checkpoint that is cosigned next. The table refuses one that goes back. */
export function keepWitnessed(tx: Tx, { origin, size, root, note, cosigned_at_ms }: WitnessedLog): void {
  tx.run(kept, [origin, size, root, note, cosigned_at_ms])
}

/** Keeps a conflict, unless it is known or there are enough of the log. */
export function keepConflict(tx: Tx, conflict: Conflict): void {
  const known = tx.all(conflictsOf, [conflict.origin])
  if (known.length >= keptConflicts || known.some(({ note }) => note === conflict.note)) return
  tx.run(newConflict, { row: tx.get(nextConflict)?.row ?? 1, ...conflict })
}

/** Returns the logs that have shown two roots, with the smallest size of it. */
export function conflictingLogs(tx: ReadTx): { readonly origin: string; readonly size: number }[] {
  return tx.all(conflicting, [])
}
