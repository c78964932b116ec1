import { blob, builderOver, integer, maybe, type RowOf, real, text, word } from '../database/index.ts'
import { stated } from '../log/index.ts'

export const tables = {
  placement_event: {
    ...stated,
    id: integer,
    event_id: text,
    event_type: word<'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'>(),
    slot_id: integer,
    slot_code: text,
    asset_barcode: text,
    asset_key: text,
    operator_commitment: text,
    actor_commitment: text,
    timestamp_ms: integer,
    device_timestamp_ms: maybe(integer),
    received_at_ms: integer,
    clock_offset_ms: maybe(integer),
    time_quality: word<'synced' | 'corrected' | 'unsynced'>(),
    photo_url: maybe(text),
    photo_sha256: maybe(text),
    photo_evidence: maybe(word<'held' | 'claimed'>()),
    photo_taken_at_ms: maybe(integer),
    scale_weight_kg: maybe(real),
    cctv_clip_url: maybe(text),
    work_order_ref: maybe(text),
    notes_commitment: maybe(text),
    scan: maybe(text),
    client_event_id: maybe(text),
    client_evidence_hash: maybe(text),
    corrects_event_id: maybe(integer),
    warnings: text,
    opening_list: maybe(text),
    opening_line: maybe(integer),
    count_id: maybe(integer),
    count_scan_id: maybe(integer),
    count_scan_sha256: maybe(text),
    scan_evidence: maybe(word<'matched' | 'mismatched'>()),
  },
  dispute_resolution: {
    ...stated,
    id: integer,
    event_id: text,
    dispute_event_id: integer,
    placement_event_id: integer,
    note_commitment: text,
    actor_commitment: text,
    timestamp_ms: integer,
  },
  placement_person: {
    event_id: integer,
    timestamp_ms: integer,
    operator_id: maybe(integer),
    actor_id: maybe(integer),
  },
  client_event: {
    caller: text,
    client_event_id: text,
    event_id: integer,
    request_sha256: text,
  },
  caller_key: {
    one: integer,
    key: blob,
  },
} as const

export const sql = builderOver(tables)

export type PlacementEventRow = RowOf<typeof tables.placement_event>
export type ResolutionRow = RowOf<typeof tables.dispute_resolution>
