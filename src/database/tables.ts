import { integer, text } from './columns.ts'

/** What this room itself keeps; the other tables are declared by the rooms that own them. */
export const tables = {
  schema_migration: { version: integer, name: text, oldest_reader: integer, applied_at_ms: integer },
} as const
