import { appendOnlyTriggers } from '../append-only.ts'
import type { Migration } from '../migrate.ts'

/** Incidents, which are nothing but their changes; reports; and the ways into the audit trail. */
export const governance: Migration = {
  version: 8,
  name: 'governance',
  oldestReader: 1,
  statements: [
    `CREATE TABLE incident_change (
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 … over all incidents, in the order of commits
  event_id TEXT NOT NULL,                -- UUIDv7
  leaf_seq INTEGER NOT NULL REFERENCES log_leaf (seq),
  incident_id INTEGER NOT NULL,          -- 1, 2, 3 …
  status TEXT NOT NULL CHECK (status IN ('open', 'investigating', 'resolved')),  -- after it
  severity TEXT CHECK (severity IN ('low', 'medium', 'high', 'critical')),  -- this and what follows: of 'open' alone
  category TEXT,                         -- the site's word for the kind of incident
  warehouse_id INTEGER,                  -- where; not there for a site without warehouses
  title_commitment TEXT,
  description_commitment TEXT,
  evidence TEXT,                         -- JSON [{type, id}, or {type: 'external', text: its commitment}, …]
  resolution_commitment TEXT,            -- of 'resolved' alone
  actor_commitment TEXT NOT NULL,        -- the verified caller
  timestamp_ms INTEGER NOT NULL,         -- gateway's time; never decreases with id
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  CHECK ((status = 'open') = (severity IS NOT NULL AND category IS NOT NULL AND evidence IS NOT NULL)),
  CHECK ((status = 'resolved') = (resolution_commitment IS NOT NULL))
) STRICT`,
    ...appendOnlyTriggers('incident_change', 'id', [['event_id'], ['leaf_seq']]),
    `CREATE TRIGGER incident_change_moves BEFORE INSERT ON incident_change
WHEN NOT CASE coalesce((SELECT status FROM incident_change WHERE incident_id = NEW.incident_id ORDER BY id DESC LIMIT 1), '')
  WHEN '' THEN NEW.status = 'open'
  WHEN 'open' THEN NEW.status IN ('investigating', 'resolved')
  WHEN 'investigating' THEN NEW.status = 'resolved'
  ELSE 0 END
BEGIN SELECT RAISE(ABORT, 'an incident goes from open over investigating to resolved, and never back'); END`,
    'CREATE INDEX incident_change_event_id ON incident_change (event_id)',
    'CREATE INDEX incident_change_leaf_seq ON incident_change (leaf_seq)',
    'CREATE INDEX incident_change_incident ON incident_change (incident_id, id)',
    `CREATE INDEX incident_change_opened ON incident_change (timestamp_ms, incident_id) WHERE status = 'open'`,

    `CREATE TABLE report (
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 …
  event_id TEXT NOT NULL,                -- UUIDv7, the id of its notification
  leaf_seq INTEGER NOT NULL REFERENCES log_leaf (seq),
  type TEXT NOT NULL CHECK (type IN ('compliance')),
  from_ms INTEGER NOT NULL,              -- the period: from here, inclusive
  to_ms INTEGER NOT NULL,                -- to here, exclusive
  warehouses TEXT NOT NULL,              -- JSON [ids] that it covers: those that its author may see
  log_size INTEGER NOT NULL,             -- made from the first so many leaves of the log
  log_root TEXT NOT NULL,                -- RFC 6962 root over them, hex
  sha256 TEXT NOT NULL,                  -- of the file; also its name on disk
  size_bytes INTEGER NOT NULL,
  actor_commitment TEXT NOT NULL,        -- the verified caller
  created_at_ms INTEGER NOT NULL,        -- gateway's time; never decreases with id
  evidence_hash TEXT NOT NULL            -- SHA-256 of the leaf's bytes, hex
) STRICT`,
    ...appendOnlyTriggers('report', 'id', [['event_id'], ['leaf_seq']]),
    'CREATE INDEX report_event_id ON report (event_id)',
    'CREATE INDEX report_leaf_seq ON report (leaf_seq)',

    'CREATE INDEX media_hold_ref ON media_hold (reason, ref)',

    `CREATE INDEX audit_entry_actor ON audit_entry (actor_commitment, timestamp_ms) WHERE actor_commitment IS NOT NULL`,
    `CREATE INDEX audit_entry_operator ON audit_entry (operator_commitment, timestamp_ms)
  WHERE operator_commitment IS NOT NULL`,
    // Events are nearly all of the trail. A search among them ends soon, and their appends pay for no index.
    `CREATE INDEX audit_entry_kind ON audit_entry (entity, timestamp_ms) WHERE entity <> 'event'`,
    `CREATE INDEX audit_entry_action ON audit_entry (action, timestamp_ms) WHERE entity <> 'event'`,

    `CREATE TABLE erased_person (
  commitment TEXT PRIMARY KEY,           -- of a name that was erased; shown as erased- and its first 8 digits
  name_mark TEXT NOT NULL,               -- HMAC-SHA256 of the name under caller_key, hex: the command says so when asked again
  erased_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE account_seen (
  person_commitment TEXT PRIMARY KEY,    -- an account of the config, when it was last looked at
  role TEXT NOT NULL,
  secret_mark BLOB NOT NULL              -- SHA-256 of its secret's hash: tells that the secret was exchanged, and no more
) STRICT, WITHOUT ROWID`,
  ],
}
