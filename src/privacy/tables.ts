import { builderOver, integer, maybe, type RowOf, text, word } from '../database/index.ts'

export const tables = {
  clip_redaction: {
    id: integer,
    detection_id: integer,
    original_sha256: text,
    regions: text,
    actor_commitment: text,
    requested_at_ms: integer,
  },
  clip_redaction_end: {
    id: integer,
    redaction_id: integer,
    sha256: maybe(text),
    size_bytes: maybe(integer),
    snapshot_sha256: maybe(text),
    problem: maybe(text),
    ended_at_ms: integer,
  },
  clip_export: {
    id: integer,
    detection_id: integer,
    cctv_id: integer,
    redaction_id: maybe(integer),
    sha256: text,
    reason_commitment: text,
    recipient_commitment: maybe(text),
    needs_approval: integer,
    clock_trusted: integer,
    camera_offset_ms: maybe(integer),
    camera_offset_by: maybe(word<'stated' | 'rtsp' | 'onvif'>()),
    camera_offset_measured_at_ms: maybe(integer),
    actor_commitment: text,
    requested_at_ms: integer,
  },
  clip_export_decision: {
    id: integer,
    export_id: integer,
    decision: word<'approved' | 'refused'>(),
    note_commitment: maybe(text),
    actor_commitment: text,
    decided_at_ms: integer,
  },
} as const

export const sql = builderOver(tables)

export type RedactionRow = RowOf<typeof tables.clip_redaction>
export type RedactionEndRow = RowOf<typeof tables.clip_redaction_end>
export type ExportRow = RowOf<typeof tables.clip_export>
export type DecisionRow = RowOf<typeof tables.clip_export_decision>
