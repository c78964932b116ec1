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
