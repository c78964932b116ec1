import { integer, maybe, pick, type ReadTx, statement, text } from '../database/index.ts'
import { type CheckpointNote, endsOfPublished, published } from '../journal/index.ts'
import { numberOfLog } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
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
const bodyBehind = statement({
  columns: { checkpoint: maybe(text) },
  sql: `SELECT json_extract(CAST(body AS TEXT), '$.metadata.checkpoint') AS checkpoint FROM ${published}
    WHERE seq >= +? ORDER BY seq LIMIT 1`,
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
  const hooks = tx.all(endpoints)
  if (hooks.length === 0) return []
  const from = firstCovering(tx, log, seq)
  if (from === undefined) return []
  const found = hooks.flatMap(({ id, url }) => {
    const one = tx.get(firstReceived, [id, from])
    const carried = one && checkpointAt(tx, one.seq)
    if (!one || !carried || !covers(tx, carried, log, seq)) return []
    return [{ deliveryId: one.id, host: new URL(url).hostname, statusCode: one.status, atMs: one.atMs }]
  })
  return found
    .toSorted((a, b) => a.atMs - b.atMs)
    .slice(0, mostReceivers)
    .map(({ atMs, ...receiver }) => ({ ...receiver, at: isoTime(atMs) }))
}

/** The first notification that carries a checkpoint over the leaf, by halving: they never carry an older one than before. */
function firstCovering(tx: ReadTx, log: number, seq: number): number | undefined {
  const { first, last } = endsOfPublished(tx)
  if (first === null || last === null) return undefined
  let [low, high] = [first, last + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const carried = checkpointAt(tx, middle)
    if (carried && isFrom(tx, carried, log, seq)) high = middle
    else low = middle + 1
  }
  return low > last ? undefined : low
}

function checkpointAt(tx: ReadTx, seq: number): CheckpointNote | undefined {
  const found = tx.get(bodyBehind, [seq])?.checkpoint
  return found ? (JSON.parse(found) as CheckpointNote) : undefined
}

const covers = (tx: ReadTx, { logId, size }: CheckpointNote, log: number, seq: number): boolean =>
  numberOfLog(tx, logId) === log && size >= seq

/** Whether it covers the leaf, or is of a later log. */
const isFrom = (tx: ReadTx, carried: CheckpointNote, log: number, seq: number): boolean =>
  covers(tx, carried, log, seq) || (numberOfLog(tx, carried.logId) ?? 0) > log
