import { blob, builderOver, defaulted, integer, maybe, text, word } from '../database/index.ts'

export const tables = {
  alert_channel: { name: text, after_alert_id: integer, last_message_at_ms: integer },
  alert_notice: { channel: text, alert_id: integer, ready_at_ms: integer, sent: integer },
  alert_message: {
    id: defaulted(integer),
    message_id: text,
    channel: text,
    recipient: text,
    about: word<'raised' | 'resolved' | 'test'>(),
    alert_ids: text,
    state: word<'pending' | 'sent' | 'failed'>(),
    attempts: integer,
    next_attempt_at_ms: integer,
    last_error: maybe(text),
    created_at_ms: integer,
    settled_at_ms: maybe(integer),
  },
  push_subscription: {
    id: defaulted(integer),
    username: text,
    instance: text,
    is_device: integer,
    endpoint_sha256: blob,
    sealed: blob,
    created_at_ms: integer,
  },
  alert_silence: {
    id: defaulted(integer),
    from_ms: integer,
    until_ms: integer,
    kinds: text,
    warehouses: text,
    reason: text,
    created_at_ms: integer,
  },
} as const

export const sql = builderOver(tables)
