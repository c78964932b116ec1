import type { Migration } from '../migrate.ts'

/** Lists of slots are filtered by the zone that they show, and by their warehouse. */
export const slotFilters: Migration = {
  version: 18,
  name: 'slot filters',
  oldestReader: 16,
  statements: ['CREATE INDEX slot_shown_zone ON slot (zone)', 'CREATE INDEX slot_warehouse ON slot (warehouse_id)'],
}
