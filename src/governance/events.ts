import type { NotificationSchemas, PublishedEvent } from '../journal/index.ts'
import { Incident, Report } from './schema.ts'

/** What this room publishes: the resource as its POST answers it. */
export const governanceNotifications = {
  'incident.created': Incident,
  'incident.resolved': Incident,
  'audit.report_generated': Report,
} satisfies NotificationSchemas

/** The notification of a change of an incident; a change that nobody is told about has none. */
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
    // Of a report on one warehouse; on several it is the site's.
    warehouseId: report.warehouses.length === 1 ? report.warehouses[0] : undefined,
  }
}
