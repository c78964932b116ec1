export const repliesStatements: readonly string[] = [
  // Ids of the warehouses that the caller could see then, as JSON; null in older rows.
  'ALTER TABLE idempotency ADD COLUMN visible_warehouses TEXT',
]
