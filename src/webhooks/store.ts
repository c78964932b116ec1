import type { Selectable } from 'kysely'
import { type ReadTx, sql, type Tx } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { EventType } from '../journal/index.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import type { Condition } from './pace.ts'

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

type Row = {
  id: string
  url: string
  events: string
  active: number
  status: EndpointHealth['status']
  consecutive_failures: number
  version: number
  created_at_ms: number
  updated_at_ms: number
}

const columns = [
  'id',
  'url',
  'events',
  'active',
  'status',
  'consecutive_failures',
  'version',
  'created_at_ms',
  'updated_at_ms',
] as const

/** Adds an endpoint; it gets what is published from now on. */
export function insertWebhook(tx: Tx, webhook: NewWebhook): void {
  tx.run(
    sql.insertInto('webhook').values({
      id: webhook.id,
      url: webhook.url,
      events: JSON.stringify(webhook.events),
      secret: webhook.sealedSecret,
      active: webhook.active ? 1 : 0,
      status: 'active',
      fanned_out_seq: outboxEnd(tx),
      created_at_ms: webhook.nowMs,
      updated_at_ms: webhook.nowMs,
    }),
  )
}

export function findWebhook(tx: ReadTx, id: string): Webhook | undefined {
  const row = tx.get(sql.selectFrom('webhook').select(columns).where('id', '=', id))
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
  return tx.all(sql.selectFrom('webhook').select(columns).orderBy('id')).map(asWebhook)
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
  tx.run(sql.updateTable('webhook').set(healthColumns(health)).where('id', '=', id))
}

/** Removes the endpoint and what is left of its deliveries. */
export function deleteWebhook(tx: Tx, id: string): void {
  tx.run(sql.deleteFrom('webhook').where('id', '=', id))
}

/** Seq of the newest notification, 0 before the first. */
export function outboxEnd(tx: ReadTx): number {
  return tx.oneOf<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM outbox')?.seq ?? 0
}

/** What the worker has to know of an endpoint in every pass. */
export type Endpoint = {
  readonly id: string
  readonly url: string
  readonly condition: Condition
  /** Notifications up to here have their deliveries. */
  readonly fannedOutSeq: number
}

const endpointSql = `SELECT id, url, iif(active = 1, status, 'switched-off') AS condition, fanned_out_seq AS fannedOutSeq FROM webhook`

/** All endpoints, also those that are switched off. */
export function endpoints(tx: ReadTx): Endpoint[] {
  return tx.allOf<Endpoint>(`${endpointSql} ORDER BY id`)
}

/** One of them. */
export function endpointOf(tx: ReadTx, id: string): Endpoint | undefined {
  return tx.oneOf<Endpoint>(`${endpointSql} WHERE id = +?`, [id])
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
  const counts = tx.oneOf<WebhookCounts>(
    `SELECT count(*) AS total,
       count(*) FILTER (WHERE active = 1 AND status = 'failing') AS failing,
       count(*) FILTER (WHERE active = 0 OR status = 'disabled') AS disabled,
       (SELECT count(*) FROM delivery WHERE state = 'pending') AS pending
     FROM webhook`,
  )
  return counts ?? { total: 0, failing: 0, disabled: 0, pending: 0 }
}

/** Endpoints that are failing or disabled, by whomever; counts no deliveries, so it may be asked often. */
export function countInTrouble(tx: ReadTx): number {
  return tx.oneOf<{ n: number }>("SELECT count(*) AS n FROM webhook WHERE active = 0 OR status <> 'active'")?.n ?? 0
}

function healthColumns(health: EndpointHealth) {
  return { status: health.status, consecutive_failures: health.consecutiveFailures }
}

function asWebhook(row: Selectable<Row>): Webhook {
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
