import { builderOver, integer, maybe, type RowOf, real, text, word } from '../database/index.ts'
import { stated } from '../log/index.ts'

export const tables = {
  unit_history: {
    ...stated,
    row: integer,
    event_id: text,
    unit_id: text,
    action: word<
      'created' | 'advanced' | 'skipped' | 'completed' | 'held' | 'resumed' | 'cancelled' | 'evidence' | 'weighed'
    >(),
    from_stage: maybe(text),
    stage: text,
    status: word<'active' | 'on_hold' | 'completed' | 'cancelled'>(),
    operator_commitment: text,
    actor_commitment: text,
    note_commitment: maybe(text),
    reason_commitment: maybe(text),
    timestamp_ms: integer,
    device_timestamp_ms: maybe(integer),
    received_at_ms: integer,
    clock_offset_ms: maybe(integer),
    time_quality: word<'synced' | 'corrected' | 'unsynced'>(),
    photos: maybe(text),
    scale_weight_kg: maybe(real),
    scale_reading_id: maybe(integer),
    scale_id: maybe(text),
    scale_stable: maybe(integer),
    reference: maybe(text),
    sscc: maybe(text),
    direction: maybe(word<'inbound' | 'outbound'>()),
    warehouse_id: maybe(integer),
    carrier: maybe(text),
    vehicle_commitment: maybe(text),
    client_event_id: maybe(text),
  },
  unit_client_event: {
    caller: text,
    client_event_id: text,
    row: integer,
    request_sha256: text,
  },
  unit_photo: {
    sha256: text,
    warehouse_id: integer,
  },
} as const

export const sql = builderOver(tables)

export type UnitHistoryRow = RowOf<typeof tables.unit_history>
