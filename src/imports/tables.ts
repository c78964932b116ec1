import { builderOver, integer, text } from '../database/index.ts'

export const tables = {
  opening_list: {
    id: integer,
    sha256: text,
    size_bytes: integer,
    rows: integer,
    received_at_ms: integer,
    actor_commitment: text,
  },
} as const

export const sql = builderOver(tables)
