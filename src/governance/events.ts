import type { NotificationSchemas, PublishedEvent } from '../journal/index.ts'
import { Incident, Report } from './schema.ts'

/** Notifications of this room: the resource as its POST answers it. */
export const governanceNotifications = {
  'incident.created': Incident,
  'incident.resolved': Incident,
  'audit.report_generated': Report,
} satisfies NotificationSchemas

/** Makes the notification of a change of an incident; undefined for changes without one. */
export function incidentChanged(
  incident: Incident,
  change: { readonly event_id: string; readonly timestamp_ms: number },
): PublishedEvent | undefined {
  if (incident.status === 'investigating') return undefined
  return {
    type: incident.status === 'open' ? 'incident.created' : 'incident.resolved',
    eventId: change.event_id,
    timestampMs: change.timestamp_ms,
    data: { ...incident },
    warehouseId: incident.warehouseId ?? undefined,
  }
}

export function reportGenerated(report: Report): PublishedEvent {
  return {
    type: 'audit.report_generated',
    eventId: report.eventId,
    timestampMs: Date.parse(report.createdAt),
    data: { ...report },
    // A report on several warehouses uses the site's.
    warehouseId: report.warehouses.length === 1 ? report.warehouses[0] : undefined,
  }
}
