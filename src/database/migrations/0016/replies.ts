export const repliesStatements: readonly string[] = [
  // Ids of the warehouses that the caller could see then, as JSON; null in rows of before.
  'ALTER TABLE idempotency ADD COLUMN visible_warehouses TEXT',
]
