import { appendOnlyTriggers } from '../append-only.ts'
import type { Migration } from '../migrate.ts'

/**
 * Transport units, which are nothing but their history, and readings of scales. A unit has no separate row: its registration is in
 * its first row, its stage and status in its newest.
 */
export const units: Migration = {
  version: 7,
  name: 'units',
  oldestReader: 1,
  statements: [
    `CREATE TABLE scale_reading (
  id INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL,                -- UUIDv7, the id of its notification
  scale_id TEXT NOT NULL,                -- what the site calls the scale
  weight_kg REAL NOT NULL,
  stable INTEGER,                        -- 1, 0 as the scale said; null: it said nothing
  timestamp_ms INTEGER NOT NULL,         -- when it was read
  device_timestamp_ms INTEGER,           -- as sent, before any correction
  received_at_ms INTEGER NOT NULL,       -- gateway's time
  clock_offset_ms INTEGER,               -- gateway minus device, when X-Device-Time was sent
  time_quality TEXT NOT NULL,            -- synced, corrected, unsynced
  slot_id INTEGER REFERENCES slot (id),  -- where it was weighed
  asset_barcode TEXT,                    -- what was weighed, as scanned
  asset_key TEXT,                        -- the barcode as it is matched
  transport_unit_id TEXT,                -- unit_history.unit_id; its row 'weighed' refers back
  warehouse_id INTEGER,                  -- of the slot, else of the unit; null: of neither
  actor_commitment TEXT NOT NULL         -- the verified caller
) STRICT`,
    ...appendOnlyTriggers('scale_reading', 'id', [['event_id']]),
    'CREATE INDEX scale_reading_event_id ON scale_reading (event_id)',
    'CREATE INDEX scale_reading_time ON scale_reading (timestamp_ms, id)',
    'CREATE INDEX scale_reading_scale ON scale_reading (scale_id, timestamp_ms, id)',
    'CREATE INDEX scale_reading_slot ON scale_reading (slot_id, timestamp_ms, id) WHERE slot_id IS NOT NULL',
    'CREATE INDEX scale_reading_asset ON scale_reading (asset_key, timestamp_ms, id) WHERE asset_key IS NOT NULL',
    `CREATE INDEX scale_reading_unit ON scale_reading (transport_unit_id, timestamp_ms, id)
  WHERE transport_unit_id IS NOT NULL`,

    `CREATE TABLE unit_history (
  row INTEGER PRIMARY KEY,               -- 1, 2, 3 … over all units, in the order of commits
  event_id TEXT NOT NULL,                -- UUIDv7
  leaf_seq INTEGER NOT NULL REFERENCES log_leaf (seq),
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
  CHECK ((action = 'created') = (reference IS NOT NULL AND direction IS NOT NULL AND warehouse_id IS NOT NULL)),
  CHECK ((action = 'created') = (from_stage IS NULL))
) STRICT`,
    ...appendOnlyTriggers('unit_history', 'row', [['event_id'], ['leaf_seq']]),
    `CREATE TRIGGER unit_history_begins BEFORE INSERT ON unit_history
WHEN (NEW.action = 'created') = EXISTS (SELECT 1 FROM unit_history WHERE unit_id = NEW.unit_id)
BEGIN SELECT RAISE(ABORT, 'the history of a unit begins with its creation, and only begins once'); END`,
    'CREATE INDEX unit_history_event_id ON unit_history (event_id)',
    'CREATE INDEX unit_history_leaf_seq ON unit_history (leaf_seq)',
    'CREATE INDEX unit_history_unit ON unit_history (unit_id, row)',
    `CREATE INDEX unit_history_created ON unit_history (row) WHERE action = 'created'`,
    `CREATE INDEX unit_history_reference ON unit_history (reference, row) WHERE action = 'created'`,
    `CREATE INDEX unit_history_sscc ON unit_history (sscc, row) WHERE action = 'created'`,
    `CREATE TABLE unit_photo (
  sha256 TEXT NOT NULL,                  -- of a held photo that a unit's history shows
  warehouse_id INTEGER NOT NULL,         -- of the unit: who may see it may see the photo
  PRIMARY KEY (sha256, warehouse_id)
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE unit_client_event (
  caller TEXT NOT NULL,                  -- HMAC-SHA256 of name@instance under caller_key, hex
  client_event_id TEXT NOT NULL,
  row INTEGER NOT NULL REFERENCES unit_history (row),
  request_sha256 TEXT NOT NULL,          -- of what was asked, to tell a repeat from a clash
  PRIMARY KEY (caller, client_event_id)
) STRICT, WITHOUT ROWID`,
  ],
}
