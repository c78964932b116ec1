/** Lists of slots are filtered by the zone that they show, and by their warehouse. */
export const slotFiltersStatements = [
  'CREATE INDEX slot_shown_zone ON slot (zone)',
  'CREATE INDEX slot_warehouse ON slot (warehouse_id)',
]
