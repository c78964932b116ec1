/** Every event type, as the interface document lists them. */
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

/** Facts without an event type: only `event.created` reports them, under this kind. */
export const createdKinds = [
  'transport_unit.held',
  'transport_unit.resumed',
  'transport_unit.cancelled',
  'transport_unit.evidence_added',
  'camera.offline',
  'camera.online',
  'camera.gap',
  'alert.raised',
  'alert.resolved',
  'dispute.resolved',
] as const

export type CreatedKind = (typeof createdKinds)[number]
