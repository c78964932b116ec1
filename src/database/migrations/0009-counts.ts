import { appendOnlyTriggers } from '../append-only.ts'
import type { Migration } from '../migrate.ts'

/**
 * Going live and staying true: lists of opening stock, counts, and the events that lean on them instead of a photo. A
 * program of an older schema works with the file, but its `ledger verify` does not know what such events state.
 */
export const counts: Migration = {
  version: 9,
  name: 'counts',
  oldestReader: 1,
  statements: [
    // A comment to the end of the line would swallow the bracket that SQLite puts behind an added column.
    `ALTER TABLE placement_event ADD COLUMN opening_list TEXT /* SHA-256 of the list of opening stock that says so, hex */`,
    `ALTER TABLE placement_event ADD COLUMN opening_line INTEGER /* and its line there; the header is line 1 */`,
    `ALTER TABLE placement_event ADD COLUMN count_id INTEGER /* the count that found it so */`,
    `ALTER TABLE placement_event ADD COLUMN count_scan_id INTEGER /* and the scan of it */`,
    `ALTER TABLE placement_event ADD COLUMN count_scan_sha256 TEXT /* of what that scan states, hex */`,
    `CREATE INDEX placement_event_opening ON placement_event (opening_list, opening_line)
  WHERE opening_list IS NOT NULL`,
    `CREATE INDEX placement_event_counted ON placement_event (asset_key, id) WHERE count_id IS NOT NULL`,

    `CREATE TABLE opening_list (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL,                  -- of the file's bytes; also its name on disk, under lists/
  size_bytes INTEGER NOT NULL,
  rows INTEGER NOT NULL,                 -- pallets on it
  received_at_ms INTEGER NOT NULL,
  actor_commitment TEXT NOT NULL         -- who imported it
) STRICT`,
    `CREATE INDEX opening_list_sha256 ON opening_list (sha256)`,
    ...appendOnlyTriggers('opening_list', 'id', [['sha256']]),

    `CREATE TABLE count_session (
  id INTEGER PRIMARY KEY,
  warehouse_id INTEGER NOT NULL REFERENCES warehouse (id),
  reference TEXT,                        -- of the one who asked for it; no name, no free text
  selection TEXT NOT NULL,               -- JSON: which slots were asked for
  state TEXT NOT NULL CHECK (state IN ('open', 'counting', 'review', 'approved', 'cancelled')),
  created_by TEXT NOT NULL,              -- commitment of the person
  closed_by TEXT,                        -- commitment of who approved or cancelled it
  closed_at_ms INTEGER,
  reason_commitment TEXT,                -- why it was cancelled
  version INTEGER NOT NULL DEFAULT 1,    -- counts changes and scans, for If-Match
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT`,
    `CREATE TABLE count_slot (
  count_id INTEGER NOT NULL REFERENCES count_session (id),
  slot_id INTEGER NOT NULL REFERENCES slot (id),
  PRIMARY KEY (count_id, slot_id)
) STRICT, WITHOUT ROWID`,
    `CREATE INDEX count_slot_slot ON count_slot (slot_id)`,

    `CREATE TABLE count_scan (
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 … in the order of commits
  count_id INTEGER NOT NULL REFERENCES count_session (id),
  slot_id INTEGER NOT NULL REFERENCES slot (id),
  found TEXT NOT NULL,                   -- JSON [{barcode, key}], raw and as matched; [] is an empty slot
  counter_commitment TEXT NOT NULL,      -- who scanned
  timestamp_ms INTEGER NOT NULL,         -- when, after correction
  device_timestamp_ms INTEGER,           -- the timestamp as sent
  received_at_ms INTEGER NOT NULL,
  clock_offset_ms INTEGER,               -- gateway minus device, when X-Device-Time was sent
  time_quality TEXT NOT NULL,            -- synced, corrected, unsynced
  known_event_id INTEGER NOT NULL,       -- last event of the ledger when it was received
  caller TEXT NOT NULL,                  -- mark of the caller, as in client_event
  client_scan_id TEXT,
  request_sha256 TEXT NOT NULL,          -- of the canonical body, to tell a repeat from a clash
  sha256 TEXT NOT NULL                   -- of the canonical JSON of what the scan states, hex
) STRICT`,
    ...appendOnlyTriggers('count_scan', 'id', [['count_id', 'caller', 'client_scan_id']]),
    `CREATE INDEX count_scan_slot ON count_scan (count_id, slot_id, timestamp_ms, id)`,
    `CREATE INDEX count_scan_client ON count_scan (count_id, caller, client_scan_id)`,

    `CREATE TABLE count_recount (
  id INTEGER PRIMARY KEY,
  count_id INTEGER NOT NULL REFERENCES count_session (id),
  slot_id INTEGER NOT NULL REFERENCES slot (id),
  after_scan_id INTEGER NOT NULL,        -- scans of this slot up to here count no more
  requested_at_ms INTEGER NOT NULL,      -- scans made before it count no more either
  actor_commitment TEXT NOT NULL,        -- who asked for it
  reason_commitment TEXT
) STRICT`,
    ...appendOnlyTriggers('count_recount', 'id'),
    `CREATE INDEX count_recount_slot ON count_recount (count_id, slot_id, id)`,

    `CREATE TABLE count_outcome (
  id INTEGER PRIMARY KEY,
  count_id INTEGER NOT NULL REFERENCES count_session (id),
  slot_id INTEGER NOT NULL REFERENCES slot (id),
  scan_id INTEGER,                       -- the scan that decided; null: nobody scanned the slot
  outcome TEXT NOT NULL CHECK (outcome IN ('matched', 'corrected', 'moved', 'conflict', 'not_counted')),
  scanned_at_ms INTEGER,                 -- when the slot was seen
  decided_at_ms INTEGER NOT NULL
) STRICT`,
    ...appendOnlyTriggers('count_outcome', 'id', [['count_id', 'slot_id']]),
    `CREATE INDEX count_outcome_slot ON count_outcome (slot_id, outcome, scanned_at_ms)`,
    `CREATE INDEX count_outcome_count ON count_outcome (count_id, slot_id)`,
  ],
}
