import { built, integer, pick, type ReadTx, statement, type Tx, text } from '../../database/index.ts'
import { type CheckpointNote, published } from '../../journal/index.ts'
import { outboxEnd } from '../store.ts'
import { sql, tables } from '../tables.ts'
import { carryFrom } from './carried.ts'

const behindOutbox = statement({
  columns: { id: text, seq: integer },
  sql: `SELECT id, fanned_out_seq AS seq FROM webhook WHERE fanned_out_seq < (SELECT max(seq) FROM ${published}) ORDER BY id`,
})
const wantedBy = statement({
  columns: { ...pick(tables.webhook, 'events', 'fanned_out_seq'), skips: integer, checkpoint: integer },
  sql: `SELECT w.events, w.fanned_out_seq, w.active = 0 AND coalesce(c.hold, 0) = 0 AS skips, coalesce(c.checkpoint, 0) AS checkpoint
    FROM webhook w LEFT JOIN webhook_choice c ON c.webhook_id = w.id WHERE w.id = +?`,
})
/** Notifications that one write handles for one endpoint. */
const batchRows = 200
/** The limit is written out: SQLite prepares a statement anew for every bound one. */
const nextPublished = statement({
  columns: { seq: integer, type: text },
  sql: `SELECT seq, type FROM ${published} WHERE seq > +? ORDER BY seq LIMIT ${batchRows}`,
})
/** A delivery that waits for its first attempt. */
export const newDelivery = built(
  pick(tables.delivery, 'id', 'webhook_id', 'outbox_seq', 'next_attempt_at_ms', 'created_at_ms'),
  (row) => sql.insertInto('delivery').values({ ...row, state: 'pending' }),
)
const newPlace = built(pick(tables.webhook, 'id', 'fanned_out_seq'), ({ id, fanned_out_seq }) =>
  sql.updateTable('webhook').set({ fanned_out_seq }).where('id', '=', id),
)

/** Returns the endpoints with notifications that have not been fanned out yet, each with its stored place. */
export function behind(tx: ReadTx): { readonly id: string; readonly seq: number }[] {
  return tx.all(behindOutbox)
}

/**
 * Returns the last notification behind a place, or behind the stored one, when the endpoint wants none up to there. Undefined where
 * a write is due: for deliveries, for an endpoint that skips, or because the stored place is a batch behind.
 */
export function lookThrough(tx: ReadTx, webhookId: string, passedSeq: number): number | undefined {
  const webhook = tx.get(wantedBy, [webhookId])
  if (!webhook || webhook.skips === 1) return undefined
  const rows = tx.all(nextPublished, [Math.max(webhook.fanned_out_seq, passedSeq)])
  const last = rows.at(-1)
  if (!last || last.seq - webhook.fanned_out_seq >= batchRows) return undefined
  return chosenOf(rows, webhook.events).length === 0 ? last.seq : undefined
}

/** Returns the notifications that an endpoint wants. A test was for one endpoint, which already got it. */
function chosenOf<Row extends { readonly type: string }>(rows: readonly Row[], events: string): Row[] {
  const wanted = new Set(JSON.parse(events) as string[])
  return rows.filter(({ type }) => wanted.has(type) && type !== 'webhook.test')
}

export type FanOut = {
  readonly makeId: () => string
  readonly nowMs: number
  /** Delay before the first attempt. */
  readonly firstDelayMs: number
  /** Returns the newest checkpoint. */
  readonly newestCheckpoint: () => CheckpointNote | undefined
}

/**
 * Makes the deliveries of one endpoint for the next notifications, in their order, a bounded number of them. Returns
 * whether more are left. An endpoint that its failures have disabled gets its deliveries too: they wait. One that a person has
 * switched off gets none, unless they are held for it.
 */
export function fanOut(tx: Tx, webhookId: string, options: FanOut): boolean {
  const { makeId, nowMs, firstDelayMs, newestCheckpoint } = options
  const webhook = tx.get(wantedBy, [webhookId])
  if (!webhook) return false
  if (webhook.skips === 1) {
    tx.run(newPlace, { id: webhookId, fanned_out_seq: outboxEnd(tx) })
    return false
  }
  const rows = tx.all(nextPublished, [webhook.fanned_out_seq])
  // 0 is "at once": such rows go out in the order of seq whatever the wall clock did in between.
  const nextAttemptAtMs = firstDelayMs === 0 ? 0 : nowMs + firstDelayMs
  const chosen = chosenOf(rows, webhook.events)
  const [first] = chosen
  if (first) carryFrom(tx, webhookId, first.seq, webhook.checkpoint === 1 ? newestCheckpoint() : undefined)
  for (const { seq } of chosen) {
    tx.run(newDelivery, {
      ...{ id: makeId(), webhook_id: webhookId, outbox_seq: seq },
      ...{ next_attempt_at_ms: nextAttemptAtMs, created_at_ms: nowMs },
    })
  }
  const last = rows.at(-1)
  if (last) tx.run(newPlace, { id: webhookId, fanned_out_seq: last.seq })
  return rows.length === batchRows
}

/** As `fanOut`, to the end: before its settings change, an endpoint gets what was published under the old ones. */
export function fanOutAll(tx: Tx, webhookId: string, options: FanOut): void {
  while (fanOut(tx, webhookId, options));
}
