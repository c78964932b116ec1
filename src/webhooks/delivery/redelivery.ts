import {
  built,
  change,
  integer,
  maybe,
  pick,
  type ReadTx,
  statement,
  statements,
  type Tx,
  text,
  word,
} from '../../database/index.ts'
import { published } from '../../journal/index.ts'
import { sql, tables } from '../tables.ts'
import { newDelivery } from './fan-out.ts'
import type { DeliveryState } from './store.ts'

const requeued = change(`UPDATE delivery SET state = 'pending', attempts_before = attempts, delivered_at_ms = NULL,
  next_attempt_at_ms = iif(attempts = 0, next_attempt_at_ms, ?) WHERE id = +?`)
const ends = statement({
  columns: { low: maybe(integer), high: maybe(integer) },
  sql: `SELECT min(seq) AS low, max(seq) AS high FROM ${published}`,
})
const timeBehind = statement({
  columns: { ms: integer },
  sql: `SELECT timestamp_ms AS ms FROM ${published} WHERE seq >= +? ORDER BY seq LIMIT 1`,
})
const wantedBy = built(pick(tables.webhook, 'id'), ({ id }) =>
  sql.selectFrom('webhook').select(['events', 'fanned_out_seq as seq']).where('id', '=', id),
)

/**
 * Makes a delivery due now, under a schedule that begins anew; its id, its bytes and its attempts stay. One that was
 * never tried is due already and keeps its place.
 */
export function requeue(tx: Tx, deliveryId: string, nowMs: number): void {
  tx.run(requeued, [Math.max(nowMs, 1), deliveryId])
}

/**
 * - failed: deliveries that were given up.
 * - missing: also notifications without a delivery, because the endpoint was registered or subscribed later.
 * - all: also delivered ones.
 */
export const inclusions = ['failed', 'missing', 'all'] as const
export type Inclusion = (typeof inclusions)[number]

/** Notifications by their time; both ends belong to it. */
export type Span = { readonly sinceMs: number; readonly untilMs: number; readonly include: Inclusion }

/** Notifications that one write looks at. */
const batchRows = 500

/** The wall clock may have been set, so seq and time may disagree by so much. */
const disorderMs = 24 * 60 * 60 * 1000

/**
 * A seq from which on all notifications since `sinceMs` are found, few more before it. Times ascend with seq but for
 * corrections of the clock, so halving finds it without an index that every event would have to pay for.
 */
export function firstSeqSince(tx: ReadTx, sinceMs: number): number {
  const found = tx.get(ends)
  let low = found?.low ?? 0
  let high = (found?.high ?? 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = tx.get(timeBehind, [middle])
    if (row && row.ms < sinceMs - disorderMs) low = middle + 1
    else high = middle
  }
  return low
}

const lookedAt = statements({
  columns: {
    seq: integer,
    type: text,
    ms: integer,
    id: maybe(text),
    state: maybe(word<DeliveryState>()),
  },
  sql: (include: Inclusion) => {
    const from =
      include === 'failed'
        ? `delivery d JOIN ${published} o ON o.seq = d.outbox_seq WHERE d.webhook_id = ? AND d.state = 'exhausted'`
        : `${published} o LEFT JOIN delivery d ON d.outbox_seq = o.seq AND d.webhook_id = ? WHERE true`
    const seq = include === 'failed' ? 'd.outbox_seq' : 'o.seq'
    return `SELECT o.seq, o.type, o.timestamp_ms AS ms, d.id, d.state FROM ${from} AND o.type <> 'webhook.test'
      AND ${seq} > +? AND ${seq} <= +? ORDER BY ${seq} LIMIT ${batchRows}`
  },
  samples: [['failed'], ['missing'], ['all']],
})

export type Recovery = { readonly afterSeq: number; readonly makeId: () => string; readonly nowMs: number }

/**
 * Queues the next notifications of the span after a seq, again or for the first time. Deliveries that are pending anyway, and
 * notifications that fan-out has yet to reach, stay as they are. Continue after `lastSeq`; it is absent at the end.
 */
export function recoverSome(
  tx: Tx,
  webhookId: string,
  span: Span,
  { afterSeq, makeId, nowMs }: Recovery,
): { resent: number; lastSeq: number | undefined } {
  const webhook = tx.get(wantedBy, { id: webhookId })
  if (!webhook) return { resent: 0, lastSeq: undefined }
  const wanted = new Set(JSON.parse(webhook.events) as string[])
  const rows = tx.all(lookedAt(span.include), [webhookId, afterSeq, webhook.seq])
  let resent = 0
  for (const row of rows) {
    if (row.ms < span.sinceMs || row.ms > span.untilMs || row.state === 'pending') continue
    if (row.id === null && !wanted.has(row.type)) continue
    if (row.id === null) insert(tx, makeId(), webhookId, row.seq, nowMs)
    else if (row.state === 'exhausted' || span.include === 'all') requeue(tx, row.id, nowMs)
    else continue
    resent += 1
  }
  return { resent, lastSeq: rows.length === batchRows ? rows.at(-1)?.seq : undefined }
}

/** Adds a delivery that is due now and not "at once", so that it does not delay first attempts of younger events. */
function insert(tx: Tx, id: string, webhookId: string, seq: number, nowMs: number): void {
  tx.run(newDelivery, {
    ...{ id, webhook_id: webhookId, outbox_seq: seq },
    ...{ next_attempt_at_ms: Math.max(nowMs, 1), created_at_ms: nowMs },
  })
}
