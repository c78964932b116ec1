import { z } from '@hono/zod-openapi'
import {
  type Api,
  allQuery,
  claimOf,
  historyLimit,
  numericPath,
  onceHeaders,
  operation,
  originOf,
  pageOfAll,
  send,
} from '../http/index.ts'
import type { NotificationSchemas } from '../journal/index.ts'
import type { Alerts } from './alerts.ts'
import type { DeliveryLog } from './delivery/log.ts'
import { describeEventTypes } from './description.ts'
import {
  AlertList,
  AlertOut,
  AlertQuery,
  DeliveryList,
  DeliveryOut,
  DeliveryQuery,
  EventTypeList,
  Recovered,
  RecoverIn,
  RotatedSecret,
  RotateIn,
  TestResult,
  WebhookChanged,
  WebhookCreated,
  WebhookIn,
  WebhookList,
  WebhookOut,
  WebhookPatch,
} from './schema.ts'
import type { WebhookService } from './service.ts'

const tag = 'Webhooks'
const byId = z.object({ id: z.string() })
/** An operation without a body ignores one, but the body has to be readable. */
const unreadable = ['MALFORMED_JSON', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const
const urlErrors = ['WEBHOOK_URL_NOT_HTTPS', 'WEBHOOK_URL_FORBIDDEN'] as const

const registering = operation({
  id: 'createWebhook',
  stepUp: true,
  method: 'post',
  path: '/api/webhooks',
  access: 'webhooks:manage',
  tag,
  summary: 'Register a webhook',
  description:
    'The gateway sends signed notifications of the chosen types to an HTTPS endpoint from now on. Without `secret` the gateway creates one and shows it in this answer only.',
  input: { headers: z.object(onceHeaders), body: WebhookIn },
  success: { 201: { description: 'Registered', schema: WebhookCreated, location: true } },
  errors: urlErrors,
})

const listing = operation({
  id: 'listWebhooks',
  method: 'get',
  path: '/api/webhooks',
  access: 'webhooks:manage',
  tag,
  summary: 'List webhooks',
  description: 'No answer contains a secret.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'Webhooks, oldest first', schema: WebhookList } },
})

const listingEventTypes = operation({
  id: 'listEventTypes',
  method: 'get',
  path: '/api/webhooks/event-types',
  access: 'whms:read',
  tag,
  summary: 'List the event types',
  description: 'Each with the JSON Schema of its `data`, as under `webhooks` in this description.',
  input: {},
  success: { 200: { description: 'The event types', schema: EventTypeList } },
})

const reading = operation({
  id: 'getWebhook',
  method: 'get',
  path: '/api/webhooks/{id}',
  access: 'webhooks:manage',
  tag,
  summary: 'Read a webhook',
  description: 'With its status, its failures and its pacing. No answer contains the secret.',
  input: { params: byId },
  success: { 200: { description: 'The webhook', schema: WebhookOut } },
})

const changing = operation({
  id: 'changeWebhook',
  method: 'patch',
  path: '/api/webhooks/{id}',
  access: 'webhooks:manage',
  tag,
  summary: 'Change a webhook',
  description:
    'Changes the fields that are sent. `active: true` also ends the states failing and disabled, and the pacing; held deliveries are sent. After `active: false` new events are skipped; with `hold: true` in the same request they are held.',
  input: { params: byId, body: WebhookPatch },
  success: { 200: { description: 'The webhook after the change', schema: WebhookChanged } },
  errors: urlErrors,
})

const enabling = operation({
  id: 'enableWebhook',
  method: 'post',
  path: '/api/webhooks/{id}/enable',
  access: 'webhooks:manage',
  tag,
  summary: 'Enable a webhook',
  description:
    'Like PATCH with `active: true`: ends the states disabled and failing; held deliveries are sent, oldest first.',
  input: { params: byId },
  success: { 200: { description: 'The webhook after the change', schema: WebhookChanged } },
  errors: [...unreadable, 'STORAGE_FULL'],
})

const removing = operation({
  id: 'deleteWebhook',
  method: 'delete',
  path: '/api/webhooks/{id}',
  access: 'webhooks:manage',
  tag,
  summary: 'Delete a webhook',
  description: 'Deletes its deliveries too, including waiting ones.',
  input: { params: byId },
  success: { 204: { description: 'Deleted' } },
  errors: ['STORAGE_FULL'],
})

const testing = operation({
  id: 'testWebhook',
  method: 'post',
  path: '/api/webhooks/{id}/test',
  access: 'webhooks:manage',
  tag,
  summary: 'Send a webhook.test event',
  description:
    'One attempt, immediately, also while the webhook is disabled. The delivery is listed with `test: true` and does not count as success or failure.',
  input: { params: byId },
  success: { 200: { description: 'The result; also of a failed delivery', schema: TestResult } },
  errors: unreadable,
})

const rotating = operation({
  id: 'rotateWebhookSecret',
  stepUp: true,
  method: 'post',
  path: '/api/webhooks/{id}/rotate-secret',
  access: 'webhooks:manage',
  tag,
  summary: 'Rotate the secret of a webhook',
  description:
    'Send the new secret, or let the gateway create one, which is shown in this answer only. For 24 h webhook-signature has signatures by both secrets; X-Service-Signature uses the new one immediately. To replace a leaked secret, use PATCH.',
  input: { params: byId, headers: z.object(onceHeaders), body: RotateIn, bodyOptional: true },
  success: { 200: { description: 'The webhook, with the new secret', schema: RotatedSecret } },
})

const redelivering = operation({
  id: 'redeliver',
  method: 'post',
  path: '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver',
  access: 'webhooks:manage',
  tag,
  summary: 'Send a delivery again',
  description:
    'The same bytes under the same delivery id, in any state, with a new retry schedule. Sent immediately, unless the webhook is slowed down or disabled: then in its turn.',
  input: { params: z.object({ id: z.string(), deliveryId: z.string() }) },
  success: { 200: { description: 'The delivery, pending again', schema: DeliveryOut } },
  errors: [...unreadable, 'STORAGE_FULL', 'INVALID_TRANSITION'],
})

const recovering = operation({
  id: 'recoverWebhook',
  method: 'post',
  path: '/api/webhooks/{id}/recover',
  access: 'webhooks:manage',
  tag,
  summary: 'Send the events of a period again',
  description:
    'Events of the last 30 days, oldest first, no faster than webhooks.drainPerSecond. Pending deliveries do not change. It is safe to repeat after a broken connection.',
  input: { params: byId, body: RecoverIn },
  success: { 200: { description: 'The number of deliveries to send', schema: Recovered } },
})

const listingDeliveries = operation({
  id: 'listDeliveries',
  method: 'get',
  path: '/api/webhooks/{id}/deliveries',
  access: 'webhooks:manage',
  tag,
  summary: 'List the deliveries of a webhook',
  description: 'Each with its attempts: time, duration and status.',
  input: { params: byId, query: DeliveryQuery },
  success: {
    200: {
      description: `Newest notification first, with after_seq oldest first; ${historyLimit} unless asked`,
      schema: DeliveryList,
    },
  },
})

const listingAlerts = operation({
  id: 'listAlerts',
  method: 'get',
  path: '/api/alerts',
  access: 'alerts:read',
  tag: 'Alerts',
  summary: 'List alerts',
  description: '`acknowledged` selects alerts that are acknowledged, or those that are not.',
  input: { query: AlertQuery },
  success: { 200: { description: 'Newest first', schema: AlertList } },
})

const acknowledging = operation({
  id: 'acknowledgeAlert',
  method: 'post',
  path: '/api/alerts/{id}/acknowledge',
  access: 'alerts:manage',
  tag: 'Alerts',
  summary: 'Acknowledge an alert',
  description: 'The alert stays in the list, with the person and time of the acknowledgement.',
  input: { params: byId },
  success: { 200: { description: 'The alert', schema: AlertOut } },
  errors: [...unreadable, 'STORAGE_FULL'],
})

export type WebhookParts = {
  readonly service: WebhookService
  readonly deliveries: DeliveryLog
  readonly alerts: Alerts
  readonly notifications: NotificationSchemas
}

/** Adds /api/webhooks and /api/alerts. */
export function webhookRoutes(api: Api, { service, deliveries, alerts, notifications }: WebhookParts): void {
  addEventTypes(api, notifications)
  addRegistry(api, service)
  addDeliveries(api, deliveries)
  api.openapi(listingAlerts, async (c) => c.json(await alerts.list(c.req.valid('query'), c.req.raw.signal), 200))
  api.openapi(acknowledging, async (c) =>
    c.json(await alerts.acknowledge(numericPath(c.req.valid('param').id), originOf(c)), 200),
  )
}

/** To be added before /{id}, which would take event-types for an id. */
function addEventTypes(api: Api, notifications: NotificationSchemas): void {
  let types: ReturnType<typeof describeEventTypes> | undefined
  api.openapi(listingEventTypes, async (c) => {
    types ??= describeEventTypes(notifications)
    return c.json(pageOfAll(await types, {}), 200)
  })
}

function addRegistry(api: Api, service: WebhookService): void {
  api.openapi(registering, async (c) => {
    const reply = await service.register(c.req.valid('json'), originOf(c), claimOf(c))
    return send(c, reply, 201)
  })
  api.openapi(listing, (c) => c.json(pageOfAll(service.list(), c.req.valid('query')), 200))
  api.openapi(reading, (c) => c.json(service.find(c.req.valid('param').id), 200))
  api.openapi(changing, async (c) =>
    c.json(await service.change(c.req.valid('param').id, c.req.valid('json'), originOf(c)), 200),
  )
  api.openapi(enabling, async (c) =>
    c.json(await service.change(c.req.valid('param').id, { active: true }, originOf(c)), 200),
  )
  api.openapi(rotating, async (c) =>
    send(c, await service.rotateSecret(c.req.valid('param').id, c.req.valid('json'), originOf(c), claimOf(c)), 200),
  )
  api.openapi(testing, async (c) => c.json(await service.test(c.req.valid('param').id), 200))
  api.openapi(removing, async (c) => {
    await service.remove(c.req.valid('param').id, originOf(c))
    return c.body(null, 204)
  })
}

function addDeliveries(api: Api, deliveries: DeliveryLog): void {
  api.openapi(listingDeliveries, async (c) =>
    c.json(await deliveries.list(c.req.valid('param').id, c.req.valid('query'), c.req.raw.signal), 200),
  )
  api.openapi(redelivering, async (c) => {
    const { id, deliveryId } = c.req.valid('param')
    return c.json(await deliveries.redeliver(id, deliveryId, originOf(c)), 200)
  })
  api.openapi(recovering, async (c) =>
    c.json(await deliveries.recover(c.req.valid('param').id, c.req.valid('json'), originOf(c)), 200),
  )
}
