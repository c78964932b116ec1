import { blob, builderOver, type Column, defaulted, integer, maybe, text, word } from '../database/index.ts'
import { stated } from '../log/index.ts'
import type { AuditEntity } from './entities.ts'

export const tables = {
  outbox: {
    seq: defaulted(integer),
    event_id: text,
    type: text,
    timestamp_ms: integer,
    body: blob,
  },
  audit_entry: {
    id: integer,
    timestamp_ms: integer,
    operator_commitment: maybe(text),
    actor_commitment: maybe(text),
    action: text,
    entity: word<AuditEntity>(),
    entity_id: maybe(text),
    changes: maybe(text),
    request_id: maybe(text),
    address: maybe(text),
    auth_mode: maybe(text),
    log_id: maybe(integer),
  },
  audit_person: {
    entry_id: integer,
    timestamp_ms: integer,
    operator_id: maybe(integer),
    actor_id: maybe(integer),
  },
  audit_hash: {
    entry_id: integer,
    hash: blob,
  },
  audit_digest: {
    ...stated,
    id: integer,
    event_id: text,
    from_entry: integer,
    to_entry: integer,
    entries: integer,
    root: text,
    made_at_ms: integer,
  },
  idempotency: {
    row: defaulted(integer),
    key: text,
    caller: text,
    method: text,
    path: text,
    request_sha256: text,
    status: integer as Column<200 | 201>,
    location: maybe(text),
    visible_warehouses: maybe(text),
    body: text,
    created_at_ms: integer,
  },
} as const

export const sql = builderOver(tables)
