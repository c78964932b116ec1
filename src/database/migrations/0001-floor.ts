import { appendOnlyTriggers } from '../append-only.ts'
import type { Migration } from '../migrate.ts'

/**
 * Everything from a clone to a proven placement and its webhook. Times are milliseconds since the epoch, UTC. A `…_commitment` is
 * SHA-256(salt ‖ text) as 64 hex digits; the text itself is in `opening` and may be erased.
 */
export const floor: Migration = {
  version: 1,
  name: 'floor',
  oldestReader: 1,
  statements: [
    `CREATE TABLE log_identity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  log_id TEXT NOT NULL,                  -- UUID of this log, made at first start
  site_id TEXT NOT NULL,                 -- site.id of the config that made it
  created_at_ms INTEGER NOT NULL
) STRICT`,

    `CREATE TABLE log_leaf (
  seq INTEGER PRIMARY KEY,               -- 1, 2, 3 …; the leaf's index in the RFC 6962 tree is seq - 1
  kind TEXT NOT NULL,                    -- placement, detection, …
  ref TEXT NOT NULL,                     -- id of the row that the leaf states
  bytes BLOB NOT NULL,                   -- RFC 8785 JSON, exactly as hashed
  hash BLOB NOT NULL CHECK (length(hash) = 32)  -- SHA-256(0x00 || bytes)
) STRICT`,
    ...appendOnlyTriggers('log_leaf', 'seq'),

    `CREATE TABLE opening (
  commitment TEXT PRIMARY KEY,           -- SHA-256(salt || value), hex
  kind TEXT NOT NULL CHECK (kind IN ('person', 'text')),
  salt BLOB NOT NULL,                    -- 16 bytes
  value TEXT NOT NULL                    -- the name or the text; deleting the row forgets it, the log still verifies
) STRICT`,
    `CREATE UNIQUE INDEX opening_person ON opening (value) WHERE kind = 'person'`,

    `CREATE TABLE media (
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL,                  -- of the file's bytes; also its name on disk
  kind TEXT NOT NULL CHECK (kind IN ('photo', 'clip', 'snapshot')),
  media_type TEXT NOT NULL,              -- image/jpeg, …
  size_bytes INTEGER NOT NULL,
  received_at_ms INTEGER NOT NULL,
  actor_commitment TEXT                  -- who brought it; null for the gateway itself
) STRICT`,
    `CREATE INDEX media_sha256 ON media (sha256)`,
    ...appendOnlyTriggers('media', 'id', [['sha256']]),

    `CREATE TABLE media_hold (
  sha256 TEXT NOT NULL,                  -- the media that must stay
  reason TEXT NOT NULL,                  -- incident, dispute, upload
  ref TEXT NOT NULL,                     -- id of what holds it
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (sha256, reason, ref)
) STRICT, WITHOUT ROWID`,

    `CREATE TABLE warehouse (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  lat REAL, lng REAL,                    -- degrees; both or neither
  timezone TEXT NOT NULL,                -- IANA name
  version INTEGER NOT NULL DEFAULT 1,    -- counts changes, for If-Match
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT`,
    `CREATE TABLE zone (
  id INTEGER PRIMARY KEY,
  warehouse_id INTEGER NOT NULL REFERENCES warehouse (id),
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,                -- name in lower case, for uniqueness in the warehouse
  zone_type TEXT NOT NULL,
  color TEXT NOT NULL,                   -- #rrggbb
  version INTEGER NOT NULL DEFAULT 1,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  UNIQUE (warehouse_id, name_key)
) STRICT`,
    `CREATE TABLE slot (
  id INTEGER PRIMARY KEY,
  slot_id TEXT NOT NULL UNIQUE,          -- the label on the rack
  warehouse_id INTEGER NOT NULL REFERENCES warehouse (id),
  zone_id INTEGER REFERENCES zone (id),  -- null while no zone has the label's name
  zone TEXT NOT NULL,                    -- the zone's label as it was sent
  zone_type TEXT,                        -- null: the zone's
  floor_plan_polygon TEXT NOT NULL,      -- JSON [{x, y}, …] in floor-plan units
  constraints TEXT,                      -- JSON {max_weight kg, max_height cm, allowed_types []}
  retired_at_ms INTEGER,                 -- null while in use; slots are never deleted
  version INTEGER NOT NULL DEFAULT 1,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT`,
    `CREATE INDEX slot_zone ON slot (zone_id)`,
    `CREATE INDEX slot_label ON slot (warehouse_id, zone) WHERE zone_id IS NULL`,
    `CREATE TABLE asset (
  id INTEGER PRIMARY KEY,
  asset_id TEXT NOT NULL,                -- the barcode as first written
  asset_key TEXT NOT NULL UNIQUE,        -- what matches: see warehouse/barcode.ts
  type TEXT,                             -- null while provisional
  weight_kg REAL,
  dimensions TEXT,                       -- JSON {length, width, height} in cm
  provisional INTEGER NOT NULL,          -- 1: only ever seen in an event
  version INTEGER NOT NULL DEFAULT 1,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT`,

    `CREATE TABLE placement_event (
  id INTEGER PRIMARY KEY,                -- 1, 2, 3 … in the order of commits
  event_id TEXT NOT NULL,                -- UUIDv7; the webhook envelope's id
  leaf_seq INTEGER NOT NULL REFERENCES log_leaf (seq),
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
  evidence_hash TEXT NOT NULL            -- SHA-256 of the leaf's bytes, hex
) STRICT`,
    ...appendOnlyTriggers('placement_event', 'id', [['event_id'], ['leaf_seq']]),
    `CREATE INDEX placement_event_event_id ON placement_event (event_id)`,
    `CREATE INDEX placement_event_leaf_seq ON placement_event (leaf_seq)`,
    `CREATE INDEX placement_event_occupancy ON placement_event (slot_id, timestamp_ms, id, event_type, asset_barcode, asset_key)
  WHERE event_type IN ('PLACED', 'REMOVED')`,
    `CREATE INDEX placement_event_judgement ON placement_event (slot_id, timestamp_ms, id, event_type, asset_key)
  WHERE event_type IN ('VERIFIED', 'DISPUTED')`,
    `CREATE INDEX placement_event_location ON placement_event (asset_key, timestamp_ms, id, event_type, slot_id)
  WHERE event_type IN ('PLACED', 'REMOVED')`,
    `CREATE INDEX placement_event_asset_judgement ON placement_event (asset_key, timestamp_ms, id)
  WHERE event_type IN ('VERIFIED', 'DISPUTED')`,
    `CREATE INDEX placement_event_history ON placement_event (timestamp_ms, id)`,
    `CREATE INDEX placement_event_received ON placement_event (received_at_ms, id)`,
    `CREATE TABLE client_event (
  caller TEXT NOT NULL,                  -- commitment of the caller
  client_event_id TEXT NOT NULL,
  event_id INTEGER NOT NULL REFERENCES placement_event (id),
  request_sha256 TEXT NOT NULL,          -- of the canonical body, to tell a repeat from a clash
  PRIMARY KEY (caller, client_event_id)
) STRICT, WITHOUT ROWID`,

    `CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, -- order of publication; never used again
  event_id TEXT NOT NULL,                -- the envelope's id
  type TEXT NOT NULL,
  timestamp_ms INTEGER NOT NULL,         -- the envelope's timestamp
  body BLOB NOT NULL                     -- the envelope, byte for byte as signed and sent
) STRICT`,
    `CREATE TABLE audit_entry (
  id INTEGER PRIMARY KEY,
  timestamp_ms INTEGER NOT NULL,
  operator_commitment TEXT,              -- on whose behalf, when another than the actor
  actor_commitment TEXT,                 -- null: the gateway itself, or a stranger
  action TEXT NOT NULL,                  -- placement.recorded, slot.created, …
  entity TEXT NOT NULL,
  entity_id TEXT,
  changes TEXT,                          -- JSON, secrets redacted, no names
  request_id TEXT,
  address TEXT,                          -- of the peer
  auth_mode TEXT                         -- local, storage, offline-cache, …
) STRICT`,
    ...appendOnlyTriggers('audit_entry', 'id'),
    `CREATE INDEX audit_entry_time ON audit_entry (timestamp_ms, id)`,
    `CREATE INDEX audit_entry_entity ON audit_entry (entity, entity_id, timestamp_ms)`,
    `CREATE TABLE idempotency (
  caller TEXT NOT NULL,                  -- user name at its instance
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  key TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  status INTEGER NOT NULL,
  location TEXT,
  body TEXT NOT NULL,                    -- the reply as sent
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (caller, method, path, key)
) STRICT, WITHOUT ROWID`,
    `CREATE INDEX idempotency_age ON idempotency (created_at_ms)`,

    `CREATE TABLE local_account (
  username TEXT PRIMARY KEY,             -- the admin that a first start without a config makes
  role TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT`,

    `CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  events TEXT NOT NULL,                  -- JSON []
  secret BLOB NOT NULL,                  -- sealed with the box's key
  active INTEGER NOT NULL,               -- 0: switched off by a person
  status TEXT NOT NULL CHECK (status IN ('active', 'failing', 'disabled')),
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  fanned_out_seq INTEGER NOT NULL,       -- outbox rows up to here have their delivery, or needed none
  version INTEGER NOT NULL DEFAULT 1,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT`,
    `CREATE TABLE delivery (
  id TEXT PRIMARY KEY,                   -- X-Service-Delivery, stable over retries
  webhook_id TEXT NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  outbox_seq INTEGER NOT NULL REFERENCES outbox (seq),
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'exhausted')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at_ms INTEGER NOT NULL,
  lease_until_ms INTEGER NOT NULL DEFAULT 0, -- an attempt is under way until then
  last_status INTEGER,                   -- HTTP status of the last attempt
  last_error TEXT,
  created_at_ms INTEGER NOT NULL,
  delivered_at_ms INTEGER,
  UNIQUE (webhook_id, outbox_seq)
) STRICT`,
    `CREATE INDEX delivery_due ON delivery (webhook_id, next_attempt_at_ms, outbox_seq) WHERE state = 'pending'`,
    `CREATE INDEX delivery_outbox ON delivery (outbox_seq)`,
    `CREATE TABLE delivery_attempt (
  delivery_id TEXT NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,              -- 1, 2, …
  started_at_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER,                        -- HTTP status, null when there was none
  error TEXT,
  PRIMARY KEY (delivery_id, attempt)
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE alert (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                    -- webhook.failing, webhook.disabled
  subject TEXT NOT NULL,                 -- id of what it is about
  message TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  acknowledged_at_ms INTEGER
) STRICT`,
  ],
}
