import { builderOver, defaulted, integer, maybe, type RowOf, text, word } from '../database/index.ts'

export const tables = {
  count_session: {
    id: defaulted(integer),
    warehouse_id: integer,
    reference: maybe(text),
    selection: text,
    state: word<'open' | 'counting' | 'review' | 'approved' | 'cancelled'>(),
    created_by: text,
    closed_by: maybe(text),
    closed_at_ms: maybe(integer),
    reason_commitment: maybe(text),
    version: defaulted(integer),
    created_at_ms: integer,
    updated_at_ms: integer,
  },
  count_slot: {
    count_id: integer,
    slot_id: integer,
  },
  count_scan: {
    id: integer,
    count_id: integer,
    slot_id: integer,
    found: text,
    counter_commitment: text,
    timestamp_ms: integer,
    device_timestamp_ms: maybe(integer),
    received_at_ms: integer,
    clock_offset_ms: maybe(integer),
    time_quality: word<'synced' | 'corrected' | 'unsynced'>(),
    known_event_id: integer,
    caller: text,
    client_scan_id: maybe(text),
    request_sha256: text,
    sha256: text,
  },
  count_recount: {
    id: integer,
    count_id: integer,
    slot_id: integer,
    after_scan_id: integer,
    requested_at_ms: integer,
    actor_commitment: text,
    reason_commitment: maybe(text),
  },
  count_outcome: {
    id: integer,
    count_id: integer,
    slot_id: integer,
    scan_id: maybe(integer),
    outcome: word<'matched' | 'corrected' | 'moved' | 'conflict' | 'not_counted'>(),
    scanned_at_ms: maybe(integer),
    decided_at_ms: integer,
  },
} as const

export const sql = builderOver(tables)

export type CountSessionRow = RowOf<typeof tables.count_session>
export type CountScanRow = RowOf<typeof tables.count_scan>
