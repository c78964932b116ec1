import type { Migration } from '../migrate.ts'

/** Replies to an Idempotency-Key in the order of acts: a new one follows the last, so a commit writes one page for all of them. */
export const replies: Migration = {
  version: 21,
  name: 'replies',
  // An older gateway seeks a reply by the primary key of the old table.
  oldestReader: 21,
  statements: [
    `CREATE TABLE idempotency_21 (
  row INTEGER PRIMARY KEY,               -- in the order of acts
  key TEXT NOT NULL,                     -- Idempotency-Key
  caller TEXT NOT NULL,                  -- user name at its instance
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  status INTEGER NOT NULL,
  location TEXT,
  visible_warehouses TEXT,               -- ids of the warehouses that the caller could see then, as JSON; null in rows before schema 16
  body TEXT NOT NULL,                    -- the reply as sent; of an event only the fields that its row does not have
  created_at_ms INTEGER NOT NULL
) STRICT`,
    `INSERT INTO idempotency_21 (key, caller, method, path, request_sha256, status, location, visible_warehouses, body, created_at_ms)
SELECT key, caller, method, path, request_sha256, status, location, visible_warehouses, body, created_at_ms
FROM idempotency ORDER BY created_at_ms`,
    'DROP TABLE idempotency',
    'ALTER TABLE idempotency_21 RENAME TO idempotency',
    'CREATE INDEX idempotency_key ON idempotency (key)',
  ],
}
