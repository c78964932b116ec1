/** Every type of notification; the document's list. */
export const eventTypes = [
  'event.created',
  'transport_unit.created',
  'transport_unit.stage_changed',
  'transport_unit.completed',
  'whms.placement',
  'whms.removal',
  'whms.verification',
  'whms.dispute',
  'incident.created',
  'incident.resolved',
  'audit.report_generated',
  'motion.detected',
  'scale.reading',
  'webhook.test',
] as const

export type EventType = (typeof eventTypes)[number]

/** What has no type of its own: only `event.created` tells of it, under this kind. */
export const createdKinds = [
  'transport_unit.held',
  'transport_unit.resumed',
  'transport_unit.cancelled',
  'transport_unit.evidence_added',
  'camera.offline',
  'camera.online',
  'alert.raised',
] as const

export type CreatedKind = (typeof createdKinds)[number]
