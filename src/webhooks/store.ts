import { type InferResult, sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, statement, type Tx } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type EventType, published } from '../journal/index.ts'
import { type EndpointHealth, slowedAfter } from './delivery/endpoint-health.ts'
import type { Condition } from './delivery/pace.ts'
import { sql, tables } from './tables.ts'

const owed = statement({
  columns: { found: integer },
  sql: `SELECT 1 AS found FROM webhook UNION ALL SELECT 1 FROM ${published} LIMIT 1`,
})

/**
 * Returns whether any endpoint is registered, or ever was. An endpoint that is switched off, or deleted to be registered anew, can
 * recover the notifications of the meantime.
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

// Numbers and words of the code itself are literals: a bound one hides from SQLite which index serves it.
const [no, slowedFrom, disabled] = [raw.lit(0), raw.lit(slowedAfter), raw.lit('disabled' as const)]
const selected = () =>
  sql
    .selectFrom('webhook as w')
    .leftJoin('webhook_choice as c', 'c.webhook_id', 'w.id')
    .leftJoin('webhook_slowed as s', (join) =>
      join.onRef('s.webhook_id', '=', 'w.id').on('w.consecutive_failures', '>=', slowedFrom),
    )
    .select(['w.id', 'w.url', 'w.events', 'w.active', 'w.status', 'w.consecutive_failures', 'w.version'])
    .select(['w.created_at_ms', 'w.updated_at_ms', 's.since_ms as slowed_since_ms'])
    .select(({ fn }) => [fn.coalesce('c.hold', no).as('hold'), fn.coalesce('c.checkpoint', no).as('checkpoint')])
type Row = InferResult<ReturnType<typeof selected>>[number]
const byId = pick(tables.webhook, 'id')
const webhookById = built(byId, ({ id }) => selected().where('w.id', '=', id))
const everyWebhook = built({}, () => selected().orderBy('w.id'))
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
const conditionIs = (condition: Condition) => raw.lit(condition)
const endpointRows = () =>
  sql
    .selectFrom('webhook')
    .select(['id', 'url', 'fanned_out_seq as fannedOutSeq'])
    .select((webhook) =>
      webhook
        .case()
        .when('active', '=', no)
        .then(conditionIs('switched-off'))
        .when('status', '=', disabled)
        .then(conditionIs('disabled'))
        .when('consecutive_failures', '>=', slowedFrom)
        .then(conditionIs('slowed'))
        .else(conditionIs('open'))
        .end()
        .as('condition'),
    )
const everyEndpoint = built({}, () => endpointRows().orderBy('id'))
const oneEndpoint = built(byId, ({ id }) => endpointRows().where('id', '=', id))
const counted = built({}, () =>
  sql.selectFrom('webhook').select(({ fn, selectFrom }) => {
    const count = () => fn.countAll<number>()
    const switchedOn = () => count().filterWhere('active', '=', raw.lit(1))
    return [
      count().as('total'),
      switchedOn()
        .filterWhere('status', '=', raw.lit('failing' as const))
        .as('failing'),
      switchedOn()
        .filterWhere('status', '<>', disabled)
        .filterWhere('consecutive_failures', '>=', slowedFrom)
        .as('slowed'),
      switchedOn().filterWhere('status', '=', disabled).as('disabled'),
      count().filterWhere('active', '=', no).as('paused'),
      selectFrom('delivery')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .where('state', '=', raw.lit('pending' as const))
        .$asScalar()
        .$notNull()
        .as('pending'),
    ]
  }),
)
const anyWebhook = built({}, () => sql.selectFrom('webhook').select('id').limit(1))
const inTrouble = built({}, () =>
  sql
    .selectFrom('webhook')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where(({ or, eb }) =>
      or([
        eb('active', '=', no),
        eb('status', '<>', raw.lit('active' as const)),
        eb('consecutive_failures', '>=', slowedFrom),
      ]),
    ),
)

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

/** Stores a person's changes; counts as a new version. */
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

/** Stores the health that the attempts show; no new version. */
export function setHealth(tx: Tx, id: string, health: EndpointHealth): void {
  tx.run(newHealth, { id, ...healthColumns(health) })
  if (health.consecutiveFailures < slowedAfter) tx.run(unslowed, { webhook_id: id })
}

/** Notes since when an endpoint gets one attempt at a time, unless it did already. */
export function slowDown(tx: Tx, id: string, sinceMs: number): void {
  tx.run(slowed, { webhook_id: id, since_ms: sinceMs })
}

/** Removes the endpoint and its remaining deliveries. */
export function deleteWebhook(tx: Tx, id: string): void {
  tx.run(withoutWebhook, { id })
}

/** Seq of the newest notification, 0 before the first. */
export function outboxEnd(tx: ReadTx): number {
  return tx.get(lastSeq)?.seq ?? 0
}

/** The facts of an endpoint that the worker needs in every pass. */
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
  return tx.get(oneEndpoint, { id })
}

export type WebhookCounts = {
  readonly total: number
  readonly failing: number
  /** Endpoints that are switched on and get one attempt at a time. */
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

export const hasWebhooks = (tx: ReadTx): boolean => tx.get(anyWebhook) !== undefined

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
