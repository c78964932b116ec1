import { appendOnlyTriggers } from '../../append-only.ts'

/**
 * Puts a new table in the place of an old one, with the same rows in the order of their ids. Indexes and triggers go
 * with the old table: the statements behind make them anew. References of other tables stay, because `migrate` switches
 * foreign keys off for the time of the steps.
 */
function rebuilt(table: string, definition: string, columns: string, from: string): string[] {
  return [
    `CREATE TABLE ${table}_16 ${definition}`,
    `INSERT INTO ${table}_16 (${columns}) SELECT ${from}`,
    `DROP TABLE ${table}`,
    `ALTER TABLE ${table}_16 RENAME TO ${table}`,
  ]
}

/** Columns that every row with a leaf has. */
const leafColumns = `log_id INTEGER NOT NULL,              -- log_identity.id of the log that its leaf stands in
  leaf_seq INTEGER NOT NULL,             -- log_leaf.seq
  leaf_version INTEGER NOT NULL,         -- v of the leaf: 1, or 2 with a salt of their own for people in each row`
const leafReference = 'FOREIGN KEY (log_id, leaf_seq) REFERENCES log_leaf (log_id, seq)'

const logs = [
  ...rebuilt(
    'log_identity',
    `(
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 …: what rows call the log by; the highest is the one that grows
  log_id TEXT NOT NULL,                  -- UUID of the log
  site_id TEXT NOT NULL,                 -- site.id of the config that made it
  parent_log_id TEXT,                    -- UUID of the log that it goes on from; null: it began empty
  parent_size INTEGER,                   -- so many leaves of the parent count
  created_at_ms INTEGER NOT NULL,
  CHECK ((parent_log_id IS NULL) = (parent_size IS NULL))
) STRICT`,
    'id, log_id, site_id, created_at_ms',
    'id, log_id, site_id, created_at_ms FROM log_identity',
  ),
  ...appendOnlyTriggers('log_identity', 'id', [['log_id']]),

  ...rebuilt(
    'log_leaf',
    `(
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 … over all logs, in the order of commits
  log_id INTEGER NOT NULL,               -- log_identity.id; log_leaf_next asks for the newest
  seq INTEGER NOT NULL,                  -- 1, 2, 3 … of its log; the leaf's index in the RFC 6962 tree is seq - 1
  kind TEXT NOT NULL,                    -- placement, detection, …
  ref TEXT NOT NULL,                     -- id of the row that the leaf states
  bytes BLOB NOT NULL,                   -- RFC 8785 JSON, exactly as hashed
  hash BLOB NOT NULL CHECK (length(hash) = 32),  -- SHA-256(0x00 || bytes)
  UNIQUE (log_id, seq)                   -- what rows refer to; log_leaf_next keeps REPLACE from deleting through it
) STRICT`,
    'row, log_id, seq, kind, ref, bytes, hash',
    'seq, 1, seq, kind, ref, bytes, hash FROM log_leaf ORDER BY seq',
  ),
  // Replaces the usual guard of the id by one read of the newest leaf, because every append pays for it.
  ...appendOnlyTriggers('log_leaf', 'row').filter((trigger) => !trigger.includes('_next_id ')),
  `CREATE TRIGGER log_leaf_next BEFORE INSERT ON log_leaf
WHEN NEW.log_id IS NOT (SELECT max(id) FROM log_identity)
  OR coalesce((SELECT NEW.row IS l.row + 1 AND
      (NEW.log_id IS l.log_id AND NEW.seq IS l.seq + 1 OR NEW.log_id > l.log_id AND NEW.seq IS 1)
    FROM log_leaf l ORDER BY l.row DESC LIMIT 1), NEW.row IS 1 AND NEW.seq IS 1) IS NOT 1
BEGIN SELECT RAISE(ABORT, 'log_leaf is append-only: the newest log grows, by its next seq'); END`,
]

const placements = [
  ...rebuilt(
    'placement_event',
    `(
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 … in the order of commits
  event_id TEXT NOT NULL,                -- UUIDv7; the webhook envelope's id
  ${leafColumns}
  event_type TEXT NOT NULL CHECK (event_type IN ('PLACED', 'REMOVED', 'VERIFIED', 'DISPUTED')),
  slot_id INTEGER NOT NULL REFERENCES slot (id),
  slot_code TEXT NOT NULL,               -- the slot's label, which never changes
  asset_barcode TEXT NOT NULL,           -- raw, as scanned
  asset_key TEXT NOT NULL,               -- what matches
  operator_commitment TEXT NOT NULL,     -- who did it, as the client says
  actor_commitment TEXT NOT NULL,        -- the verified caller
  timestamp_ms INTEGER NOT NULL,         -- when it happened, after correction
  device_timestamp_ms INTEGER,           -- the timestamp as sent
  received_at_ms INTEGER NOT NULL,       -- gateway's time; never decreases with id
  clock_offset_ms INTEGER,               -- gateway minus device, when X-Device-Time was sent
  time_quality TEXT NOT NULL,            -- synced, corrected, unsynced
  photo_url TEXT,
  photo_sha256 TEXT,                     -- of the photo that the gateway holds, or as claimed
  photo_evidence TEXT,                   -- held, claimed; null without a photo
  photo_taken_at_ms INTEGER,
  scale_weight_kg REAL,
  cctv_clip_url TEXT,
  work_order_ref TEXT,
  notes_commitment TEXT,                 -- verification_notes
  scan TEXT,                             -- JSON: the raw scan proof
  client_event_id TEXT,
  client_evidence_hash TEXT,             -- what the client sent as evidence_hash
  corrects_event_id INTEGER,             -- annotation only; voids nothing
  warnings TEXT NOT NULL,                -- JSON: the codes that were answered
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  opening_list TEXT,                     -- SHA-256 of the list of opening stock that says so, hex
  opening_line INTEGER,                  -- and its line there; the header is line 1
  count_id INTEGER,                      -- the count that found it so
  count_scan_id INTEGER,                 -- and the scan of it
  count_scan_sha256 TEXT,                -- of what that scan states, hex
  ${leafReference}
) STRICT`,
    `id, event_id, log_id, leaf_seq, leaf_version, event_type, slot_id, slot_code, asset_barcode, asset_key,
  operator_commitment, actor_commitment, timestamp_ms, device_timestamp_ms, received_at_ms, clock_offset_ms,
  time_quality, photo_url, photo_sha256, photo_evidence, photo_taken_at_ms, scale_weight_kg, cctv_clip_url,
  work_order_ref, notes_commitment, scan, client_event_id, client_evidence_hash, corrects_event_id, warnings,
  evidence_hash, opening_list, opening_line, count_id, count_scan_id, count_scan_sha256`,
    `id, event_id, 1, leaf_seq, 1, event_type, slot_id, slot_code, asset_barcode, asset_key,
  operator_commitment, actor_commitment, timestamp_ms, device_timestamp_ms, received_at_ms, clock_offset_ms,
  time_quality, photo_url, photo_sha256, photo_evidence, photo_taken_at_ms, scale_weight_kg, cctv_clip_url,
  work_order_ref, notes_commitment, scan, client_event_id, client_evidence_hash, corrects_event_id, warnings,
  evidence_hash, opening_list, opening_line, count_id, count_scan_id, count_scan_sha256
FROM placement_event ORDER BY id`,
  ),
  ...appendOnlyTriggers('placement_event', 'id', [['event_id']]),
  // In place of uniqueness: no index by leaf. See 0014.
  `CREATE TRIGGER placement_event_leaf_order BEFORE INSERT ON placement_event
WHEN (NEW.log_id, NEW.leaf_seq) <= (SELECT log_id, leaf_seq FROM placement_event ORDER BY id DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'placement_event is append-only: leaf_seq must be higher than the one before'); END`,
  'CREATE INDEX placement_event_event_id ON placement_event (event_id)',
  `CREATE INDEX placement_event_occupancy ON placement_event (slot_id, timestamp_ms, id, event_type, asset_barcode, asset_key)
  WHERE event_type IN ('PLACED', 'REMOVED')`,
  `CREATE INDEX placement_event_judgement ON placement_event (slot_id, timestamp_ms, id, event_type, asset_key)
  WHERE event_type IN ('VERIFIED', 'DISPUTED')`,
  `CREATE INDEX placement_event_location ON placement_event (asset_key, timestamp_ms, id, event_type, slot_id)
  WHERE event_type IN ('PLACED', 'REMOVED')`,
  `CREATE INDEX placement_event_asset_judgement ON placement_event (asset_key, timestamp_ms, id, event_type)
  WHERE event_type IN ('VERIFIED', 'DISPUTED')`,
  'CREATE INDEX placement_event_history ON placement_event (timestamp_ms, id)',
  'CREATE INDEX placement_event_type ON placement_event (event_type, timestamp_ms, id)',
  `CREATE INDEX placement_event_corrects ON placement_event (corrects_event_id, id)
  WHERE corrects_event_id IS NOT NULL`,
  'CREATE INDEX placement_event_photo ON placement_event (photo_sha256) WHERE photo_sha256 IS NOT NULL',
  `CREATE INDEX placement_event_opening ON placement_event (opening_list, opening_line)
  WHERE opening_list IS NOT NULL`,
  'CREATE INDEX placement_event_counted ON placement_event (asset_key, id) WHERE count_id IS NOT NULL',
  `CREATE INDEX placement_event_work_order ON placement_event (work_order_ref, timestamp_ms, id)
  WHERE work_order_ref IS NOT NULL`,
  // In later rows a commitment does not identify a person; they are found by placement_person.
  `CREATE INDEX placement_event_operator ON placement_event (operator_commitment, timestamp_ms, id)
  WHERE leaf_version = 1`,
]

const detections = [
  ...rebuilt(
    'detection_event',
    `(
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 … in the order of commits
  id INTEGER NOT NULL REFERENCES detection_reservation (id),
  event_id TEXT NOT NULL,                -- UUIDv7
  ${leafColumns}
  cctv_id INTEGER NOT NULL,
  timestamp_ms INTEGER NOT NULL,         -- when the detector fired
  score REAL NOT NULL,                   -- highest while it lasted
  scene_change INTEGER NOT NULL,
  clip_status TEXT NOT NULL CHECK (clip_status IN ('recorded', 'cooldown', 'lost')),
  reason TEXT,                           -- why there is no clip, or why it is short
  clip_sha256 TEXT,
  snapshot_sha256 TEXT,
  clip_start_ms INTEGER,                 -- wall clock of the first and last picture
  clip_end_ms INTEGER,
  pre_roll_seconds REAL,                 -- as measured in the file
  duration_seconds REAL,
  recorded_at_ms INTEGER NOT NULL,       -- when the clip was closed
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  ${leafReference}
) STRICT`,
    `row, id, event_id, log_id, leaf_seq, leaf_version, cctv_id, timestamp_ms, score, scene_change, clip_status, reason,
  clip_sha256, snapshot_sha256, clip_start_ms, clip_end_ms, pre_roll_seconds, duration_seconds, recorded_at_ms, evidence_hash`,
    `row, id, event_id, 1, leaf_seq, 1, cctv_id, timestamp_ms, score, scene_change, clip_status, reason,
  clip_sha256, snapshot_sha256, clip_start_ms, clip_end_ms, pre_roll_seconds, duration_seconds, recorded_at_ms, evidence_hash
FROM detection_event ORDER BY row`,
  ),
  ...appendOnlyTriggers('detection_event', 'row', [['id'], ['event_id'], ['log_id', 'leaf_seq']]),
  'CREATE INDEX detection_event_id ON detection_event (id)',
  'CREATE INDEX detection_event_event_id ON detection_event (event_id)',
  'CREATE INDEX detection_event_leaf ON detection_event (log_id, leaf_seq)',
  'CREATE INDEX detection_event_time ON detection_event (timestamp_ms, id)',
  'CREATE INDEX detection_event_camera ON detection_event (cctv_id, timestamp_ms, id)',
]

const units = [
  ...rebuilt(
    'unit_history',
    `(
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 … over all units, in the order of commits
  event_id TEXT NOT NULL,                -- UUIDv7
  ${leafColumns}
  unit_id TEXT NOT NULL,                 -- UUIDv7 of the unit
  action TEXT NOT NULL CHECK (action IN ('created', 'advanced', 'skipped', 'completed', 'held', 'resumed', 'cancelled',
    'evidence', 'weighed')),
  from_stage TEXT,                       -- null: created
  stage TEXT NOT NULL,                   -- of the unit after it
  status TEXT NOT NULL CHECK (status IN ('active', 'on_hold', 'completed', 'cancelled')),  -- after it
  operator_commitment TEXT NOT NULL,     -- on whose word
  actor_commitment TEXT NOT NULL,        -- the verified caller
  note_commitment TEXT,
  reason_commitment TEXT,                -- why a stage was skipped, or the unit held, resumed or cancelled
  timestamp_ms INTEGER NOT NULL,         -- when it happened; the order of the history is that of the rows
  device_timestamp_ms INTEGER,           -- as sent, before any correction
  received_at_ms INTEGER NOT NULL,       -- gateway's time; never decreases with row
  clock_offset_ms INTEGER,               -- gateway minus device, when X-Device-Time was sent
  time_quality TEXT NOT NULL,            -- synced, corrected, unsynced
  photos TEXT,                           -- JSON [{url, sha256?, evidence: held or claimed}]; null without any
  scale_weight_kg REAL,
  scale_reading_id INTEGER REFERENCES scale_reading (id),  -- of 'weighed'
  scale_id TEXT,                         -- of 'weighed'
  scale_stable INTEGER,                  -- of 'weighed': 1, 0 as the scale said
  reference TEXT,                        -- this and what follows: of 'created' alone
  sscc TEXT,                             -- 18 digits
  direction TEXT CHECK (direction IN ('inbound', 'outbound')),
  warehouse_id INTEGER REFERENCES warehouse (id),
  carrier TEXT,
  vehicle_commitment TEXT,               -- a number plate leads to a person
  client_event_id TEXT,                  -- of any action
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  ${leafReference},
  CHECK ((action = 'created') = (reference IS NOT NULL AND direction IS NOT NULL AND warehouse_id IS NOT NULL)),
  CHECK ((action = 'created') = (from_stage IS NULL))
) STRICT`,
    `row, event_id, log_id, leaf_seq, leaf_version, unit_id, action, from_stage, stage, status, operator_commitment,
  actor_commitment, note_commitment, reason_commitment, timestamp_ms, device_timestamp_ms, received_at_ms,
  clock_offset_ms, time_quality, photos, scale_weight_kg, scale_reading_id, scale_id, scale_stable, reference, sscc,
  direction, warehouse_id, carrier, vehicle_commitment, client_event_id, evidence_hash`,
    `row, event_id, 1, leaf_seq, 1, unit_id, action, from_stage, stage, status, operator_commitment,
  actor_commitment, note_commitment, reason_commitment, timestamp_ms, device_timestamp_ms, received_at_ms,
  clock_offset_ms, time_quality, photos, scale_weight_kg, scale_reading_id, scale_id, scale_stable, reference, sscc,
  direction, warehouse_id, carrier, vehicle_commitment, client_event_id, evidence_hash
FROM unit_history ORDER BY row`,
  ),
  ...appendOnlyTriggers('unit_history', 'row', [['event_id'], ['log_id', 'leaf_seq']]),
  `CREATE TRIGGER unit_history_begins BEFORE INSERT ON unit_history
WHEN (NEW.action = 'created') = EXISTS (SELECT 1 FROM unit_history WHERE unit_id = NEW.unit_id)
BEGIN SELECT RAISE(ABORT, 'the history of a unit begins with its creation, and only begins once'); END`,
  'CREATE INDEX unit_history_event_id ON unit_history (event_id)',
  'CREATE INDEX unit_history_leaf ON unit_history (log_id, leaf_seq)',
  'CREATE INDEX unit_history_unit ON unit_history (unit_id, row)',
  `CREATE INDEX unit_history_created ON unit_history (row) WHERE action = 'created'`,
  `CREATE INDEX unit_history_reference ON unit_history (reference, row) WHERE action = 'created'`,
  `CREATE INDEX unit_history_sscc ON unit_history (sscc, row) WHERE action = 'created'`,
]

const incidents = [
  ...rebuilt(
    'incident_change',
    `(
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 … over all incidents, in the order of commits
  event_id TEXT NOT NULL,                -- UUIDv7
  ${leafColumns}
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
  ${leafReference},
  CHECK ((status = 'open') = (severity IS NOT NULL AND category IS NOT NULL AND evidence IS NOT NULL)),
  CHECK ((status = 'resolved') = (resolution_commitment IS NOT NULL))
) STRICT`,
    `id, event_id, log_id, leaf_seq, leaf_version, incident_id, status, severity, category, warehouse_id,
  title_commitment, description_commitment, evidence, resolution_commitment, actor_commitment, timestamp_ms, evidence_hash`,
    `id, event_id, 1, leaf_seq, 1, incident_id, status, severity, category, warehouse_id,
  title_commitment, description_commitment, evidence, resolution_commitment, actor_commitment, timestamp_ms, evidence_hash
FROM incident_change ORDER BY id`,
  ),
  ...appendOnlyTriggers('incident_change', 'id', [['event_id'], ['log_id', 'leaf_seq']]),
  `CREATE TRIGGER incident_change_moves BEFORE INSERT ON incident_change
WHEN NOT CASE coalesce((SELECT status FROM incident_change WHERE incident_id = NEW.incident_id ORDER BY id DESC LIMIT 1), '')
  WHEN '' THEN NEW.status = 'open'
  WHEN 'open' THEN NEW.status IN ('investigating', 'resolved')
  WHEN 'investigating' THEN NEW.status = 'resolved'
  ELSE 0 END
BEGIN SELECT RAISE(ABORT, 'an incident goes from open over investigating to resolved, and never back'); END`,
  'CREATE INDEX incident_change_event_id ON incident_change (event_id)',
  'CREATE INDEX incident_change_leaf ON incident_change (log_id, leaf_seq)',
  'CREATE INDEX incident_change_incident ON incident_change (incident_id, id)',
  `CREATE INDEX incident_change_opened ON incident_change (timestamp_ms, incident_id) WHERE status = 'open'`,
]

const reports = [
  ...rebuilt(
    'report',
    `(
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 …
  event_id TEXT NOT NULL,                -- UUIDv7, the id of its notification
  ${leafColumns}
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
  evidence_hash TEXT NOT NULL,           -- SHA-256 of the leaf's bytes, hex
  ${leafReference}
) STRICT`,
    `id, event_id, log_id, leaf_seq, leaf_version, type, from_ms, to_ms, warehouses, log_size, log_root, sha256,
  size_bytes, actor_commitment, created_at_ms, evidence_hash`,
    `id, event_id, 1, leaf_seq, 1, type, from_ms, to_ms, warehouses, log_size, log_root, sha256,
  size_bytes, actor_commitment, created_at_ms, evidence_hash
FROM report ORDER BY id`,
  ),
  ...appendOnlyTriggers('report', 'id', [['event_id'], ['log_id', 'leaf_seq']]),
  'CREATE INDEX report_event_id ON report (event_id)',
  'CREATE INDEX report_leaf ON report (log_id, leaf_seq)',
]

/** The erasable side: the people behind the commitments of later rows. Nothing here is guarded, and nothing refers to it. */
const people = [
  `CREATE TABLE person (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given again
  name TEXT NOT NULL,                    -- what is shown
  instance TEXT,                         -- whose server vouched for the name; null: a client only named the person
  salt BLOB NOT NULL CHECK (length(salt) = 32)  -- the key of the person's row salts; without it no row can be tied to another
) STRICT`,
  `CREATE UNIQUE INDEX person_identity ON person (name, coalesce(instance, ''))`,
  `CREATE TABLE placement_person (
  event_id INTEGER PRIMARY KEY,          -- placement_event.id
  timestamp_ms INTEGER NOT NULL,         -- of the event, so that a history comes in its order
  operator_id INTEGER,                   -- person.id; null once erased
  actor_id INTEGER
) STRICT`,
  'CREATE INDEX placement_person_operator ON placement_person (operator_id, timestamp_ms, event_id)',
  `CREATE TABLE audit_person (
  entry_id INTEGER PRIMARY KEY,          -- audit_entry.id
  timestamp_ms INTEGER NOT NULL,         -- of the entry
  operator_id INTEGER,                   -- person.id; null: no other than the actor, or erased
  actor_id INTEGER                       -- null: the gateway itself, a stranger, or erased
) STRICT`,
  'CREATE INDEX audit_person_actor ON audit_person (actor_id, timestamp_ms, entry_id) WHERE actor_id IS NOT NULL',
  'CREATE INDEX audit_person_operator ON audit_person (operator_id, timestamp_ms, entry_id) WHERE operator_id IS NOT NULL',
  `CREATE TABLE person_link (
  subject TEXT NOT NULL,                 -- table of the row
  row INTEGER NOT NULL,                  -- its id
  field TEXT NOT NULL,                   -- actor, operator, …; of a row with a leaf, the leaf's key
  person_id INTEGER NOT NULL,            -- person.id
  log_id INTEGER NOT NULL,               -- log_identity.id of the log that the row's salt names
  PRIMARY KEY (subject, row, field)
) STRICT, WITHOUT ROWID`,
  'CREATE INDEX person_link_person ON person_link (person_id, subject, row)',
  `CREATE TABLE report_person (
  report_id INTEGER NOT NULL,            -- report.id
  n INTEGER NOT NULL,                    -- 1, 2, 3 …: somebody who stands in events of the period
  name TEXT,                             -- as known when the report was made; null once erased
  instance TEXT,
  is_operator INTEGER NOT NULL,          -- 1: events were recorded in this one's name
  self_verified INTEGER NOT NULL,        -- events that this one verified, having placed what they are about
  PRIMARY KEY (report_id, n)
) STRICT, WITHOUT ROWID`,
  'CREATE INDEX report_person_name ON report_person (name)',
  `CREATE TABLE erased_identity (
  person_id INTEGER PRIMARY KEY,         -- the number that the person had: an older copy of this file forgets the same one
  identity_mark TEXT NOT NULL,           -- HMAC-SHA256 of the identity under caller_key, hex: to say so when asked again
  name_mark TEXT NOT NULL,               -- the same of the name alone
  erased_at_ms INTEGER NOT NULL
) STRICT`,
  'CREATE INDEX erased_identity_identity ON erased_identity (identity_mark)',
  'CREATE INDEX erased_identity_name ON erased_identity (name_mark)',
  'CREATE INDEX erased_person_name ON erased_person (name_mark)',

  // A comment to the end of the line would swallow the bracket that SQLite puts behind an added column.
  `ALTER TABLE audit_entry ADD COLUMN log_id INTEGER /* log_identity.id of the log that the row's salts name; null: a commitment is a person's, not a row's */`,
  'DROP INDEX audit_entry_actor',
  'DROP INDEX audit_entry_operator',
  `CREATE INDEX audit_entry_actor ON audit_entry (actor_commitment, timestamp_ms)
  WHERE actor_commitment IS NOT NULL AND log_id IS NULL`,
  `CREATE INDEX audit_entry_operator ON audit_entry (operator_commitment, timestamp_ms)
  WHERE operator_commitment IS NOT NULL AND log_id IS NULL`,

  // Accounts of the config, which were known by name alone: the next start finds them by it.
  `INSERT INTO person (name, salt)
SELECT o.value, randomblob(32) FROM account_seen a JOIN opening o ON o.commitment = a.person_commitment`,
  `CREATE TABLE account_seen_16 (
  person_id INTEGER PRIMARY KEY,         -- an account of the config, when it was last looked at
  role TEXT NOT NULL,
  secret_mark BLOB NOT NULL              -- SHA-256 of its secret's hash: tells that the secret was exchanged, and no more
) STRICT`,
  `INSERT INTO account_seen_16 SELECT p.id, a.role, a.secret_mark FROM account_seen a
  JOIN opening o ON o.commitment = a.person_commitment JOIN person p ON p.name = o.value AND p.instance IS NULL`,
  'DROP TABLE account_seen',
  'ALTER TABLE account_seen_16 RENAME TO account_seen',
  // Further people who brought a photo were known by name alone, which is no identity. They are known again when they bring it
  // again.
  'DROP TABLE photo_bringer',
  `CREATE TABLE photo_bringer (
  sha256 TEXT NOT NULL,
  person_id INTEGER NOT NULL,            -- person.id of one who brought these bytes
  PRIMARY KEY (sha256, person_id)
) STRICT, WITHOUT ROWID`,
  'CREATE INDEX photo_bringer_person ON photo_bringer (person_id)',
]

/** Separate logs, and people whose rows cannot be tied to one another. */
export const peopleStatements: readonly string[] = [
  ...logs,
  ...placements,
  ...detections,
  ...units,
  ...incidents,
  ...reports,
  ...people,
]
