import { builderOver, integer, maybe, type RowOf, real, text, word } from '../database/index.ts'

export const tables = {
  scale_reading: {
    id: integer,
    event_id: text,
    scale_id: text,
    weight_kg: real,
    stable: maybe(integer),
    timestamp_ms: integer,
    device_timestamp_ms: maybe(integer),
    received_at_ms: integer,
    clock_offset_ms: maybe(integer),
    time_quality: word<'synced' | 'corrected' | 'unsynced'>(),
    slot_id: maybe(integer),
    asset_barcode: maybe(text),
    asset_key: maybe(text),
    transport_unit_id: maybe(text),
    warehouse_id: maybe(integer),
    actor_commitment: text,
  },
} as const

export const sql = builderOver(tables)

export type ScaleReadingRow = RowOf<typeof tables.scale_reading>
