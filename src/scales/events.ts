import type { NotificationSchemas, PublishedEvent } from '../journal/index.ts'
import { ScaleReading } from './schema.ts'

export const scaleNotifications = { 'scale.reading': ScaleReading } satisfies NotificationSchemas

/** Returns the notification of a reading, with the reading as its POST answers it. */
export function readingRecorded(reading: ScaleReading, warehouseId: number | undefined): PublishedEvent {
  return {
    type: 'scale.reading',
    eventId: reading.eventId,
    timestampMs: Date.parse(reading.received_at),
    data: reading,
    ...(warehouseId !== undefined && { warehouseId }),
  }
}
