import {
  built,
  integer,
  maybe,
  pick,
  type ReadTx,
  type RowOf,
  statement,
  type Tx,
  text,
  word,
} from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type EventType, published } from '../journal/index.ts'
import { type EndpointHealth, slowedAfter } from './endpoint-health.ts'
import type { Condition } from './pace.ts'
import { sql, tables } from './tables.ts'

const owed = statement({
  columns: { found: integer },
  sql: `SELECT 1 AS found FROM webhook UNION ALL SELECT 1 FROM ${published} LIMIT 1`,
})

/**
 * Whether any endpoint is registered, or ever was: one that is switched off, and one that is deleted to be registered anew, can
 * recover what happens meanwhile.
 */
export const isAnyoneOwed = (tx: ReadTx): boolean => tx.get(owed) !== undefined

/** A registered endpoint. */
export type Webhook = {
  readonly id: string
  readonly url: string
  readonly events: readonly EventType[]
  /** False: switched off by a person. */
  readonly active: boolean
  /** Whether it gets later what is published while it is switched off. */
  readonly hold: boolean
  /** Whether its deliveries carry a checkpoint. */
  readonly checkpoint: boolean
  readonly health: EndpointHealth
  /** Since when it gets one attempt at a time; null: it does not. */
  readonly slowedSinceMs: number | null
  readonly version: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export type NewWebhook = Pick<Webhook, 'id' | 'url' | 'events' | 'active' | 'hold' | 'checkpoint'> & {
  readonly sealedSecret: Buffer
  readonly nowMs: number
}

export type WebhookChanges = {
  readonly url?: string | undefined
  readonly events?: readonly EventType[] | undefined
  readonly active?: boolean | undefined
  readonly hold?: boolean | undefined
  readonly checkpoint?: boolean | undefined
  readonly health?: EndpointHealth | undefined
  readonly sealedSecret?: Buffer | undefined
}

const columns = {
  ...pick(tables.webhook, 'id', 'url', 'events', 'active', 'status', 'consecutive_failures', 'version'),
  ...pick(tables.webhook, 'created_at_ms', 'updated_at_ms'),
  ...{ hold: integer, checkpoint: integer, slowed_since_ms: maybe(integer) },
}
type Row = RowOf<typeof columns>

const selected = `SELECT w.id, w.url, w.events, w.active, w.status, w.consecutive_failures, w.version, w.created_at_ms,
  w.updated_at_ms, coalesce(c.hold, 0) AS hold, coalesce(c.checkpoint, 0) AS checkpoint, s.since_ms AS slowed_since_ms
  FROM webhook w LEFT JOIN webhook_choice c ON c.webhook_id = w.id
    LEFT JOIN webhook_slowed s ON s.webhook_id = w.id AND w.consecutive_failures >= ${slowedAfter}`
const byId = pick(tables.webhook, 'id')
const webhookById = statement({ columns, sql: `${selected} WHERE w.id = +?` })
const everyWebhook = statement({ columns, sql: `${selected} ORDER BY w.id` })
const newRow = built(
  pick(tables.webhook, 'id', 'url', 'events', 'secret', 'active', 'fanned_out_seq', 'created_at_ms', 'updated_at_ms'),
  (row) => sql.insertInto('webhook').values({ ...row, status: 'active' }),
)
const newHealth = built(pick(tables.webhook, 'id', 'status', 'consecutive_failures'), ({ id, ...health }) =>
  sql.updateTable('webhook').set(health).where('id', '=', id),
)
const newChoice = built(tables.webhook_choice, (row) =>
  sql
    .insertInto('webhook_choice')
    .values(row)
    .onConflict((old) => old.column('webhook_id').doUpdateSet({ checkpoint: row.checkpoint, hold: row.hold })),
)
const slowed = built(tables.webhook_slowed, (row) =>
  sql
    .insertInto('webhook_slowed')
    .values(row)
    .onConflict((old) => old.doNothing()),
)
const unslowed = built(pick(tables.webhook_slowed, 'webhook_id'), ({ webhook_id }) =>
  sql.deleteFrom('webhook_slowed').where('webhook_id', '=', webhook_id),
)
const withoutWebhook = built(byId, ({ id }) => sql.deleteFrom('webhook').where('id', '=', id))
const lastSeq = statement({ columns: { seq: integer }, sql: `SELECT coalesce(max(seq), 0) AS seq FROM ${published}` })
const endpointColumns = { id: text, url: text, condition: word<Condition>(), fannedOutSeq: integer }
const endpointSql = `SELECT id, url, CASE WHEN active = 0 THEN 'switched-off' WHEN status = 'disabled' THEN 'disabled'
    WHEN consecutive_failures >= ${slowedAfter} THEN 'slowed' ELSE 'open' END AS condition, fanned_out_seq AS fannedOutSeq
  FROM webhook`
const everyEndpoint = statement({ columns: endpointColumns, sql: `${endpointSql} ORDER BY id` })
const oneEndpoint = statement({ columns: endpointColumns, sql: `${endpointSql} WHERE id = +?` })
const counted = statement({
  columns: { total: integer, failing: integer, slowed: integer, disabled: integer, paused: integer, pending: integer },
  sql: `SELECT count(*) AS total,
      count(*) FILTER (WHERE active = 1 AND status = 'failing') AS failing,
      count(*) FILTER (WHERE active = 1 AND status <> 'disabled' AND consecutive_failures >= ${slowedAfter}) AS slowed,
      count(*) FILTER (WHERE active = 1 AND status = 'disabled') AS disabled,
      count(*) FILTER (WHERE active = 0) AS paused,
      (SELECT count(*) FROM delivery WHERE state = 'pending') AS pending
    FROM webhook`,
})
const inTrouble = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM webhook WHERE active = 0 OR status <> 'active' OR consecutive_failures >= ${slowedAfter}`,
})

/** Adds an endpoint; it gets what is published from now on. */
export function insertWebhook(tx: Tx, webhook: NewWebhook): void {
  tx.run(newRow, {
    id: webhook.id,
    url: webhook.url,
    events: JSON.stringify(webhook.events),
    secret: webhook.sealedSecret,
    active: webhook.active ? 1 : 0,
    fanned_out_seq: outboxEnd(tx),
    created_at_ms: webhook.nowMs,
    updated_at_ms: webhook.nowMs,
  })
  choose(tx, webhook)
}

function choose(tx: Tx, { id, checkpoint, hold }: Pick<Webhook, 'id' | 'checkpoint' | 'hold'>): void {
  tx.run(newChoice, { webhook_id: id, checkpoint: checkpoint ? 1 : 0, hold: hold ? 1 : 0 })
}

export function findWebhook(tx: ReadTx, id: string): Webhook | undefined {
  const row = tx.get(webhookById, [id])
  return row && asWebhook(row)
}

/** Throws NOT_FOUND. */
export function getWebhook(tx: ReadTx, id: string): Webhook {
  const webhook = findWebhook(tx, id)
  if (!webhook) throw AppError.notFound('Webhook')
  return webhook
}

/** Whether nothing is sent to it: switched off by a person, or by its failures. */
export function isHeld(webhook: Webhook): boolean {
  return !webhook.active || webhook.health.status === 'disabled'
}

/** All of them, oldest first. */
export function allWebhooks(tx: ReadTx): Webhook[] {
  return tx.all(everyWebhook).map(asWebhook)
}

/** What a person changes; counts as a new version. */
export function updateWebhook(tx: Tx, id: string, changes: WebhookChanges, nowMs: number): void {
  const { checkpoint, hold } = changes
  if (checkpoint !== undefined || hold !== undefined) {
    const known = getWebhook(tx, id)
    choose(tx, { id, checkpoint: checkpoint ?? known.checkpoint, hold: hold ?? known.hold })
  }
  if (changes.health) tx.run(unslowed, { webhook_id: id })
  tx.run(
    sql
      .updateTable('webhook')
      .set((eb) => ({
        ...(changes.url !== undefined && { url: changes.url }),
        ...(changes.events && { events: JSON.stringify(changes.events) }),
        ...(changes.active !== undefined && { active: changes.active ? 1 : 0 }),
        ...(changes.health && healthColumns(changes.health)),
        ...(changes.sealedSecret && { secret: changes.sealedSecret }),
        version: eb('version', '+', 1),
        updated_at_ms: nowMs,
      }))
      .where('id', '=', id),
  )
}

/** What the attempts say; no new version. */
export function setHealth(tx: Tx, id: string, health: EndpointHealth): void {
  tx.run(newHealth, { id, ...healthColumns(health) })
  if (health.consecutiveFailures < slowedAfter) tx.run(unslowed, { webhook_id: id })
}

/** Notes since when an endpoint gets one attempt at a time, unless it did already. */
export function slowDown(tx: Tx, id: string, sinceMs: number): void {
  tx.run(slowed, { webhook_id: id, since_ms: sinceMs })
}

/** Removes the endpoint and what is left of its deliveries. */
export function deleteWebhook(tx: Tx, id: string): void {
  tx.run(withoutWebhook, { id })
}

/** Seq of the newest notification, 0 before the first. */
export function outboxEnd(tx: ReadTx): number {
  return tx.get(lastSeq)?.seq ?? 0
}

/** What the worker has to know of an endpoint in every pass. */
export type Endpoint = {
  readonly id: string
  readonly url: string
  readonly condition: Condition
  /** Notifications up to here have their deliveries. */
  readonly fannedOutSeq: number
}

/** All endpoints, also those that are switched off. */
export function endpoints(tx: ReadTx): Endpoint[] {
  return tx.all(everyEndpoint)
}

/** Returns one of them. */
export function endpointOf(tx: ReadTx, id: string): Endpoint | undefined {
  return tx.get(oneEndpoint, [id])
}

export type WebhookCounts = {
  readonly total: number
  readonly failing: number
  /** Of those that are switched on: they get one attempt at a time. */
  readonly slowed: number
  /** Switched off by their failures. */
  readonly disabled: number
  /** Switched off by a person. */
  readonly paused: number
  /** Deliveries that wait, held ones too. */
  readonly pending: number
}

export function countWebhooks(tx: ReadTx): WebhookCounts {
  const counts = tx.get(counted)
  return counts ?? { total: 0, failing: 0, slowed: 0, disabled: 0, paused: 0, pending: 0 }
}

/** Endpoints that are slowed, failing or disabled, by whomever; counts no deliveries, so it may be asked often. */
export function countInTrouble(tx: ReadTx): number {
  return tx.get(inTrouble)?.n ?? 0
}

function healthColumns(health: EndpointHealth) {
  return { status: health.status, consecutive_failures: health.consecutiveFailures }
}

function asWebhook(row: Row): Webhook {
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as EventType[],
    active: row.active === 1,
    hold: row.hold === 1,
    checkpoint: row.checkpoint === 1,
    slowedSinceMs: row.slowed_since_ms,
    health: { status: row.status, consecutiveFailures: row.consecutive_failures },
    version: row.version,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }
}
