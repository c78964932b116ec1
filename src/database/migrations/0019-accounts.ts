import type { Migration } from '../migrate.ts'

/** Local accounts that admins manage, their second factors, and facts of console sessions. */
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
  passkey_alone INTEGER NOT NULL,        -- 1: a passkey signs in without a password
  CHECK ((held_secret_hash IS NULL) = (disabled_at_ms IS NULL))
) STRICT`,
    `CREATE TABLE console_session_facts (
  token_sha256 BLOB PRIMARY KEY REFERENCES console_session (token_sha256) ON DELETE CASCADE,
  address TEXT NOT NULL,                 -- of the sign-in
  factor_at_ms INTEGER                   -- when a second factor was last shown
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE second_factor (
  id INTEGER PRIMARY KEY,
  username TEXT NOT NULL,                -- of a local account, of the config too
  kind TEXT NOT NULL CHECK (kind IN ('totp', 'passkey')),
  name TEXT NOT NULL,
  credential_id TEXT,                    -- of a passkey, base64url
  secret BLOB NOT NULL,                  -- sealed with the box's key; of a passkey its public key
  counter INTEGER NOT NULL,              -- the last time step that was used; of a passkey its signatures
  created_at_ms INTEGER NOT NULL,
  used_at_ms INTEGER,
  CHECK ((kind = 'passkey') = (credential_id IS NOT NULL))
) STRICT`,
    'CREATE INDEX second_factor_username ON second_factor (username)',
    'CREATE UNIQUE INDEX second_factor_credential ON second_factor (credential_id) WHERE credential_id IS NOT NULL',
    `CREATE TABLE recovery_code (
  code_sha256 BLOB PRIMARY KEY CHECK (length(code_sha256) = 32), -- of user name and code; a used one has no row
  username TEXT NOT NULL
) STRICT, WITHOUT ROWID`,
    'CREATE INDEX recovery_code_username ON recovery_code (username)',
  ],
}
