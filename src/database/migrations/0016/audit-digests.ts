import { appendOnlyTriggers } from '../../append-only.ts'

/** The hashes of the audit trail, and their digests in the log. */
export const auditDigestsStatements: readonly string[] = [
  `CREATE TABLE audit_hash (
  entry_id INTEGER PRIMARY KEY REFERENCES audit_entry (id),
  hash BLOB NOT NULL                     -- SHA-256 of 0x00 and the entry's canonical JSON: its leaf hash in RFC 6962
) STRICT`,
  // Entries from before this table get their hashes later, below those of new entries: the next id is not demanded.
  ...appendOnlyTriggers('audit_hash', 'entry_id', [['entry_id']]).filter((sql) => !sql.includes('audit_hash_next_id')),
  `CREATE TABLE audit_digest (
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 …
  event_id TEXT NOT NULL,                -- UUIDv7
  from_entry INTEGER NOT NULL,           -- the first audit_entry.id that it covers; the one behind the digest before
  to_entry INTEGER NOT NULL,             -- the last one
  entries INTEGER NOT NULL,              -- how many of them there were
  root TEXT NOT NULL,                    -- RFC 6962 root over their hashes in the order of ids, hex
  made_at_ms INTEGER NOT NULL,           -- gateway's time; never decreases with id
  log_id INTEGER NOT NULL,               -- log_identity.id of the log that its leaf stands in
  leaf_seq INTEGER NOT NULL,
  leaf_version INTEGER NOT NULL,
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  CHECK (entries BETWEEN 0 AND to_entry - from_entry + 1),
  FOREIGN KEY (log_id, leaf_seq) REFERENCES log_leaf (log_id, seq)
) STRICT`,
  ...appendOnlyTriggers('audit_digest', 'id', [['event_id'], ['log_id', 'leaf_seq']]),
  `CREATE TRIGGER audit_digest_goes_on BEFORE INSERT ON audit_digest
WHEN NEW.from_entry IS NOT (SELECT coalesce(max(to_entry), 0) + 1 FROM audit_digest WHERE id = NEW.id - 1)
BEGIN SELECT RAISE(ABORT, 'audit_digest is append-only: it goes on behind the one before'); END`,
  'CREATE INDEX audit_digest_event_id ON audit_digest (event_id)',
  'CREATE INDEX audit_digest_leaf ON audit_digest (log_id, leaf_seq)',
]
