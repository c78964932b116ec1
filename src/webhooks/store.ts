import { built, integer, pick, type ReadTx, type RowOf, statement, type Tx, text, word } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type EventType, published } from '../journal/index.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import type { Condition } from './pace.ts'
import { sql, tables } from './tables.ts'

const owed = statement({
  columns: { found: integer },
  sql: `SELECT 1 AS found FROM webhook UNION ALL SELECT 1 FROM ${published} LIMIT 1`,
})

/**
 * Whether any endpoint is registered, or ever was: one that is switched off is owed what happens meanwhile, and one that
 * is deleted to be registered anew can recover it.
 */
export const isAnyoneOwed = (tx: ReadTx): boolean => tx.get(owed) !== undefined

/** A registered endpoint. */
export type Webhook = {
  readonly id: string
  readonly url: string
  readonly events: readonly EventType[]
  /** False: switched off by a person. */
  readonly active: boolean
  readonly health: EndpointHealth
  readonly version: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export type NewWebhook = Pick<Webhook, 'id' | 'url' | 'events' | 'active'> & {
  readonly sealedSecret: Buffer
  readonly nowMs: number
}

export type WebhookChanges = {
  readonly url?: string | undefined
  readonly events?: readonly EventType[] | undefined
  readonly active?: boolean | undefined
  readonly health?: EndpointHealth | undefined
  readonly sealedSecret?: Buffer | undefined
}

const columns = pick(
  tables.webhook,
  'id',
  'url',
  'events',
  'active',
  'status',
  'consecutive_failures',
  'version',
  'created_at_ms',
  'updated_at_ms',
)
type Row = RowOf<typeof columns>

const rows = () => sql.selectFrom('webhook').select(Object.keys(columns) as (keyof Row)[])
const byId = pick(tables.webhook, 'id')
const webhookById = built(byId, ({ id }) => rows().where('id', '=', id))
const everyWebhook = built({}, () => rows().orderBy('id'))
const newRow = built(
  pick(tables.webhook, 'id', 'url', 'events', 'secret', 'active', 'fanned_out_seq', 'created_at_ms', 'updated_at_ms'),
  (row) => sql.insertInto('webhook').values({ ...row, status: 'active' }),
)
const newHealth = built(pick(tables.webhook, 'id', 'status', 'consecutive_failures'), ({ id, ...health }) =>
  sql.updateTable('webhook').set(health).where('id', '=', id),
)
const withoutWebhook = built(byId, ({ id }) => sql.deleteFrom('webhook').where('id', '=', id))
const lastSeq = statement({ columns: { seq: integer }, sql: `SELECT coalesce(max(seq), 0) AS seq FROM ${published}` })
const endpointColumns = { id: text, url: text, condition: word<Condition>(), fannedOutSeq: integer }
const endpointSql = `SELECT id, url, iif(active = 1, status, 'switched-off') AS condition, fanned_out_seq AS fannedOutSeq
  FROM webhook`
const everyEndpoint = statement({ columns: endpointColumns, sql: `${endpointSql} ORDER BY id` })
const oneEndpoint = statement({ columns: endpointColumns, sql: `${endpointSql} WHERE id = +?` })
const counted = statement({
  columns: { total: integer, failing: integer, disabled: integer, pending: integer },
  sql: `SELECT count(*) AS total,
      count(*) FILTER (WHERE active = 1 AND status = 'failing') AS failing,
      count(*) FILTER (WHERE active = 0 OR status = 'disabled') AS disabled,
      (SELECT count(*) FROM delivery WHERE state = 'pending') AS pending
    FROM webhook`,
})
const inTrouble = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM webhook WHERE active = 0 OR status <> 'active'`,
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
}

export function findWebhook(tx: ReadTx, id: string): Webhook | undefined {
  const row = tx.get(webhookById, { id })
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
  /** Switched off, by failures or by a person. */
  readonly disabled: number
  /** Deliveries that wait, held ones too. */
  readonly pending: number
}

export function countWebhooks(tx: ReadTx): WebhookCounts {
  const counts = tx.get(counted)
  return counts ?? { total: 0, failing: 0, disabled: 0, pending: 0 }
}

/** Endpoints that are failing or disabled, by whomever; counts no deliveries, so it may be asked often. */
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
    health: { status: row.status, consecutiveFailures: row.consecutive_failures },
    version: row.version,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }
}
