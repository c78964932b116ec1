import { integer, text } from './columns.ts'

/** Tables of this room; the other tables are declared by the rooms that own them. */
export const tables = {
  schema_migration: { version: integer, name: text, oldest_reader: integer, applied_at_ms: integer },
} as const
