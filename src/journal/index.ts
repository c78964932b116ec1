export { type AuditEntity, type AuditFacts, type AuditOrigin, AuditTrail } from './audit.ts'
export { Idempotency } from './idempotency.ts'
export { type Inspect, inspector, mismatchOf, type NotificationSchemas } from './notifications.ts'
export { type Envelope, type EventType, eventTypes, Outbox, type PublishedEvent, payloadVersion } from './outbox.ts'
