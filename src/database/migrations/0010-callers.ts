import type { Migration } from '../migrate.ts'

/** Callers whom a storage server vouched for, so that they are known when it cannot be reached, also after a restart. */
export const callers: Migration = {
  version: 10,
  name: 'callers',
  oldestReader: 1,
  statements: [
    `CREATE TABLE known_caller (
  instance TEXT NOT NULL,                -- the storage server, as the config names it
  username TEXT NOT NULL,                -- its own spelling of the name
  groups TEXT NOT NULL,                  -- JSON [], as it last said
  role TEXT NOT NULL,                    -- what the config made of them then; to notice changes, never to decide by
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (instance, username)
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE known_credential (
  id BLOB PRIMARY KEY CHECK (length(id) = 32), -- HMAC of instance, name and secret under a key of the box; the secret stands nowhere
  instance TEXT NOT NULL,
  username TEXT NOT NULL,
  as_bearer INTEGER NOT NULL,            -- 1: the server took it as a bearer token; 0: as a Basic password
  verified_at_ms INTEGER NOT NULL,       -- when the server last said that it is right; the row goes when it says wrong
  FOREIGN KEY (instance, username) REFERENCES known_caller (instance, username) ON DELETE CASCADE
) STRICT, WITHOUT ROWID`,
    `CREATE INDEX known_credential_age ON known_credential (verified_at_ms)`,
    `CREATE INDEX known_credential_caller ON known_credential (instance, username)`,
    `CREATE TABLE console_session_secret (
  token_sha256 BLOB PRIMARY KEY REFERENCES console_session (token_sha256) ON DELETE CASCADE,
  sealed BLOB NOT NULL                   -- the credential signed in with, under a key made of the cookie's token, which stands nowhere
) STRICT, WITHOUT ROWID`,
  ],
}
