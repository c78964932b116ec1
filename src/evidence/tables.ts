import { blob, builderOver, integer, text } from '../database/index.ts'
import { stated } from '../log/index.ts'

/** Changes of the keys of a log, and the state of this box as a witness of other logs. */
export const tables = {
  log_key: {
    id: integer,
    event_id: text,
    previous_ed25519: text,
    previous_ml_dsa_44: text,
    ed25519: text,
    ml_dsa_44: text,
    handed_over_at_ms: integer,
    ...stated,
  },
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
