import { z } from '@hono/zod-openapi'
import type { NotificationSchemas, PublishedEvent } from '../journal/index.ts'
import type { EventType } from './judge.ts'
import { RecordedEvent } from './schema.ts'

const types = {
  PLACED: 'whms.placement',
  REMOVED: 'whms.removal',
  VERIFIED: 'whms.verification',
  DISPUTED: 'whms.dispute',
} as const satisfies Record<EventType, PublishedEvent['type']>

const { success: _, ...recorded } = RecordedEvent.shape

const notificationOf = <T extends EventType>(type: T) => z.object({ ...recorded, event_type: z.literal(type) })

/** The schemas of ledger notifications: the event as its POST answers it. */
export const ledgerNotifications = {
  'whms.placement': notificationOf('PLACED').openapi('PlacementNotification'),
  'whms.removal': notificationOf('REMOVED').openapi('RemovalNotification'),
  'whms.verification': notificationOf('VERIFIED').openapi('VerificationNotification'),
  'whms.dispute': notificationOf('DISPUTED').openapi('DisputeNotification'),
} satisfies NotificationSchemas

/** Returns the notification of a ledger event, with the event as its POST answers it. */
export function placementRecorded(event: RecordedEvent, warehouseId: number): PublishedEvent {
  const { success: _, ...data } = event
  return {
    type: types[event.event_type],
    eventId: event.eventId,
    timestampMs: Date.parse(event.received_at),
    data,
    warehouseId,
  }
}
