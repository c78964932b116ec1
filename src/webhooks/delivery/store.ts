import {
  blob,
  built,
  type Condition,
  change,
  integer,
  listings,
  maybe,
  pick,
  type ReadTx,
  type RowOf,
  statement,
  statements,
  type Tx,
  text,
  word,
} from '../../database/index.ts'
import { published, withCheckpoint } from '../../journal/index.ts'
import { sealedSecretsOf } from '../secrets.ts'
import { sql, tables } from '../tables.ts'
import { checkpointAt } from './carried.ts'
import type { EndpointHealth } from './endpoint-health.ts'

/** Due retries that are searched for the oldest. */
const lookedThrough = 1000
/** The limits are written out: SQLite prepares a statement anew for every bound one. */
const dueAtOnce = (limit: number) => `SELECT id, outbox_seq AS seq FROM delivery
  WHERE webhook_id = +? AND state = 'pending' AND next_attempt_at_ms = 0 AND lease_until_ms <= ? ORDER BY outbox_seq LIMIT ${limit}`
const dueByTime = (limit: number) => `SELECT id, outbox_seq AS seq FROM delivery
  WHERE webhook_id = +? AND state = 'pending' AND next_attempt_at_ms BETWEEN 1 AND +? AND lease_until_ms <= ?
  ORDER BY next_attempt_at_ms, outbox_seq LIMIT ${limit}`
const idAndSeq = { id: text, seq: integer }
const firstsDue = statements({ columns: idAndSeq, sql: dueAtOnce, samples: [[1]] })
const retriesDue = statements({ columns: idAndSeq, sql: dueByTime, samples: [[1]] })
const bothDue = statements({
  columns: idAndSeq,
  sql: (limit: number) =>
    `SELECT id, seq FROM (${dueAtOnce(limit)}) UNION ALL SELECT id, seq FROM (${dueByTime(lookedThrough)}) ORDER BY seq LIMIT ${limit}`,
  samples: [[1]],
})
const nextDue = statement({
  columns: { at_ms: maybe(integer) },
  sql: `SELECT min((SELECT min(next_attempt_at_ms) FROM delivery d
                WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.next_attempt_at_ms > +?)) AS at_ms
    FROM webhook w WHERE w.active = 1 AND w.status <> 'disabled'`,
})
const claimable = statement({
  columns: {
    ...{ id: text, webhookId: text, seq: integer, attempts: integer },
    ...{ url: text, type: text, timestampMs: integer, body: blob },
  },
  sql: `SELECT d.id, d.webhook_id AS webhookId, d.outbox_seq AS seq, d.attempts, w.url, o.type, o.timestamp_ms AS timestampMs, o.body
    FROM delivery d JOIN webhook w ON w.id = d.webhook_id JOIN ${published} o ON o.seq = d.outbox_seq
    WHERE d.id = +? AND d.state = 'pending' AND w.active = 1 AND w.status <> 'disabled'`,
})
const leased = built(pick(tables.delivery, 'id', 'lease_until_ms'), ({ id, lease_until_ms }) =>
  sql.updateTable('delivery').set({ lease_until_ms }).where('id', '=', id),
)
const unleased = change(`UPDATE delivery SET lease_until_ms = 0 WHERE state = 'pending' AND lease_until_ms > 0`)
const pulledForward = change(
  `UPDATE delivery SET next_attempt_at_ms = ? WHERE state = 'pending' AND next_attempt_at_ms > +?`,
)
const stillUnderWay = statement({
  columns: {
    attemptsBefore: integer,
    webhookId: text,
    url: text,
    status: word<EndpointHealth['status']>(),
    failures: integer,
  },
  sql: `SELECT d.attempts_before AS attemptsBefore, d.webhook_id AS webhookId, w.url, w.status, w.consecutive_failures AS failures
    FROM delivery d JOIN webhook w ON w.id = d.webhook_id WHERE d.id = +? AND d.state = 'pending'`,
})
const newAttempt = built(tables.delivery_attempt, (row) => sql.insertInto('delivery_attempt').values(row))
const newTest = built(
  pick(
    tables.delivery,
    'id',
    'webhook_id',
    'outbox_seq',
    'state',
    'next_attempt_at_ms',
    'last_status',
    'last_error',
    'created_at_ms',
    'delivered_at_ms',
  ),
  (row) => sql.insertInto('delivery').values({ ...row, attempts: 1 }),
)
const settled =
  change(`UPDATE delivery SET state = ?, attempts = ?, next_attempt_at_ms = coalesce(?, next_attempt_at_ms),
  lease_until_ms = 0, last_status = ?, last_error = ?, delivered_at_ms = ? WHERE id = +?`)
const held = built({ id: text, last_error: text }, ({ id, last_error }) =>
  sql.updateTable('delivery').set({ lease_until_ms: 0, last_error }).where('id', '=', id),
)
const withoutSome = change('DELETE FROM delivery WHERE id IN (SELECT id FROM delivery WHERE webhook_id = +? LIMIT ?)')
const attemptsOfDeliveries = statement({
  columns: {
    ...{ deliveryId: text, attempt: integer, startedAtMs: integer, durationMs: integer },
    ...pick(tables.delivery_attempt, 'status', 'error', 'answer'),
  },
  sql: `SELECT delivery_id AS deliveryId, attempt, started_at_ms AS startedAtMs, duration_ms AS durationMs, status, error, answer
    FROM delivery_attempt WHERE delivery_id IN (SELECT value FROM json_each(?)) ORDER BY delivery_id, attempt`,
})

/** A delivery with a started attempt, and everything that the attempt needs. */
export type Claimed = {
  readonly id: string
  readonly webhookId: string
  /** Number of this attempt, from 1. */
  readonly attempt: number
  readonly url: string
  /** The current one first. */
  readonly sealedSecrets: readonly Buffer[]
  readonly type: string
  readonly timestampMs: number
  readonly body: Buffer
}

/**
 * Returns the due deliveries of an endpoint. `firsts` were never tried, in order of publication. `retries` come with the longest
 * due first. At most `limit` of each, leased ones left out. Limits are written out: SQLite prepares a statement anew for every
 * bound one.
 */
export function dueDeliveries(
  tx: ReadTx,
  webhookId: string,
  nowMs: number,
  limit: number,
): { firsts: string[]; retries: string[] } {
  const firsts = tx.all(firstsDue(limit), [webhookId, nowMs])
  const retries = tx.all(retriesDue(limit), [webhookId, nowMs, nowMs])
  return { firsts: firsts.map(({ id }) => id), retries: retries.map(({ id }) => id) }
}

/**
 * Deliveries of an endpoint that are due, retries or not, in the order of publication; leased ones left out. Among more
 * than a thousand due retries it is the order of the thousand longest due: a pass must not sort a whole backlog.
 */
export function oldestDue(tx: ReadTx, webhookId: string, nowMs: number, limit: number): { id: string; seq: number }[] {
  return tx.all(bothDue(limit), [webhookId, nowMs, webhookId, nowMs, nowMs])
}

/** When the next delivery that is not due yet becomes due, over all endpoints that are sent to. */
export function nextDueMs(tx: ReadTx, nowMs: number): number | undefined {
  return tx.get(nextDue, [nowMs])?.at_ms ?? undefined
}

/** Sets the lease of a delivery and returns it; undefined when it must not be sent now. */
export function claim(tx: Tx, deliveryId: string, nowMs: number, leaseUntilMs: number): Claimed | undefined {
  const row = tx.get(claimable, [deliveryId])
  if (!row) return undefined
  tx.run(leased, { id: deliveryId, lease_until_ms: leaseUntilMs })
  const { attempts, seq, body: stored, ...rest } = row
  const checkpoint = checkpointAt(tx, row.webhookId, seq)
  const body = checkpoint === undefined ? stored : withCheckpoint(stored, checkpoint)
  return { ...rest, body, attempt: attempts + 1, sealedSecrets: sealedSecretsOf(tx, row.webhookId, nowMs) }
}

const earliest = statement({
  columns: { at_ms: maybe(integer) },
  sql: `SELECT min(next_attempt_at_ms) AS at_ms FROM delivery WHERE webhook_id = +? AND state = 'pending'`,
})

/** Returns when the earliest pending delivery of an endpoint is due; undefined: none is pending. */
export function earliestDueMs(tx: ReadTx, webhookId: string): number | undefined {
  return tx.get(earliest, [webhookId])?.at_ms ?? undefined
}

/** Ends every lease: at the start no other process works on this database. Returns how many there were. */
export function voidLeases(tx: Tx): number {
  return tx.run(unleased).changes
}

/** Brings back deliveries that a clock which ran ahead has delayed beyond any schedule. Returns how many. */
export function pullForward(tx: Tx, latestMs: number): number {
  return tx.run(pulledForward, [latestMs, latestMs]).changes
}

/** The facts that the record of an attempt needs. */
export type UnderWay = {
  /** Attempts made before its last redelivery, which began the schedule anew. */
  readonly attemptsBefore: number
  readonly webhookId: string
  readonly url: string
  readonly health: EndpointHealth
}

export function underWay(tx: ReadTx, deliveryId: string): UnderWay | undefined {
  const row = tx.get(stillUnderWay, [deliveryId])
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
  tx.run(newAttempt, {
    ...{ delivery_id: deliveryId, attempt: row.attempt, started_at_ms: row.startedAtMs, duration_ms: row.durationMs },
    ...{ status: row.status, error: row.error, answer: row.answer },
  })
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
  tx.run(newTest, {
    ...{ id, webhook_id: webhookId, outbox_seq: outboxSeq, state, next_attempt_at_ms: endedAtMs },
    ...{ last_status: attempt.status, last_error: attempt.error, created_at_ms: attempt.startedAtMs },
    delivered_at_ms: state === 'delivered' ? endedAtMs : null,
  })
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
  const { state, attempt, nextAttemptAtMs = null, status, error, deliveredAtMs = null } = after
  tx.run(settled, [state, attempt, nextAttemptAtMs, status, error, deliveredAtMs, deliveryId])
}

/** Ends a lease without an attempt: the delivery waits as before, with the reason as its last error. */
export function holdDelivery(tx: Tx, deliveryId: string, reason: string): void {
  tx.run(held, { id: deliveryId, last_error: reason })
}

/** Deliveries of one endpoint, `limit` at most, with their attempts. Returns how many were removed. */
export function removeDeliveriesOf(tx: Tx, webhookId: string, limit: number): number {
  return tx.run(withoutSome, [webhookId, limit]).changes
}

const deliveryColumns = {
  ...{ id: text, outboxSeq: integer, eventId: text, type: text, timestampMs: integer },
  ...{ state: word<DeliveryState>(), attempts: integer, nextAttemptAtMs: integer },
  ...{ lastStatus: maybe(integer), lastError: maybe(text), createdAtMs: integer, deliveredAtMs: maybe(integer) },
}
export type DeliveryRow = Readonly<RowOf<typeof deliveryColumns>>

export type DeliveryFilter = {
  readonly state?: DeliveryState | undefined
  readonly type?: string | undefined
  /** Time of the event, inclusive. */
  readonly from?: number | undefined
  /** Time of the event, exclusive. */
  readonly to?: number | undefined
}

const deliverySelect = `SELECT d.id, d.outbox_seq AS outboxSeq, o.event_id AS eventId, o.type, o.timestamp_ms AS timestampMs,
  d.state, d.attempts, d.next_attempt_at_ms AS nextAttemptAtMs, d.last_status AS lastStatus, d.last_error AS lastError,
  d.created_at_ms AS createdAtMs, d.delivered_at_ms AS deliveredAtMs
  FROM delivery d JOIN ${published} o ON o.seq = d.outbox_seq`

const deliveryBySeq = statement({
  columns: deliveryColumns,
  sql: `${deliverySelect} WHERE d.webhook_id = +? AND d.outbox_seq = +?`,
})
const deliveryById = statement({
  columns: deliveryColumns,
  sql: `${deliverySelect} WHERE d.id = +? AND d.webhook_id = +?`,
})
type PlaceInOrder = {
  /** Only what was published before this seq. */
  readonly beforeSeq?: number | undefined
  /** Only what was published after this seq, oldest first. */
  readonly afterSeq?: number | undefined
}

const given = (condition: string, value: string | number | undefined): Condition[] =>
  value === undefined ? [] : [{ sql: condition, values: [value] }]

/**
 * An endpoint's deliveries, the newest notification first, with `afterSeq` the oldest first; the key is the seq. The
 * state is written out: an index serves the exhausted ones, and is found by its words only.
 */
export const deliveriesOf = listings(
  (webhookId: string, { state, type, from, to }: DeliveryFilter, { beforeSeq, afterSeq }: PlaceInOrder) => {
    const ofEvents = [
      ...given('o.type = +?', type),
      ...given('o.timestamp_ms >= +?', from),
      ...given('o.timestamp_ms < +?', to),
    ]
    const ofState = state === undefined ? [] : [{ sql: `d.state = '${state}'`, values: [] }]
    const isServed = state === 'exhausted'
    return {
      // A cross join looks at the deliveries first; the other way, a slice could look at every notification.
      from: ofEvents.length === 0 ? 'delivery d' : `delivery d CROSS JOIN ${published} o ON o.seq = d.outbox_seq`,
      key: ['d.outbox_seq'],
      isOldestFirst: afterSeq !== undefined,
      behind: afterSeq === undefined ? undefined : [afterSeq],
      within: [
        ...given('d.webhook_id = +?', webhookId),
        ...(isServed ? ofState : []),
        ...(afterSeq === undefined ? [] : given('d.outbox_seq < +?', beforeSeq)),
      ],
      passing: [...(isServed ? [] : ofState), ...ofEvents],
    }
  },
  [
    ['', {}, {}],
    ['', { state: 'exhausted' }, { afterSeq: 0, beforeSeq: 1 }],
    ['', { state: 'pending', type: '', from: 0, to: 1 }, {}],
    ['', { state: 'delivered' }, {}],
  ],
)

/** The delivery of a notification to an endpoint. */
export function deliveryOfSeq(tx: ReadTx, webhookId: string, seq: number): DeliveryRow | undefined {
  return tx.get(deliveryBySeq, [webhookId, seq])
}

/** One delivery of an endpoint; undefined when it has none of this id. */
export function findDelivery(tx: ReadTx, webhookId: string, id: string): DeliveryRow | undefined {
  return tx.get(deliveryById, [id, webhookId])
}

/** The attempts of these deliveries, in order, by delivery. */
export function attemptsOf(tx: ReadTx, deliveryIds: readonly string[]): Map<string, AttemptRow[]> {
  const rows = tx.all(attemptsOfDeliveries, [JSON.stringify(deliveryIds)])
  return Map.groupBy(rows, (row) => row.deliveryId)
}
