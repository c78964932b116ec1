import { built, change, maybe, type ReadTx, statement, type Tx, text } from '../../database/index.ts'
import { type CheckpointNote, published } from '../../journal/index.ts'
import { sql, tables } from '../tables.ts'

/** The row that counts for a delivery: the last one that begins at its notification or before. */
const carriedAt = `FROM webhook_checkpoint WHERE webhook_id = +? AND from_seq <= +? ORDER BY from_seq DESC LIMIT 1`

const textAt = statement({ columns: { checkpoint: maybe(text) }, sql: `SELECT checkpoint ${carriedAt}` })
/** A new row takes the place of the one that schema 17 puts behind the last notification of schema 16. */
const newRow = built(tables.webhook_checkpoint, (row) => sql.replaceInto('webhook_checkpoint').values(row))
/** Rows of each endpoint before the row that counts for the oldest notification. */
const uncarried = `SELECT c.rowid FROM webhook w CROSS JOIN webhook_checkpoint c ON c.webhook_id = w.id
  AND c.from_seq < (SELECT max(n.from_seq) FROM webhook_checkpoint n
    WHERE n.webhook_id = w.id AND n.from_seq <= (SELECT min(seq) FROM ${published}))`
const withoutSomeUncarried = change(`DELETE FROM webhook_checkpoint WHERE rowid IN (${uncarried} LIMIT ?)`)
const withoutSome = change(
  'DELETE FROM webhook_checkpoint WHERE rowid IN (SELECT rowid FROM webhook_checkpoint WHERE webhook_id = +? LIMIT ?)',
)

/**
 * Decides which checkpoint the deliveries of an endpoint carry from a notification on; undefined: none. It never changes for
 * a notification that has been fanned out, so each attempt and each redelivery sends the same bytes.
 */
export function carryFrom(tx: Tx, webhookId: string, fromSeq: number, note: CheckpointNote | undefined): void {
  const checkpoint = note ? JSON.stringify(note) : null
  if ((checkpointAt(tx, webhookId, fromSeq) ?? null) === checkpoint) return
  const { logId = null, size = null } = note ?? {}
  tx.run(newRow, { webhook_id: webhookId, from_seq: fromSeq, log_id: logId, size, checkpoint })
}

/** Returns `metadata.checkpoint` of a delivery as JSON; undefined: it has none. */
export function checkpointAt(tx: ReadTx, webhookId: string, seq: number): string | undefined {
  return tx.get(textAt, [webhookId, seq])?.checkpoint ?? undefined
}

/** Removes checkpoints that no notification carries any more, `limit` at most. Returns how many. */
export function removeUncarried(tx: Tx, limit: number): number {
  return tx.run(withoutSomeUncarried, [limit]).changes
}

/** Removes checkpoints of one endpoint, `limit` at most. Returns how many. */
export function removeCheckpointsOf(tx: Tx, webhookId: string, limit: number): number {
  return tx.run(withoutSome, [webhookId, limit]).changes
}
