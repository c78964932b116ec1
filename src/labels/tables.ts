import { blob, builderOver, defaulted, integer, maybe, type RowOf, text, word } from '../database/index.ts'

export const tables = {
  print_job: {
    id: integer,
    printer: text,
    entity: word<'slot' | 'asset'>(),
    entity_id: integer,
    label: text,
    warehouse_id: maybe(integer),
    copies: integer,
    zpl: blob,
    state: word<'queued' | 'printing' | 'printed' | 'unconfirmed' | 'failed' | 'cancelled'>(),
    attempts: defaulted(integer),
    next_attempt_at_ms: integer,
    last_error: maybe(text),
    actor_commitment: text,
    reprint_of: maybe(integer),
    created_at_ms: integer,
    finished_at_ms: maybe(integer),
  },
  sscc_series: {
    series: text,
    next: integer,
  },
} as const

export const sql = builderOver(tables)

export type PrintJobRow = RowOf<typeof tables.print_job>
