import type { Migration } from '../migrate.ts'

/**
 * Every index of the ledger is a page more in every commit. Indexes that others can replace go. The histories of a slot and of an
 * asset are merged from the partial indexes, one for moves and one for judgements. Receipt time and leaf number never decrease with
 * the id, so a binary search of the ids finds them. So the guard demands a higher leaf number than that of the event before,
 * instead of searching for another event with it.
 *
 * A program that does not know this step would report that the file has lost its guards.
 */
export const leanIndexes: Migration = {
  version: 14,
  name: 'lean-indexes',
  oldestReader: 14,
  statements: [
    'DROP INDEX placement_event_received',
    'DROP INDEX placement_event_slot',
    'DROP INDEX placement_event_asset',
    // With the type, so that it covers the query: every append reads an asset's newest event.
    'DROP INDEX placement_event_asset_judgement',
    `CREATE INDEX placement_event_asset_judgement ON placement_event (asset_key, timestamp_ms, id, event_type)
  WHERE event_type IN ('VERIFIED', 'DISPUTED')`,
    `CREATE TRIGGER placement_event_leaf_order BEFORE INSERT ON placement_event
WHEN NEW.leaf_seq <= (SELECT leaf_seq FROM placement_event ORDER BY id DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'placement_event is append-only: leaf_seq must be higher than the one before'); END`,
    'DROP TRIGGER placement_event_unique_leaf_seq',
    'DROP INDEX placement_event_leaf_seq',
  ],
}
