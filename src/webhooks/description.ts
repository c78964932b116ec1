import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from '@hono/zod-openapi'
import { type Api, sha256Hex, timeOut } from '../http/index.ts'
import { type EventType, eventTypes, type NotificationSchemas, payloadVersion } from '../journal/index.ts'
import { eventTypeFacts } from './event-types.ts'

const Metadata = z
  .object({
    warehouseId: z.int(),
    siteId: z.string(),
    version: z.string().openapi({ description: 'version of the payload schemas', example: payloadVersion }),
    checkpoint: z
      .object({
        logId: z.string(),
        size: z.int().openapi({ description: 'Leaves of the log' }),
        root: sha256Hex().openapi({ description: 'Root hash over them' }),
        note: z.string().openapi({ description: 'The signed checkpoint as text (c2sp.org/tlog-checkpoint)' }),
      })
      .optional()
      .openapi({
        description:
          'Only for a webhook with checkpoint: true. The newest checkpoint when its delivery was made, with the cosignatures that it had by then; absent before the first. Keep it: with it you can prove a later change of the log',
      }),
  })
  .openapi('NotificationMetadata')

const header = (description: string, example: string) => z.string().openapi({ description, example })

const delivery = '019cae00-0000-7000-8000-000000000001'

const headersFor = (type: EventType) =>
  z.object({
    'X-Service-Event': z.literal(type).openapi({ description: 'The event type' }),
    'X-Service-Delivery': header(
      'The id of the delivery, the same on every attempt; ignore one that you already have',
      delivery,
    ),
    'X-Service-Timestamp': header('Time of the event', '2026-03-02T08:00:00.000Z'),
    'X-Service-Signature': header(
      'sha256= and the hex HMAC-SHA256 of the body under the secret',
      `sha256=${'0'.repeat(64)}`,
    ),
    'webhook-id': header('Same as X-Service-Delivery, as in Standard Webhooks', delivery),
    'webhook-timestamp': header('Time of the attempt, in seconds since 1970', '1772438400'),
    'webhook-signature': header(
      'v1, and the base64 HMAC-SHA256 of id.timestamp.body; one for each secret that is valid, with a space between',
      `v1,${'A'.repeat(43)}=`,
    ),
  })

/** The envelope of a type, as it is posted. */
export function envelopeSchema(type: EventType, data: z.ZodType) {
  return z.object({
    id: z.string().openapi({ format: 'uuid', description: 'id of the event; the same for every receiver' }),
    type: z.literal(type),
    timestamp: timeOut(),
    data,
    metadata: Metadata,
  })
}

/** Returns the event types with the JSON Schema of their `data`, which is made one in each turn of the event loop. */
export async function describeEventTypes(schemas: NotificationSchemas) {
  const described = []
  for (const type of eventTypes) {
    const data = schemas[type]
    described.push({ type, ...eventTypeFacts[type], schema: data ? jsonSchemaOf(data) : null })
    await nextTurn()
  }
  return described
}

/** Returns a JSON Schema without references, so that it can be used alone. */
function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> {
  return {
    ...z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'output', unrepresentable: 'any', reused: 'inline' }),
  }
}

/** `receiveScaleReading` for scale.reading. */
const receiverOf = (type: EventType): string =>
  `receive${type
    .split(/[._]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')}`

/** Adds what receivers are sent to the description (OpenAPI 3.1 `webhooks`), one entry a type. */
export function describeNotifications(api: Api, schemas: NotificationSchemas): void {
  for (const type of eventTypes) {
    const data = schemas[type]
    if (!data) continue
    api.openAPIRegistry.registerWebhook({
      method: 'post',
      path: type,
      operationId: receiverOf(type),
      tags: ['Notifications'],
      summary: eventTypeFacts[type].trigger,
      description: `Posted to every active webhook that subscribes to ${type}. Answer 2xx within 30 s; otherwise it is sent again.`,
      security: [],
      request: {
        headers: headersFor(type),
        body: { required: true, content: { 'application/json': { schema: envelopeSchema(type, data) } } },
      },
      responses: {
        '2XX': { description: 'Taken. Anything else, or nothing within 30 s, is a failed attempt' },
      },
    })
  }
}
