/** One reader of barcodes for every door, and its aliases for things that the ledger knows by another key. */
export const barcodesStatements: readonly string[] = [
  `CREATE TABLE asset_key_alias (
  alias_key TEXT PRIMARY KEY,            -- what a barcode reads as today
  asset_key TEXT NOT NULL                -- the key that the ledger has for the thing since before
) STRICT, WITHOUT ROWID`,

  // Another asset: both are one thing, which the ledger knows by that one's key now. Null for all others.
  'ALTER TABLE asset ADD COLUMN same_as INTEGER REFERENCES asset (id)',
  'CREATE INDEX asset_same_as ON asset (same_as) WHERE same_as IS NOT NULL',

  // Barcodes that earlier gateways have read. The next start reads them again and empties the table.
  `CREATE TABLE barcode_to_read (
  asset_key TEXT NOT NULL,               -- what it read as then
  barcode TEXT NOT NULL,                 -- as scanned
  moved_at_ms INTEGER,                   -- of the newest placement or removal; null without one
  PRIMARY KEY (asset_key, barcode)
) STRICT, WITHOUT ROWID`,
  `INSERT INTO barcode_to_read
SELECT asset_key, asset_barcode, max(CASE WHEN event_type IN ('PLACED', 'REMOVED') THEN timestamp_ms END)
FROM placement_event GROUP BY asset_key, asset_barcode`,
  'INSERT INTO barcode_to_read SELECT asset_key, asset_id, NULL FROM asset WHERE true ON CONFLICT DO NOTHING',
  `INSERT INTO barcode_to_read SELECT DISTINCT asset_key, asset_barcode, NULL FROM scale_reading
WHERE asset_key IS NOT NULL ON CONFLICT DO NOTHING`,
  // Labels that could not be read before may name goods now.
  'UPDATE asset SET label_read = 0',

  // slot_id after NFC and trimming, in lower case; null: written by an earlier gateway, the next start fills it.
  'ALTER TABLE slot ADD COLUMN label_key TEXT',
  'CREATE INDEX slot_label_key ON slot (label_key)',
]
