import type { Migration } from '../migrate.ts'

const labelStays = `SELECT RAISE(ABORT, 'a slot keeps its id and its label, and is never deleted')`

/**
 * The ledger refers to slots by id and shows their labels, so neither may change under it. INSERT OR REPLACE deletes
 * without firing a DELETE trigger on a plain connection, so inserting what is there is refused too.
 */
export const ledgerGuards: Migration = {
  version: 4,
  name: 'ledger-guards',
  oldestReader: 1,
  statements: [
    `CREATE TRIGGER slot_no_rename BEFORE UPDATE ON slot
WHEN NEW.id IS NOT OLD.id OR NEW.slot_id IS NOT OLD.slot_id
BEGIN ${labelStays}; END`,
    `CREATE TRIGGER slot_no_delete BEFORE DELETE ON slot BEGIN ${labelStays}; END`,
    `CREATE TRIGGER slot_no_replace BEFORE INSERT ON slot
WHEN EXISTS (SELECT 1 FROM slot WHERE id = NEW.id OR slot_id = NEW.slot_id)
BEGIN ${labelStays}; END`,
    `CREATE TABLE caller_key (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  key BLOB NOT NULL CHECK (length(key) = 32) -- client_event.caller is HMAC-SHA256 of name@instance under it, hex;
                                         -- in rows of schema 1 to 3 it is the caller's commitment
) STRICT`,
    'INSERT INTO caller_key VALUES (1, randomblob(32))',
    `CREATE INDEX placement_event_slot ON placement_event (slot_id, timestamp_ms, id)`,
    `CREATE INDEX placement_event_asset ON placement_event (asset_key, timestamp_ms, id)`,
    `CREATE INDEX placement_event_type ON placement_event (event_type, timestamp_ms, id)`,
  ],
}
