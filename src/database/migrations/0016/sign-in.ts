export const signInStatements: readonly string[] = [
  `CREATE TABLE storage_try (
  id INTEGER PRIMARY KEY,
  instance TEXT NOT NULL,                -- the storage server, as the config names it
  at_ms INTEGER NOT NULL,                -- when the question went out; half an hour later the server has forgotten it
  network TEXT NOT NULL,                 -- of who asked
  login_mark TEXT NOT NULL               -- HMAC of the login under a key of the box; a name may be a secret in the wrong field
) STRICT`,
]
