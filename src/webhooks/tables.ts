import { blob, builderOver, defaulted, integer, maybe, text, word } from '../database/index.ts'

export const tables = {
  webhook: {
    id: text,
    url: text,
    events: text,
    secret: blob,
    active: integer,
    status: word<'active' | 'failing' | 'disabled'>(),
    consecutive_failures: defaulted(integer),
    fanned_out_seq: integer,
    version: defaulted(integer),
    created_at_ms: integer,
    updated_at_ms: integer,
  },
  webhook_choice: {
    webhook_id: text,
    checkpoint: integer,
    hold: integer,
  },
  webhook_slowed: {
    webhook_id: text,
    since_ms: integer,
  },
  webhook_checkpoint: {
    webhook_id: text,
    from_seq: integer,
    log_id: maybe(text),
    size: maybe(integer),
    checkpoint: maybe(text),
  },
  webhook_retired_secret: {
    webhook_id: text,
    valid_until_ms: integer,
    secret: blob,
  },
  delivery: {
    id: text,
    webhook_id: text,
    outbox_seq: integer,
    state: word<'pending' | 'delivered' | 'exhausted'>(),
    attempts: defaulted(integer),
    next_attempt_at_ms: integer,
    lease_until_ms: defaulted(integer),
    last_status: maybe(integer),
    last_error: maybe(text),
    created_at_ms: integer,
    delivered_at_ms: maybe(integer),
    attempts_before: defaulted(integer),
  },
  delivery_attempt: {
    delivery_id: text,
    attempt: integer,
    started_at_ms: integer,
    duration_ms: integer,
    status: maybe(integer),
    error: maybe(text),
    answer: maybe(text),
  },
  alert: {
    id: defaulted(integer),
    kind: text,
    subject: text,
    message: text,
    created_at_ms: integer,
    acknowledged_at_ms: maybe(integer),
  },
  alert_end: { alert_id: integer, at_ms: integer },
} as const

export const sql = builderOver(tables)
