export { type AuditEntity, type AuditFacts, type AuditOrigin, AuditTrail } from './audit.ts'
export { Idempotency } from './idempotency.ts'
export { type Envelope, type EventType, eventTypes, Outbox, type PublishedEvent, payloadVersion } from './outbox.ts'
