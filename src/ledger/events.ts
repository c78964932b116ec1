import type { PublishedEvent } from '../journal/index.ts'
import type { EventType } from './judge.ts'
import type { RecordedEvent } from './schema.ts'

const notifications = {
  PLACED: 'whms.placement',
  REMOVED: 'whms.removal',
  VERIFIED: 'whms.verification',
  DISPUTED: 'whms.dispute',
} as const satisfies Record<EventType, PublishedEvent['type']>

/** The notification of a ledger event: the resource as its POST answers it. */
export function placementRecorded(event: RecordedEvent, warehouseId: number): PublishedEvent {
  const { success: _, ...data } = event
  return {
    type: notifications[event.event_type],
    eventId: event.eventId,
    timestampMs: Date.parse(event.received_at),
    data,
    warehouseId,
  }
}
