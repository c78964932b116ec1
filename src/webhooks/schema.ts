import { z } from '@hono/zod-openapi'
import {
  historyQuery,
  listOf,
  optional,
  optionalTime,
  queryInteger,
  resource,
  text,
  time,
  timeOut,
} from '../http/index.ts'
import { eventTypes } from '../journal/index.ts'
import { inclusions } from './delivery/redelivery.ts'

const url = () =>
  text(2048)
    .refine((value) => URL.canParse(value), 'expected a URL')
    .openapi({ format: 'uri', description: 'HTTPS endpoint', example: 'https://erp.example.com/hooks/gatehouse' })

const events = () =>
  z
    .array(z.enum(eventTypes))
    .min(1)
    .max(64)
    .transform((types) => [...new Set(types)])
    .openapi({ description: 'Event types to subscribe to' })

const secret = () =>
  text(256).openapi({
    description: 'Shared secret for the HMAC signature; never returned. Less than 16 characters: a warning',
  })

const active = () =>
  z.boolean().openapi({ description: 'Whether deliveries are sent. Events published while it is false are skipped' })

const hold = () =>
  z.boolean().openapi({
    description:
      'With active: false: events published meanwhile are held, and sent in order when active is true again. Default: false, they are skipped',
  })

const checkpoint = () =>
  z.boolean().openapi({
    description:
      'Whether each notification carries the newest checkpoint as metadata.checkpoint, about 4 KiB. Default: false. A change applies to events published afterwards',
  })

/** In a change, null is the default. */
const falseWhenNull = (flag: z.ZodBoolean) =>
  flag
    .nullable()
    .transform((value) => value ?? false)
    .optional()

const choices = { active: optional(active()), hold: optional(hold()), checkpoint: optional(checkpoint()) }

export const WebhookIn = z
  .object({ url: url(), events: events(), secret: optional(secret()), ...choices })
  .openapi('WebhookIn')

export const WebhookPatch = z
  .object({
    url: url().optional(),
    events: events().optional(),
    secret: secret().optional(),
    active: active().optional(),
    hold: falseWhenNull(hold()),
    checkpoint: falseWhenNull(checkpoint()),
    status: z.string().optional().openapi({
      description:
        'cannot be set. Beside its present value, `active: true` is the answer of a GET sent back and ends no state.',
    }),
  })
  .openapi('WebhookPatch')

export type WebhookIn = z.output<typeof WebhookIn>
export type WebhookPatch = z.output<typeof WebhookPatch>

const webhookFields = {
  id: z.string().openapi({ format: 'uuid' }),
  url: z.string(),
  events: z.array(z.enum(eventTypes)),
  active: z.boolean(),
  hold: z.boolean().openapi({ description: 'true: while active is false, published events are held and not skipped' }),
  checkpoint: z.boolean().openapi({ description: 'Whether notifications carry metadata.checkpoint' }),
  status: z.enum(['active', 'failing', 'disabled']).openapi({
    description:
      'failing: the sixth attempt of one delivery failed, and no 2xx came since. disabled: by a person (active false) or after 100 failures in a row (active true)',
  }),
  consecutiveFailures: z.int().openapi({ description: 'Failed attempts since the last 2xx, of all deliveries' }),
  pacing: z
    .object({
      slowedSince: timeOut().openapi({
        description:
          'When the sixth attempt in a row failed. If that was before the upgrade to this version: updatedAt of the webhook at the upgrade',
      }),
      nextAttemptAt: timeOut()
        .nullable()
        .openapi({ description: 'Earliest time of the next attempt. null: no delivery is pending' }),
    })
    .nullable()
    .openapi({
      description:
        'After 6 failed attempts in a row, of any deliveries, the webhook gets one attempt at a time, at the intervals of webhooks.probe, the oldest due delivery first. A 2xx ends it. null: it is not slowed down',
    }),
  version: z.int().openapi({ description: 'Counts changes' }),
  createdAt: timeOut(),
  updatedAt: timeOut(),
}

const warnings = z.array(z.object({ code: z.enum(['SECRET_SHORT', 'SECRET_SHOWN_ONCE']), message: z.string() }))

export const WebhookItem = z.object(webhookFields).openapi('WebhookItem')
export const WebhookOut = resource(webhookFields).openapi('Webhook')
export const WebhookChanged = resource({ ...webhookFields, warnings }).openapi('WebhookChanged')
export const WebhookCreated = resource({
  ...webhookFields,
  secret: z.string().optional().openapi({ description: 'Only if the gateway created it, and in this answer only' }),
  warnings,
}).openapi('WebhookCreated')
export const RotateIn = z
  .object({ secret: optional(secret()).openapi({ description: 'The new secret; without it the gateway creates one' }) })
  .openapi('RotateSecretIn')
export type RotateIn = z.output<typeof RotateIn>

export const RotatedSecret = resource({
  ...webhookFields,
  secret: z
    .string()
    .optional()
    .openapi({ description: 'Only if the gateway created it, and in this answer only: whsec_ and base64' }),
  previousSecretValidUntil: timeOut().openapi({
    description: 'Until then webhook-signature also has a signature by the old secret; X-Service-Signature does not',
  }),
  warnings,
}).openapi('RotatedSecret')
export type RotatedSecret = z.input<typeof RotatedSecret>

export const WebhookList = listOf(WebhookItem).openapi('WebhookList')

export type WebhookItem = z.input<typeof WebhookItem>
export type WebhookCreated = z.input<typeof WebhookCreated>
export type WebhookChanged = z.input<typeof WebhookChanged>
export type Warning = z.input<typeof warnings>[number]

export const EventTypeList = listOf(
  z
    .object({
      type: z.enum(eventTypes),
      group: z.string(),
      trigger: z.string(),
      schema: z
        .looseObject({})
        .nullable()
        .openapi({ description: 'JSON Schema (2020-12) of `data`; null: this version does not send it' }),
    })
    .openapi('EventTypeOut'),
).openapi('EventTypeList')

const answer = () =>
  z.string().nullable().openapi({ description: "The first KiB of the receiver's answer, as text; null: no body" })

export const TestResult = resource({
  delivered: z.boolean().openapi({ description: 'Whether a 2xx came in time' }),
  statusCode: z.int().nullable(),
  durationMs: z.int(),
  deliveryId: z.string().openapi({ description: 'X-Service-Delivery of the test' }),
  error: z.string().nullable(),
  answer: answer(),
}).openapi('WebhookTestResult')

export type TestResult = z.input<typeof TestResult>

const states = ['pending', 'delivered', 'exhausted'] as const

export const DeliveryQuery = z.object({
  ...historyQuery,
  state: z.enum(states).optional(),
  type: z.enum(eventTypes).optional(),
  from: time().optional().openapi({ description: 'Time of the events; inclusive' }),
  to: time().optional().openapi({ description: 'Time of the events; exclusive' }),
  cursor: queryInteger({ min: 0 })
    .optional()
    .openapi({ type: 'string', description: 'nextCursor of the previous page' }),
  after_seq: queryInteger({ min: 0 }).optional().openapi({
    description: 'Only notifications after this seq, oldest first. A recovery may add deliveries of older ones.',
  }),
})

export type DeliveryQuery = z.output<typeof DeliveryQuery>

const deliveryFields = {
  id: z.string().openapi({ description: 'X-Service-Delivery' }),
  seq: z.int().openapi({ description: 'Place of its notification in the order of publication; for after_seq' }),
  test: z.boolean().openapi({ description: 'true: a requested webhook.test; does not count as success or failure' }),
  eventId: z.string().openapi({ description: 'id of the envelope' }),
  type: z.string(),
  timestamp: timeOut().openapi({ description: 'Time of the event' }),
  state: z.enum(states),
  held: z.enum(['held_offline', 'held_disabled']).nullable().openapi({
    description:
      'Why a pending delivery is not sent although it may be due. held_offline: the gateway cannot reach this endpoint; attempts do not count. held_disabled: the webhook is disabled',
  }),
  attemptCount: z
    .int()
    .openapi({ description: 'Attempts that count: without those that failed because the gateway was offline' }),
  nextAttemptAt: timeOut()
    .nullable()
    .openapi({ description: 'Earliest time of the next attempt. null: none is planned' }),
  createdAt: timeOut(),
  deliveredAt: timeOut().nullable(),
  lastStatusCode: z.int().nullable().openapi({ description: 'HTTP status of the last attempt that counts' }),
  lastError: z
    .string()
    .nullable()
    .openapi({ description: 'Error of the last attempt, even if it did not count', example: 'HTTP 503' }),
  attempts: z.array(
    z.object({
      attempt: z.int(),
      startedAt: timeOut(),
      durationMs: z.int(),
      statusCode: z.int().nullable(),
      error: z.string().nullable(),
      answer: answer(),
    }),
  ),
}

const DeliveryItem = z.object(deliveryFields).openapi('DeliveryItem')
export const DeliveryOut = resource(deliveryFields).openapi('Delivery')

export const DeliveryList = listOf(DeliveryItem).openapi('DeliveryList')

export type DeliveryOut = z.input<typeof DeliveryItem>

export const RecoverIn = z
  .object({
    since: time().openapi({ description: 'Time of the events; inclusive' }),
    until: optionalTime().openapi({ description: 'Default: now' }),
    include: optional(z.enum(inclusions)).openapi({
      description:
        'all (default): every event of the period and of the subscribed types, delivered or not, including events from before the subscription. missing: without delivered ones. failed: only those that were given up',
    }),
  })
  .openapi('RecoverIn')
export type RecoverIn = z.output<typeof RecoverIn>

export const Recovered = resource({
  since: timeOut(),
  until: timeOut(),
  include: z.enum(inclusions),
  resent: z.int().openapi({ description: 'Deliveries that are pending again' }),
}).openapi('Recovered')

export const AlertQuery = z.object({ ...historyQuery, acknowledged: z.enum(['true', 'false']).optional() })
export type AlertQuery = z.output<typeof AlertQuery>

const alertFields = {
  id: z.int().openapi({
    description:
      'Below 0: not stored yet, because the disk takes no writes; it gets its id when it is stored, and can then be acknowledged',
  }),
  kind: z.string().openapi({
    description:
      'webhook.failing, webhook.disabled, webhook.offline · camera.offline, camera.online, cameras.unwatched · ffmpeg.bundled, ffmpeg.replaced · storage.unreachable, storage.slow, storage.recovered · upload.no_room, upload.mismatch, upload.file, upload.refused, upload.lost, upload.copy_missing, upload.copy_changed, uploads.late, uploads.parked, uploads.refused, uploads.recovered · disk.low, disk.reserve, disk.full, disk.failing, disk.gone, disk.slow, disk.recovered · photos.failing, photos.recovered · clock.unsynced, clock.synced · database.failing, database.recovered · log.unsigned, log.signed · backup.late, backup.failed, backup.unrestorable, backup.recovered · alerts.unsent, alerts.recovered; more may come',
    example: 'camera.offline',
  }),
  subject: z.string().openapi({ description: 'Id of its subject, such as the camera or the webhook' }),
  message: z.string(),
  createdAt: timeOut(),
  acknowledgedAt: timeOut().nullable(),
  severity: z.enum(['critical', 'warning', 'info']).openapi({ description: 'info: it reports the end of a trouble' }),
  resolvedAt: timeOut().nullable().openapi({ description: 'When its trouble ended, or gave way to another' }),
}

export const AlertItem = z.object(alertFields).openapi('AlertItem')
export const AlertOut = resource(alertFields).openapi('Alert')
export const AlertList = listOf(AlertItem).openapi('AlertList')
export type AlertOut = z.input<typeof AlertItem>
