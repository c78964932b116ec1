import type { Migration } from '../migrate.ts'

/** Sessions of the console. */
export const consoleSessions: Migration = {
  version: 3,
  name: 'console',
  oldestReader: 1,
  statements: [
    `CREATE TABLE console_session (
  token_sha256 BLOB PRIMARY KEY CHECK (length(token_sha256) = 32), -- of the token in the cookie; the token stands nowhere
  username TEXT NOT NULL,
  instance TEXT NOT NULL,                -- X-Storage-Instance that vouched for the name
  account_mark BLOB NOT NULL,            -- SHA-256 of the account's secret hash at sign-in: another secret ends the session
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL         -- moves on with use
) STRICT, WITHOUT ROWID`,
    `CREATE INDEX console_session_expiry ON console_session (expires_at_ms)`,
    `CREATE INDEX console_session_user ON console_session (username, instance, expires_at_ms)`,
  ],
}
