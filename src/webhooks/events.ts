import { z } from '@hono/zod-openapi'
import type { CreatedSchemas, EventType, NotificationSchemas } from '../journal/index.ts'
import { AlertItem } from './schema.ts'

const TestData = z
  .object({
    webhookId: z.string().openapi({ format: 'uuid' }),
    message: z.string(),
  })
  .openapi('TestNotification')
export type TestData = z.infer<typeof TestData>

/** Data of `webhook.test`. */
export const webhookNotifications = { 'webhook.test': TestData } satisfies NotificationSchemas

/** Data of `event.created` for alerts. */
const alertCreated = { 'alert.raised': AlertItem, 'alert.resolved': AlertItem } satisfies CreatedSchemas

/** Event types that `event.created` does not repeat. */
const untold: readonly EventType[] = ['event.created', 'webhook.test']

/**
 * All schemas of a gateway: those of the rooms, and `event.created` over them.
 * @param recorded what `event.created` carries of a motion: not the notification's own data, unlike that of every other type
 * @param created what is reported only by `event.created`
 */
export function allNotifications(
  rooms: readonly NotificationSchemas[],
  recorded: Pick<NotificationSchemas, 'motion.detected'>,
  created: CreatedSchemas,
): NotificationSchemas {
  const own: NotificationSchemas = Object.assign({}, webhookNotifications, ...rooms)
  const kinds = Object.entries({ ...own, ...recorded, ...alertCreated, ...created }).filter(
    ([type]) => !untold.includes(type as EventType),
  )
  const [first, ...others] = kinds.map(([kind, event]) => z.object({ kind: z.literal(kind), event }))
  if (!first) return own
  return { ...own, 'event.created': z.discriminatedUnion('kind', [first, ...others]).openapi('CreatedNotification') }
}
