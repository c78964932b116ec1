import { integer, pick, type ReadTx, statement, text } from '../database/index.ts'
import { idOfLog } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import { carriedSize, firstWithCheckpoint } from './carried.ts'
import { tables } from './tables.ts'

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
/** Of the next 200 deliveries of an endpoint the first that arrived: an endpoint that was away must not make proofs slow. */
const firstReceived = statement({
  columns: { id: text, status: integer, atMs: integer, seq: integer },
  sql: `SELECT id, last_status AS status, delivered_at_ms AS atMs, outbox_seq AS seq
    FROM (SELECT id, last_status, delivered_at_ms, outbox_seq, state FROM delivery WHERE webhook_id = +? AND outbox_seq >= +? ORDER BY outbox_seq LIMIT 200)
    WHERE state = 'delivered' AND last_status IS NOT NULL AND delivered_at_ms IS NOT NULL ORDER BY outbox_seq LIMIT 1`,
})

/**
 * Returns who outside has received a checkpoint that covers a leaf (its number from 1 on), as far as the deliveries of the last
 * 30 days say it: for each endpoint the first delivery, the earliest first. Of an address only the host is named.
 */
export function receivedCheckpoints(tx: ReadTx, log: number, seq: number): ReceivedCheckpoint[] {
  const logId = idOfLog(tx, log)
  if (logId === undefined) return []
  const found = tx.all(endpoints).flatMap(({ id, url }) => {
    const from = firstWithCheckpoint(tx, id, logId, seq)
    const one = from === undefined ? undefined : tx.get(firstReceived, [id, from])
    const carried = one && carriedSize(tx, id, one.seq)
    // It may have been switched off in between, or the log was forked.
    if (!one || carried?.logId !== logId || carried.size < seq) return []
    return [{ deliveryId: one.id, host: new URL(url).hostname, statusCode: one.status, atMs: one.atMs }]
  })
  return found
    .toSorted((a, b) => a.atMs - b.atMs)
    .slice(0, mostReceivers)
    .map(({ atMs, ...receiver }) => ({ ...receiver, at: isoTime(atMs) }))
}
