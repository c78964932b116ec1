import type { ReadTx, Tx } from '../database/index.ts'
import type { DeliveryState } from './delivery-store.ts'

/**
 * Makes a delivery due now, under a schedule that begins anew; its id, its bytes and its attempts stay. One that was
 * never tried is due already and keeps its place.
 */
export function requeue(tx: Tx, deliveryId: string, nowMs: number): void {
  tx.runOf(
    `UPDATE delivery SET state = 'pending', attempts_before = attempts, delivered_at_ms = NULL,
       next_attempt_at_ms = iif(attempts = 0, next_attempt_at_ms, ?) WHERE id = +?`,
    [Math.max(nowMs, 1), deliveryId],
  )
}

/**
 * failed: what was given up. missing: also what it never had a delivery for, because it was registered, or subscribed,
 * later. all: also what it has had.
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
  const ends = tx.oneOf<{ low: number | null; high: number | null }>(
    'SELECT min(seq) AS low, max(seq) AS high FROM outbox',
  )
  let low = ends?.low ?? 0
  let high = (ends?.high ?? 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = tx.oneOf<{ ms: number }>('SELECT timestamp_ms AS ms FROM outbox WHERE seq >= +? ORDER BY seq LIMIT 1', [
      middle,
    ])
    if (row && row.ms < sinceMs - disorderMs) low = middle + 1
    else high = middle
  }
  return low
}

type Looked = {
  readonly seq: number
  readonly type: string
  readonly ms: number
  readonly id: string | null
  readonly state: DeliveryState | null
}

export type Recovery = { readonly afterSeq: number; readonly makeId: () => string; readonly nowMs: number }

/**
 * The next notifications after a seq: those of the span are sent again, or for the first time. What waits anyway stays
 * as it is, and so does what fan-out has yet to come to. `lastSeq` is where to go on; absent at the end.
 */
export function recoverSome(
  tx: Tx,
  webhookId: string,
  span: Span,
  { afterSeq, makeId, nowMs }: Recovery,
): { resent: number; lastSeq: number | undefined } {
  const webhook = tx.oneOf<{ events: string; seq: number }>(
    'SELECT events, fanned_out_seq AS seq FROM webhook WHERE id = +?',
    [webhookId],
  )
  if (!webhook) return { resent: 0, lastSeq: undefined }
  const wanted = new Set(JSON.parse(webhook.events) as string[])
  const rows = look(tx, webhookId, span.include, afterSeq, webhook.seq)
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

function look(tx: ReadTx, webhookId: string, include: Inclusion, afterSeq: number, endSeq: number): Looked[] {
  const columns = 'o.seq, o.type, o.timestamp_ms AS ms, d.id, d.state'
  const from =
    include === 'failed'
      ? `delivery d JOIN outbox o ON o.seq = d.outbox_seq WHERE d.webhook_id = ? AND d.state = 'exhausted'`
      : 'outbox o LEFT JOIN delivery d ON d.outbox_seq = o.seq AND d.webhook_id = ? WHERE true'
  const seq = include === 'failed' ? 'd.outbox_seq' : 'o.seq'
  return tx.allOf<Looked>(
    `SELECT ${columns} FROM ${from} AND o.type <> 'webhook.test' AND ${seq} > +? AND ${seq} <= +? ORDER BY ${seq} LIMIT ${batchRows}`,
    [webhookId, afterSeq, endSeq],
  )
}

/** Adds a delivery that is due now and not "at once", so that it does not delay first attempts of younger events. */
function insert(tx: Tx, id: string, webhookId: string, seq: number, nowMs: number): void {
  tx.runOf(
    `INSERT INTO delivery (id, webhook_id, outbox_seq, state, next_attempt_at_ms, created_at_ms) VALUES (?, ?, ?, 'pending', ?, ?)`,
    [id, webhookId, seq, Math.max(nowMs, 1), nowMs],
  )
}
