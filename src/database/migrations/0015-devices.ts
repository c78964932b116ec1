import type { Migration } from '../migrate.ts'

/** Handhelds and wall screens, the badges of operators, and their sign-ins. */
export const devices: Migration = {
  version: 15,
  name: 'devices',
  oldestReader: 14,
  statements: [
    `CREATE TABLE device (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,                    -- its user name
  kind TEXT NOT NULL CHECK (kind IN ('handheld', 'kiosk')),
  role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'supervisor')),  -- the most that anybody may do with it
  warehouses TEXT,                       -- JSON [id]: sees these alone; null: as its role does
  code_sha256 BLOB,                      -- of the code that enrols it once; null when there is none
  code_until_ms INTEGER,
  token_sha256 BLOB,                     -- of its secret; null until it is enrolled
  enrolled_at_ms INTEGER,
  seen_at_ms INTEGER,                    -- to some minutes
  seen_address TEXT,
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER
) STRICT`,
    'CREATE UNIQUE INDEX device_name ON device (name) WHERE revoked_at_ms IS NULL',
    'CREATE INDEX device_code ON device (code_sha256) WHERE code_sha256 IS NOT NULL',
    `CREATE TABLE badge_operator (
  id INTEGER PRIMARY KEY,
  username TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'supervisor')),
  badge_mark BLOB NOT NULL,              -- HMAC of the badge's text under a key of the box
  pin_hash TEXT NOT NULL,                -- scrypt
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER
) STRICT`,
    'CREATE UNIQUE INDEX badge_operator_username ON badge_operator (username) WHERE revoked_at_ms IS NULL',
    'CREATE UNIQUE INDEX badge_operator_badge ON badge_operator (badge_mark) WHERE revoked_at_ms IS NULL',
    `CREATE TABLE shift_session (
  token_sha256 BLOB PRIMARY KEY,         -- the token itself stands nowhere
  device_id INTEGER NOT NULL REFERENCES device (id),
  operator_id INTEGER NOT NULL REFERENCES badge_operator (id),
  begun_at_ms INTEGER NOT NULL           -- ends auth.shift later
) STRICT, WITHOUT ROWID`,
    'CREATE INDEX shift_session_device ON shift_session (device_id)',
    'CREATE INDEX shift_session_operator ON shift_session (operator_id)',
  ],
}
