import type { Migration } from '../migrate.ts'

/**
 * Every index of the ledger is a page more in every commit. Those that others can stand in for go: the histories of a
 * slot and of an asset are read off the partial indexes, the receipt time by halving the ids, and placements and
 * removals, of which no ledger is short, off the history. An older program would miss them, so it may not work with
 * the file any more.
 *
 * An outbox row with an empty body is `event.created` about the row in front of it, and its body is made from that one
 * (`journal/outbox.ts`). So the one in front stays as long as anything is to be delivered of the other, and takes it
 * along when it goes.
 */
export const leanIndexes: Migration = {
  version: 14,
  name: 'lean-indexes',
  oldestReader: 5,
  statements: [
    'DROP INDEX placement_event_received',
    'DROP INDEX placement_event_slot',
    'DROP INDEX placement_event_asset',
    'DROP INDEX placement_event_type',
    'DROP INDEX placement_event_history',
    'CREATE INDEX placement_event_history ON placement_event (timestamp_ms, id, event_type)',
    `CREATE INDEX placement_event_judgements ON placement_event (event_type, timestamp_ms, id)
  WHERE event_type IN ('VERIFIED', 'DISPUTED')`,
    `CREATE TRIGGER outbox_source_stays BEFORE DELETE ON outbox
WHEN EXISTS (SELECT 1 FROM outbox n JOIN delivery d ON d.outbox_seq = n.seq WHERE n.seq = OLD.seq + 1 AND length(n.body) = 0)
BEGIN SELECT RAISE(IGNORE); END`,
    `CREATE TRIGGER outbox_goes_with_its_source AFTER DELETE ON outbox
BEGIN DELETE FROM outbox WHERE seq = OLD.seq + 1 AND length(body) = 0; END`,
  ],
}
