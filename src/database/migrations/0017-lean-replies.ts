import type { Migration } from '../migrate.ts'

/**
 * Gives replies a table with row ids. In one without, a reply was part of the index of the keys. Most of it did not fit into a
 * page of that index and was on another page, and a look at one key read a dozen other replies in full.
 */
export const leanReplies: Migration = {
  version: 17,
  name: 'lean-replies',
  oldestReader: 17,
  statements: [
    `CREATE TABLE idempotency_lean (
  caller TEXT NOT NULL,                  -- user name at its instance
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  key TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  status INTEGER NOT NULL,
  location TEXT,
  body TEXT NOT NULL,                    -- the reply as sent
  created_at_ms INTEGER NOT NULL,
  visible_warehouses TEXT,               -- ids that the caller could see then, as JSON; null in rows of before schema 16
  UNIQUE (caller, method, path, key)
) STRICT`,
    `INSERT INTO idempotency_lean (caller, method, path, key, request_sha256, status, location, body, created_at_ms, visible_warehouses)
  SELECT caller, method, path, key, request_sha256, status, location, body, created_at_ms, visible_warehouses FROM idempotency
  ORDER BY created_at_ms`,
    'DROP TABLE idempotency',
    'ALTER TABLE idempotency_lean RENAME TO idempotency',
    'CREATE INDEX idempotency_age ON idempotency (created_at_ms)',
  ],
}
