import type { Migration } from '../migrate.ts'

/** Finds what corrects an event: an export declares the corrected one erroneous. */
export const corrections: Migration = {
  version: 5,
  name: 'corrections',
  oldestReader: 1,
  statements: [
    `CREATE INDEX placement_event_corrects ON placement_event (corrects_event_id, id)
  WHERE corrects_event_id IS NOT NULL`,
  ],
}
