import { built, integer, pick, type ReadTx, statement, type Tx, text } from '../database/index.ts'
import { published } from '../journal/index.ts'
import { sql, tables } from './tables.ts'

const behindOutbox = statement({
  columns: { id: text },
  sql: `SELECT id FROM webhook WHERE fanned_out_seq < (SELECT max(seq) FROM ${published}) ORDER BY id`,
})
const wantedBy = built(pick(tables.webhook, 'id'), ({ id }) =>
  sql.selectFrom('webhook').select(['events', 'fanned_out_seq']).where('id', '=', id),
)
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

/** Returns the ids of endpoints with notifications that have not been fanned out yet. */
export function behind(tx: ReadTx): string[] {
  return tx.all(behindOutbox).map(({ id }) => id)
}

export type FanOut = {
  readonly makeId: () => string
  readonly nowMs: number
  /** Delay before the first attempt. */
  readonly firstDelayMs: number
}

/**
 * Makes the deliveries of one endpoint for the next notifications, in their order, a bounded number of them. Returns
 * whether more are left. A disabled endpoint gets its deliveries too: they wait.
 */
export function fanOut(tx: Tx, webhookId: string, { makeId, nowMs, firstDelayMs }: FanOut): boolean {
  const webhook = tx.get(wantedBy, { id: webhookId })
  if (!webhook) return false
  const wanted = new Set(JSON.parse(webhook.events) as string[])
  const rows = tx.all(nextPublished, [webhook.fanned_out_seq])
  // 0 is "at once": such rows go out in the order of seq whatever the wall clock did in between.
  const nextAttemptAtMs = firstDelayMs === 0 ? 0 : nowMs + firstDelayMs
  for (const { seq, type } of rows) {
    // A test was for one endpoint, which already got it.
    if (!wanted.has(type) || type === 'webhook.test') continue
    tx.run(newDelivery, {
      ...{ id: makeId(), webhook_id: webhookId, outbox_seq: seq },
      ...{ next_attempt_at_ms: nextAttemptAtMs, created_at_ms: nowMs },
    })
  }
  const last = rows.at(-1)
  if (last) tx.run(newPlace, { id: webhookId, fanned_out_seq: last.seq })
  return rows.length === batchRows
}

/** As `fanOut`, to the end: before its events change, an endpoint gets what was published under the old ones. */
export function fanOutAll(tx: Tx, webhookId: string, options: FanOut): void {
  while (fanOut(tx, webhookId, options));
}
