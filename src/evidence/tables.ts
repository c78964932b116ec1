import { blob, builderOver, integer, text } from '../database/index.ts'

/** What this box keeps as a witness of other logs. */
export const tables = {
  witness_log: {
    origin: text,
    size: integer,
    root: blob,
    note: text,
    cosigned_at_ms: integer,
  },
  witness_conflict: {
    row: integer,
    origin: text,
    size: integer,
    note: text,
    cosigned_note: text,
    received_at_ms: integer,
  },
} as const

export const sql = builderOver(tables)
