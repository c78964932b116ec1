import type { Migration } from '../migrate.ts'

/** Goods as labels name them, print jobs, and facts inside a photo. */
export const goods: Migration = {
  version: 6,
  name: 'goods',
  oldestReader: 1,
  statements: [
    // Null where neither the label nor a person has named it.
    'ALTER TABLE asset ADD COLUMN sscc TEXT', // 18 digits
    'ALTER TABLE asset ADD COLUMN gtin TEXT', // 14 digits, shorter ones with zeros in front
    'ALTER TABLE asset ADD COLUMN lot TEXT',
    'ALTER TABLE asset ADD COLUMN best_before TEXT', // YYYY-MM-DD
    'ALTER TABLE asset ADD COLUMN serial TEXT',
    // 0: written by a program that could not read labels; the next start reads it.
    'ALTER TABLE asset ADD COLUMN label_read INTEGER NOT NULL DEFAULT 0',
    'CREATE INDEX asset_sscc ON asset (sscc) WHERE sscc IS NOT NULL',
    'CREATE INDEX asset_gtin ON asset (gtin) WHERE gtin IS NOT NULL',
    'CREATE INDEX asset_lot ON asset (lot) WHERE lot IS NOT NULL',
    'CREATE INDEX asset_best_before ON asset (best_before) WHERE best_before IS NOT NULL',
    'CREATE INDEX asset_serial ON asset (serial) WHERE serial IS NOT NULL',
    'CREATE INDEX asset_type ON asset (type)',
    'CREATE INDEX asset_provisional ON asset (provisional)',
    'CREATE INDEX asset_barcode ON asset (asset_id)',
    'CREATE INDEX asset_unread ON asset (id) WHERE label_read = 0',

    `CREATE TABLE print_job (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  printer TEXT NOT NULL,                 -- name in the config
  entity TEXT NOT NULL CHECK (entity IN ('slot', 'asset')),
  entity_id INTEGER NOT NULL,            -- row of the slot or the asset
  label TEXT NOT NULL,                   -- slot_id or asset_id, as printed
  warehouse_id INTEGER,                  -- of the slot; null for an asset, which belongs to none
  copies INTEGER NOT NULL,
  zpl BLOB NOT NULL,                     -- exactly what is sent
  -- printing: an attempt is under way. unconfirmed: all was sent, and the printer never ended the connection.
  state TEXT NOT NULL CHECK (state IN ('queued', 'printing', 'printed', 'unconfirmed', 'failed', 'cancelled')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at_ms INTEGER NOT NULL,   -- while queued
  last_error TEXT,                       -- of the last attempt that failed
  actor_commitment TEXT NOT NULL,        -- who asked for it
  reprint_of INTEGER,                    -- the job that this one repeats
  created_at_ms INTEGER NOT NULL,
  finished_at_ms INTEGER                 -- when it left the queue; some days later the row goes
) STRICT`,
    `CREATE INDEX print_job_waiting ON print_job (printer, id) WHERE state IN ('queued', 'printing')`,
    'CREATE INDEX print_job_finished ON print_job (finished_at_ms) WHERE finished_at_ms IS NOT NULL',
    'CREATE INDEX print_job_entity ON print_job (entity, entity_id, id)',

    `CREATE TABLE sscc_series (
  series TEXT PRIMARY KEY,               -- extension digit and company prefix
  next INTEGER NOT NULL                  -- serial of the next number; never goes back
) STRICT, WITHOUT ROWID`,

    `CREATE TABLE photo_facts (
  sha256 TEXT PRIMARY KEY,               -- of the photo in media
  width_px INTEGER,                      -- as its header says, before any turning; null: it does not say
  height_px INTEGER,
  taken_local TEXT,                      -- EXIF DateTimeOriginal as YYYY-MM-DDTHH:MM:SS, on the camera's clock; null without
  taken_offset_minutes INTEGER           -- EXIF OffsetTimeOriginal, minutes east of UTC; null: the camera does not say
) STRICT, WITHOUT ROWID`,
    `CREATE TABLE photo_bringer (
  sha256 TEXT NOT NULL,
  actor_commitment TEXT NOT NULL,        -- who else brought the same bytes; the first stands in media
  PRIMARY KEY (sha256, actor_commitment)
) STRICT, WITHOUT ROWID`,
    'CREATE INDEX placement_event_photo ON placement_event (photo_sha256) WHERE photo_sha256 IS NOT NULL',
  ],
}
