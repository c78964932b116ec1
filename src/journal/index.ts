export {
  type AuditFacts,
  type AuditOrigin,
  AuditTrail,
  auditEntries,
  endOfTrail,
  linksOfEntries,
  unlinkFromTrail,
} from './audit.ts'
export { AuditDigests } from './audit-digests.ts'
export { type AuditEntryRow, entryHash, entryHashHex } from './audit-hash.ts'
export { type AuditFilter, type AuditRow, auditStep } from './audit-walk.ts'
export { type AuditDigestRow, type DigestSpan, digestFacts, digestSpan } from './digest-leaf.ts'
export { endOfHashes, entriesBehind, hashesOfSpan, hashTextsBehind, statedDigests } from './digest-store.ts'
export type { AuditEntity } from './entities.ts'
export { type CreatedKind, createdKinds, type EventType, eventTypes } from './event-types.ts'
export {
  Idempotency,
  type KeptReply,
  removeRepliesTo,
  removeRepliesToAll,
  repliesBehind,
  repliesKeptSince,
  rewriteReply,
  type StoredForm,
} from './idempotency.ts'
export { type CreatedSchemas, type Inspect, inspector, mismatchOf, type NotificationSchemas } from './notifications.ts'
export {
  type AnnouncedEvent,
  type CheckpointNote,
  type CreatedEvent,
  type Envelope,
  Outbox,
  type PublishedEvent,
  payloadVersion,
  published,
  withCheckpoint,
} from './outbox.ts'
export { endsOfPublished, type Published, publishedBetween, rewritePublished } from './published.ts'
export { redacted } from './redact.ts'
