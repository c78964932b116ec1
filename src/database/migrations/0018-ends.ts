import { appendOnlyTriggers } from '../append-only.ts'
import type { Migration } from '../migrate.ts'

/** Notes of supervisors that end a dispute, and the time by which credentials end. */
export const ends: Migration = {
  version: 18,
  name: 'ends',
  // An older gateway cannot verify the new kind of leaf.
  oldestReader: 18,
  statements: [
    `CREATE TABLE dispute_resolution (
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 …, in the order of commits
  event_id TEXT NOT NULL,                -- UUIDv7
  log_id INTEGER NOT NULL,               -- log_identity.id of the log of its leaf
  leaf_seq INTEGER NOT NULL,             -- log_leaf.seq
  leaf_version INTEGER NOT NULL,         -- v of the leaf
  dispute_event_id INTEGER NOT NULL REFERENCES placement_event (id),    -- the DISPUTED that it ends
  placement_event_id INTEGER NOT NULL REFERENCES placement_event (id),  -- the PLACED that was disputed
  note_commitment TEXT NOT NULL,         -- the note is a row of opening
  actor_commitment TEXT NOT NULL,        -- the verified caller
  timestamp_ms INTEGER NOT NULL,         -- gateway's time; never decreases with id
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  FOREIGN KEY (log_id, leaf_seq) REFERENCES log_leaf (log_id, seq)
) STRICT`,
    ...appendOnlyTriggers('dispute_resolution', 'id', [['event_id'], ['log_id', 'leaf_seq'], ['dispute_event_id']]),
    'CREATE INDEX dispute_resolution_event_id ON dispute_resolution (event_id)',
    'CREATE INDEX dispute_resolution_leaf ON dispute_resolution (log_id, leaf_seq)',
    'CREATE INDEX dispute_resolution_dispute ON dispute_resolution (dispute_event_id)',
    `CREATE TABLE expiry_mark (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at_ms INTEGER NOT NULL                 -- the newest time by which credentials end; never decreases
) STRICT`,
  ],
}
