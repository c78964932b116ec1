import { integer, pick, type ReadTx, statement, text } from '../../database/index.ts'
import { published } from '../../journal/index.ts'
import { idOfLog } from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import { tables } from '../tables.ts'

/** A receiver outside that answered 2xx to a notification with a checkpoint, and so has seen that checkpoint. */
export type ReceivedCheckpoint = {
  readonly deliveryId: string
  readonly host: string
  readonly statusCode: number
  readonly at: string
}

/** A proof names so many receivers at most. */
const mostReceivers = 10

const endpoints = statement({
  columns: pick(tables.webhook, 'id', 'url'),
  sql: 'SELECT id, url FROM webhook ORDER BY id LIMIT 100',
})
/**
 * Takes the first to arrive among the first 200 deliveries with a checkpoint of this log over so many leaves. The bound keeps
 * proofs fast after an endpoint was away. The stored body of a test says which one it carried.
 */
const firstReceived = statement({
  columns: { id: text, status: integer, atMs: integer },
  sql: `SELECT id, last_status AS status, delivered_at_ms AS atMs
    FROM (SELECT * FROM (SELECT d.id, d.last_status, d.delivered_at_ms, d.outbox_seq, d.state, c.log_id, c.size
        FROM webhook_checkpoint c CROSS JOIN delivery d ON d.webhook_id = c.webhook_id AND d.outbox_seq >= c.from_seq
          AND d.outbox_seq < coalesce((SELECT min(n.from_seq) FROM webhook_checkpoint n
            WHERE n.webhook_id = c.webhook_id AND n.from_seq > c.from_seq), 9223372036854775807)
        WHERE c.webhook_id = +? AND c.log_id = +? AND c.size >= +? ORDER BY c.size, c.from_seq, d.outbox_seq LIMIT 200)
      WHERE state = 'delivered' AND last_status IS NOT NULL AND delivered_at_ms IS NOT NULL ORDER BY outbox_seq LIMIT 20)
    WHERE (SELECT type <> 'webhook.test'
        OR json_extract(CAST(body AS TEXT), '$.metadata.checkpoint.logId') = log_id
          AND json_extract(CAST(body AS TEXT), '$.metadata.checkpoint.size') >= size
      FROM ${published} WHERE seq = outbox_seq)
    ORDER BY outbox_seq LIMIT 1`,
})

/**
 * Returns the receivers outside that got a checkpoint over a leaf (its number from 1 on), by the deliveries of the last 30 days.
 * Each endpoint has its first delivery; the earliest comes first. Only the host of an address is named.
 */
export function receivedCheckpoints(tx: ReadTx, log: number, seq: number): ReceivedCheckpoint[] {
  const logId = idOfLog(tx, log)
  if (logId === undefined) return []
  const found = tx.all(endpoints).flatMap(({ id, url }) => {
    const one = tx.get(firstReceived, [id, logId, seq])
    return one ? [{ deliveryId: one.id, host: new URL(url).hostname, statusCode: one.status, atMs: one.atMs }] : []
  })
  return found
    .toSorted((a, b) => a.atMs - b.atMs)
    .slice(0, mostReceivers)
    .map(({ atMs, ...receiver }) => ({ ...receiver, at: isoTime(atMs) }))
}
