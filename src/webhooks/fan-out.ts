import type { ReadTx, Tx } from '../database/index.ts'

/** Notifications that one write handles for one endpoint. */
const batchRows = 200

/** Returns the ids of endpoints with notifications that have not been fanned out yet. */
export function behind(tx: ReadTx): string[] {
  return tx
    .allOf<{ id: string }>('SELECT id FROM webhook WHERE fanned_out_seq < (SELECT max(seq) FROM outbox) ORDER BY id')
    .map(({ id }) => id)
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
  const webhook = tx.oneOf<{ events: string; fanned_out_seq: number }>(
    'SELECT events, fanned_out_seq FROM webhook WHERE id = +?',
    [webhookId],
  )
  if (!webhook) return false
  const wanted = new Set(JSON.parse(webhook.events) as string[])
  const rows = tx.allOf<{ seq: number; type: string }>(
    `SELECT seq, type FROM outbox WHERE seq > +? ORDER BY seq LIMIT ${batchRows}`,
    [webhook.fanned_out_seq],
  )
  // 0 is "at once": such rows go out in the order of seq whatever the wall clock did in between.
  const nextAttemptAtMs = firstDelayMs === 0 ? 0 : nowMs + firstDelayMs
  for (const { seq, type } of rows) {
    // A test was for one endpoint, which already got it.
    if (!wanted.has(type) || type === 'webhook.test') continue
    tx.runOf(
      `INSERT INTO delivery (id, webhook_id, outbox_seq, state, next_attempt_at_ms, created_at_ms) VALUES (?, ?, ?, 'pending', ?, ?)`,
      [makeId(), webhookId, seq, nextAttemptAtMs, nowMs],
    )
  }
  const last = rows.at(-1)
  if (last) tx.runOf('UPDATE webhook SET fanned_out_seq = ? WHERE id = +?', [last.seq, webhookId])
  return rows.length === batchRows
}

/** As `fanOut`, to the end: before its events change, an endpoint gets what was published under the old ones. */
export function fanOutAll(tx: Tx, webhookId: string, options: FanOut): void {
  while (fanOut(tx, webhookId, options));
}
