import { built, change, integer, maybe, pick, type ReadTx, statement, type Tx, text } from '../database/index.ts'
import { type CheckpointNote, published } from '../journal/index.ts'
import { sql, tables } from './tables.ts'

/** The row that counts for a delivery: the last one that begins at its notification or before. */
const carriedAt = `FROM webhook_checkpoint WHERE webhook_id = +? AND from_seq <= +? ORDER BY from_seq DESC LIMIT 1`

const textAt = statement({ columns: { checkpoint: maybe(text) }, sql: `SELECT checkpoint ${carriedAt}` })
const newRow = built(tables.webhook_checkpoint, (row) => sql.insertInto('webhook_checkpoint').values(row))
const placeAt = statement({
  columns: pick(tables.webhook_checkpoint, 'log_id', 'size'),
  sql: `SELECT log_id, size ${carriedAt}`,
})
const firstCovering = statement({
  columns: { seq: integer },
  sql: `SELECT from_seq AS seq FROM webhook_checkpoint WHERE webhook_id = +? AND log_id = +? AND size >= +?
    ORDER BY size, from_seq LIMIT 1`,
})
const withoutOld =
  change(`DELETE FROM webhook_checkpoint WHERE from_seq < (SELECT max(n.from_seq) FROM webhook_checkpoint n
  WHERE n.webhook_id = webhook_checkpoint.webhook_id AND n.from_seq <= (SELECT min(seq) FROM ${published}))`)

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

/** Returns the log and the size of the checkpoint that a delivery carries; undefined: it carries none. */
export function carriedSize(tx: ReadTx, webhookId: string, seq: number): { logId: string; size: number } | undefined {
  const { log_id: logId, size } = tx.get(placeAt, [webhookId, seq]) ?? { log_id: null, size: null }
  return logId === null || size === null ? undefined : { logId, size }
}

/** Returns the first notification that goes to an endpoint with a checkpoint of this log over so many leaves. */
export function firstWithCheckpoint(tx: ReadTx, webhookId: string, logId: string, size: number): number | undefined {
  return tx.get(firstCovering, [webhookId, logId, size])?.seq
}

/** Removes the checkpoints that no notification carries any more. */
export function removeUncarried(tx: Tx): void {
  tx.run(withoutOld, [])
}
