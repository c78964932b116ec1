import type { ReadTx, Tx } from '../database/index.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import { sealedSecretsOf } from './secrets.ts'

/** A delivery with a started attempt, and everything that the attempt needs. */
export type Claimed = {
  readonly id: string
  readonly webhookId: string
  /** Of this attempt, from 1. */
  readonly attempt: number
  readonly url: string
  /** The current one first. */
  readonly sealedSecrets: readonly Buffer[]
  readonly type: string
  readonly timestampMs: number
  readonly body: Buffer
}

/**
 * Deliveries of an endpoint that are due: those to be sent at once (never tried before), in order of publication, and
 * those at a time (retries), the longest due first. At most `limit` of each, leased ones left out.
 * Limits are written out: SQLite prepares a statement anew for every bound one.
 */
export function dueDeliveries(
  tx: ReadTx,
  webhookId: string,
  nowMs: number,
  limit: number,
): { firsts: string[]; retries: string[] } {
  const firsts = tx.allOf<{ id: string }>(
    `SELECT id FROM delivery WHERE webhook_id = +? AND state = 'pending' AND next_attempt_at_ms = 0 AND lease_until_ms <= ?
     ORDER BY outbox_seq LIMIT ${limit}`,
    [webhookId, nowMs],
  )
  const retries = tx.allOf<{ id: string }>(
    `SELECT id FROM delivery WHERE webhook_id = +? AND state = 'pending' AND next_attempt_at_ms BETWEEN 1 AND +? AND lease_until_ms <= ?
     ORDER BY next_attempt_at_ms, outbox_seq LIMIT ${limit}`,
    [webhookId, nowMs, nowMs],
  )
  return { firsts: firsts.map(({ id }) => id), retries: retries.map(({ id }) => id) }
}

/** Due retries that are searched for the oldest. */
const lookedThrough = 1000

/**
 * Deliveries of an endpoint that are due, retries or not, in the order of publication; leased ones left out. Among more
 * than a thousand due retries it is the order of the thousand longest due: a pass must not sort a whole backlog.
 */
export function oldestDue(tx: ReadTx, webhookId: string, nowMs: number, limit: number): { id: string; seq: number }[] {
  return tx.allOf<{ id: string; seq: number }>(
    `SELECT id, seq FROM (
       SELECT id, outbox_seq AS seq FROM delivery
       WHERE webhook_id = +? AND state = 'pending' AND next_attempt_at_ms = 0 AND lease_until_ms <= ? ORDER BY outbox_seq LIMIT ${limit})
     UNION ALL
     SELECT id, seq FROM (
       SELECT id, outbox_seq AS seq FROM delivery
       WHERE webhook_id = +? AND state = 'pending' AND next_attempt_at_ms BETWEEN 1 AND +? AND lease_until_ms <= ?
       ORDER BY next_attempt_at_ms, outbox_seq LIMIT ${lookedThrough})
     ORDER BY seq LIMIT ${limit}`,
    [webhookId, nowMs, webhookId, nowMs, nowMs],
  )
}

/** When the next delivery that is not due yet becomes due, over all endpoints that are sent to. */
export function nextDueMs(tx: ReadTx, nowMs: number): number | undefined {
  const row = tx.oneOf<{ at_ms: number | null }>(
    `SELECT min((SELECT min(next_attempt_at_ms) FROM delivery d
                 WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.next_attempt_at_ms > +?)) AS at_ms
     FROM webhook w WHERE w.active = 1 AND w.status <> 'disabled'`,
    [nowMs],
  )
  return row?.at_ms ?? undefined
}

/** Sets the lease of a delivery and returns it; undefined when it must not be sent now. */
export function claim(tx: Tx, deliveryId: string, nowMs: number, leaseUntilMs: number): Claimed | undefined {
  const row = tx.oneOf<Omit<Claimed, 'attempt' | 'sealedSecrets'> & { attempts: number }>(
    `SELECT d.id, d.webhook_id AS webhookId, d.attempts, w.url, o.type, o.timestamp_ms AS timestampMs, o.body
     FROM delivery d JOIN webhook w ON w.id = d.webhook_id JOIN outbox o ON o.seq = d.outbox_seq
     WHERE d.id = +? AND d.state = 'pending' AND w.active = 1 AND w.status <> 'disabled'`,
    [deliveryId],
  )
  if (!row) return undefined
  tx.runOf('UPDATE delivery SET lease_until_ms = ? WHERE id = +?', [leaseUntilMs, deliveryId])
  const { attempts, ...rest } = row
  return { ...rest, attempt: attempts + 1, sealedSecrets: sealedSecretsOf(tx, row.webhookId, nowMs) }
}

/** Ends every lease: at the start no other process works on this database. Returns how many there were. */
export function voidLeases(tx: Tx): number {
  return tx.runOf(`UPDATE delivery SET lease_until_ms = 0 WHERE state = 'pending' AND lease_until_ms > 0`).changes
}

/** Brings back deliveries that a clock which ran ahead has delayed beyond any schedule. Returns how many. */
export function pullForward(tx: Tx, latestMs: number): number {
  return tx.runOf(`UPDATE delivery SET next_attempt_at_ms = ? WHERE state = 'pending' AND next_attempt_at_ms > +?`, [
    latestMs,
    latestMs,
  ]).changes
}

/** What the record of an attempt needs. */
export type UnderWay = {
  /** Attempts made before its last redelivery, which began the schedule anew. */
  readonly attemptsBefore: number
  readonly webhookId: string
  readonly url: string
  readonly health: EndpointHealth
}

export function underWay(tx: ReadTx, deliveryId: string): UnderWay | undefined {
  const row = tx.oneOf<{
    attemptsBefore: number
    webhookId: string
    url: string
    status: EndpointHealth['status']
    failures: number
  }>(
    `SELECT d.attempts_before AS attemptsBefore, d.webhook_id AS webhookId, w.url, w.status, w.consecutive_failures AS failures
     FROM delivery d JOIN webhook w ON w.id = d.webhook_id WHERE d.id = +? AND d.state = 'pending'`,
    [deliveryId],
  )
  return (
    row && {
      attemptsBefore: row.attemptsBefore,
      webhookId: row.webhookId,
      url: row.url,
      health: { status: row.status, consecutiveFailures: row.failures },
    }
  )
}

export type AttemptRow = {
  /** From 1. */
  readonly attempt: number
  readonly startedAtMs: number
  readonly durationMs: number
  /** HTTP status, null when there was none. */
  readonly status: number | null
  readonly error: string | null
  /** The first KiB of the answer's body; null when there was none. */
  readonly answer: string | null
}

export function addAttempt(tx: Tx, deliveryId: string, row: AttemptRow): void {
  tx.runOf(
    'INSERT INTO delivery_attempt (delivery_id, attempt, started_at_ms, duration_ms, status, error, answer) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [deliveryId, row.attempt, row.startedAtMs, row.durationMs, row.status, row.error, row.answer],
  )
}

/** A test that was sent: a delivery that is over, with its one attempt. */
export type SentTest = Omit<AttemptRow, 'attempt'> & {
  readonly id: string
  readonly webhookId: string
  readonly outboxSeq: number
  readonly state: Exclude<DeliveryState, 'pending'>
  readonly endedAtMs: number
}

export function addTest(tx: Tx, test: SentTest): void {
  const { id, webhookId, outboxSeq, state, endedAtMs, ...attempt } = test
  tx.runOf(
    `INSERT INTO delivery (id, webhook_id, outbox_seq, state, attempts, next_attempt_at_ms, last_status, last_error, created_at_ms,
       delivered_at_ms) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)`,
    [
      ...[id, webhookId, outboxSeq, state, endedAtMs, attempt.status, attempt.error, attempt.startedAtMs],
      state === 'delivered' ? endedAtMs : null,
    ],
  )
  addAttempt(tx, id, { ...attempt, attempt: 1 })
}

export type DeliveryState = 'pending' | 'delivered' | 'exhausted'

export type AfterAttempt = Pick<AttemptRow, 'attempt' | 'status' | 'error'> & {
  readonly state: DeliveryState
  /** For a pending one. */
  readonly nextAttemptAtMs?: number | undefined
  readonly deliveredAtMs?: number | undefined
}

/** Stores the new state of a delivery and ends its lease. */
export function settleDelivery(tx: Tx, deliveryId: string, after: AfterAttempt): void {
  tx.runOf(
    `UPDATE delivery SET state = ?, attempts = ?, next_attempt_at_ms = coalesce(?, next_attempt_at_ms), lease_until_ms = 0,
       last_status = ?, last_error = ?, delivered_at_ms = ? WHERE id = +?`,
    [
      after.state,
      after.attempt,
      after.nextAttemptAtMs ?? null,
      after.status,
      after.error,
      after.deliveredAtMs ?? null,
      deliveryId,
    ],
  )
}

/** Ends a lease without an attempt: the delivery waits as before, with the reason as its last error. */
export function holdDelivery(tx: Tx, deliveryId: string, reason: string): void {
  tx.runOf('UPDATE delivery SET lease_until_ms = 0, last_error = ? WHERE id = +?', [reason, deliveryId])
}

/** Deliveries of one endpoint, `limit` at most, with their attempts. Returns how many were removed. */
export function removeDeliveriesOf(tx: Tx, webhookId: string, limit: number): number {
  return tx.runOf('DELETE FROM delivery WHERE id IN (SELECT id FROM delivery WHERE webhook_id = +? LIMIT ?)', [
    webhookId,
    limit,
  ]).changes
}

export type DeliveryRow = {
  readonly id: string
  readonly outboxSeq: number
  readonly eventId: string
  readonly type: string
  readonly timestampMs: number
  readonly state: DeliveryState
  readonly attempts: number
  readonly nextAttemptAtMs: number
  readonly lastStatus: number | null
  readonly lastError: string | null
  readonly createdAtMs: number
  readonly deliveredAtMs: number | null
}

export type DeliveryFilter = {
  readonly state?: DeliveryState | undefined
  readonly type?: string | undefined
  /** Time of the event, inclusive. */
  readonly from?: number | undefined
  /** Time of the event, exclusive. */
  readonly to?: number | undefined
}

export type HistoryPage = {
  /** Only what was published before this seq. */
  readonly beforeSeq?: number | undefined
  /** Only what was published after this seq, oldest first. */
  readonly afterSeq?: number | undefined
  readonly limit: number
  readonly offset: number
}

const deliveryColumns = `d.id, d.outbox_seq AS outboxSeq, o.event_id AS eventId, o.type, o.timestamp_ms AS timestampMs,
  d.state, d.attempts, d.next_attempt_at_ms AS nextAttemptAtMs, d.last_status AS lastStatus, d.last_error AS lastError,
  d.created_at_ms AS createdAtMs, d.delivered_at_ms AS deliveredAtMs`

/** The state as text, not as a parameter: only then the index of the exhausted ones is found. */
function conditionOf({ state, type, from, to }: DeliveryFilter): { sql: string; values: (string | number)[] } {
  const parts: [string, string | number | undefined][] = [
    ['AND o.type = +?', type],
    ['AND o.timestamp_ms >= +?', from],
    ['AND o.timestamp_ms < +?', to],
  ]
  const asked = parts.filter(([, value]) => value !== undefined)
  return {
    sql: [state === undefined ? '' : `AND d.state = '${state}'`, ...asked.map(([sql]) => sql)].join(' '),
    values: asked.map(([, value]) => value ?? 0),
  }
}

/** An endpoint's deliveries, the newest notification first; with `afterSeq` the oldest first. */
export function deliveriesOf(tx: ReadTx, webhookId: string, filter: DeliveryFilter, page: HistoryPage): DeliveryRow[] {
  const { sql, values } = conditionOf(filter)
  const { beforeSeq = Number.MAX_SAFE_INTEGER, afterSeq, limit, offset } = page
  return tx.allOf<DeliveryRow>(
    `SELECT ${deliveryColumns} FROM delivery d JOIN outbox o ON o.seq = d.outbox_seq
     WHERE d.webhook_id = +? AND d.outbox_seq > +? AND d.outbox_seq < +? ${sql}
     ORDER BY d.outbox_seq${afterSeq === undefined ? ' DESC' : ''} LIMIT ? OFFSET ?`,
    [webhookId, afterSeq ?? -1, beforeSeq, ...values, limit, offset],
  )
}

/** One delivery of an endpoint; undefined when it has none of this id. */
export function findDelivery(tx: ReadTx, webhookId: string, id: string): DeliveryRow | undefined {
  return tx.oneOf<DeliveryRow>(
    `SELECT ${deliveryColumns} FROM delivery d JOIN outbox o ON o.seq = d.outbox_seq WHERE d.id = +? AND d.webhook_id = +?`,
    [id, webhookId],
  )
}

/** How many there are, counted up to `limit`. */
export function countDeliveriesOf(
  tx: ReadTx,
  webhookId: string,
  filter: DeliveryFilter,
  { afterSeq = -1, limit }: Pick<HistoryPage, 'afterSeq' | 'limit'>,
): number {
  const { sql, values } = conditionOf(filter)
  const events = values.length > 0 ? 'JOIN outbox o ON o.seq = d.outbox_seq' : ''
  const row = tx.oneOf<{ total: number }>(
    `SELECT count(*) AS total FROM (SELECT 1 FROM delivery d ${events} WHERE d.webhook_id = +? AND d.outbox_seq > +? ${sql} LIMIT ?)`,
    [webhookId, afterSeq, ...values, limit],
  )
  return row?.total ?? 0
}

/** The attempts of these deliveries, in order, by delivery. */
export function attemptsOf(tx: ReadTx, deliveryIds: readonly string[]): Map<string, AttemptRow[]> {
  const rows = tx.allOf<AttemptRow & { deliveryId: string }>(
    `SELECT delivery_id AS deliveryId, attempt, started_at_ms AS startedAtMs, duration_ms AS durationMs, status, error, answer
     FROM delivery_attempt WHERE delivery_id IN (SELECT value FROM json_each(?)) ORDER BY delivery_id, attempt`,
    [JSON.stringify(deliveryIds)],
  )
  return Map.groupBy(rows, (row) => row.deliveryId)
}
