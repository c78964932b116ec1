import type { Migration } from '../migrate.ts'

/** Ends of alerts, and messages about alerts to people. */
export const alerting: Migration = {
  version: 20,
  name: 'alerting',
  // New tables only. An older gateway sends no messages about alerts.
  oldestReader: 18,
  statements: [
    `CREATE TABLE alert_end (
  alert_id INTEGER PRIMARY KEY REFERENCES alert (id),
  at_ms INTEGER NOT NULL                 -- when its trouble ended, or gave way to another
) STRICT`,
    'CREATE INDEX alert_kind_subject ON alert (kind, subject)',
    `CREATE TABLE alert_channel (
  name TEXT PRIMARY KEY,                 -- of the config
  after_alert_id INTEGER NOT NULL,       -- alerts up to this one were considered
  last_message_at_ms INTEGER NOT NULL    -- 0: none
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE alert_notice (
  channel TEXT NOT NULL REFERENCES alert_channel (name) ON DELETE CASCADE,
  alert_id INTEGER NOT NULL REFERENCES alert (id),
  ready_at_ms INTEGER NOT NULL,
  sent INTEGER NOT NULL,                 -- 1: a message reports the alert; its end follows
  PRIMARY KEY (channel, alert_id)
) STRICT, WITHOUT ROWID`,
    'CREATE INDEX alert_notice_alert_id ON alert_notice (alert_id)',
    `CREATE TABLE alert_message (
  id INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL UNIQUE,       -- UUIDv7; receivers know a repeat by it
  channel TEXT NOT NULL,
  recipient TEXT NOT NULL,               -- e-mail address, push_subscription.id, or origin of the address
  about TEXT NOT NULL CHECK (about IN ('raised', 'resolved', 'test')),
  alert_ids TEXT NOT NULL,               -- JSON [1, 2]
  state TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'failed')),
  attempts INTEGER NOT NULL,
  next_attempt_at_ms INTEGER NOT NULL,
  last_error TEXT,
  created_at_ms INTEGER NOT NULL,
  settled_at_ms INTEGER,
  CHECK ((state = 'pending') = (settled_at_ms IS NULL))
) STRICT`,
    `CREATE INDEX alert_message_pending ON alert_message (channel) WHERE state = 'pending'`,
    `CREATE TABLE push_subscription (
  id INTEGER PRIMARY KEY,
  username TEXT NOT NULL,
  instance TEXT NOT NULL,
  is_device INTEGER NOT NULL,
  endpoint_sha256 BLOB NOT NULL UNIQUE,
  sealed BLOB NOT NULL,                  -- endpoint and keys, with the box's key
  created_at_ms INTEGER NOT NULL
) STRICT`,
    'CREATE INDEX push_subscription_owner ON push_subscription (username, instance)',
    `CREATE TABLE alert_silence (
  id INTEGER PRIMARY KEY,
  from_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL CHECK (until_ms >= from_ms),
  kinds TEXT NOT NULL,                   -- JSON []: every kind
  warehouses TEXT NOT NULL,              -- JSON []: every warehouse
  reason TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT`,
  ],
}
