import type { Migration } from '../migrate.ts'

/** Local accounts that admins manage, and facts of console sessions. */
export const accounts: Migration = {
  version: 19,
  name: 'accounts',
  // New tables only. An older gateway reads `local_account` alone, where a disabled account has no hash.
  oldestReader: 18,
  statements: [
    `CREATE TABLE local_account_state (
  username TEXT PRIMARY KEY REFERENCES local_account (username) ON DELETE CASCADE,
  groups TEXT NOT NULL,                  -- JSON []
  held_secret_hash TEXT,                 -- of a disabled account, whose own hash is empty
  disabled_at_ms INTEGER,
  CHECK ((held_secret_hash IS NULL) = (disabled_at_ms IS NULL))
) STRICT`,
    `CREATE TABLE console_session_facts (
  token_sha256 BLOB PRIMARY KEY REFERENCES console_session (token_sha256) ON DELETE CASCADE,
  address TEXT NOT NULL                  -- of the sign-in
) STRICT, WITHOUT ROWID`,
  ],
}
