import { appendOnlyTriggers } from '../../append-only.ts'

/** The changes of the keys that sign a log. */
export const logKeysStatements: readonly string[] = [
  `CREATE TABLE log_key (
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 …
  event_id TEXT NOT NULL,                -- UUIDv7
  previous_ed25519 TEXT NOT NULL,        -- verifier keys (vkeys of signed-note) that signed up to here
  previous_ml_dsa_44 TEXT NOT NULL,
  ed25519 TEXT NOT NULL,                 -- verifier keys that sign from the first checkpoint over its leaf on
  ml_dsa_44 TEXT NOT NULL,
  handed_over_at_ms INTEGER NOT NULL,    -- gateway's time; never decreases with id
  log_id INTEGER NOT NULL,               -- log_identity.id of the log that its leaf stands in
  leaf_seq INTEGER NOT NULL,
  leaf_version INTEGER NOT NULL,
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  FOREIGN KEY (log_id, leaf_seq) REFERENCES log_leaf (log_id, seq)
) STRICT`,
  ...appendOnlyTriggers('log_key', 'id', [['event_id'], ['log_id', 'leaf_seq']]),
  'CREATE INDEX log_key_event_id ON log_key (event_id)',
  'CREATE INDEX log_key_leaf ON log_key (log_id, leaf_seq)',
]
