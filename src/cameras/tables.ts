import { builderOver, defaulted, integer, maybe, type RowOf, real, text, word } from '../database/index.ts'
import { stated } from '../log/index.ts'
import type { ClosedBy } from '../video/index.ts'
import type { GapCause } from './watch.ts'

export const tables = {
  detection_id: {
    one: defaulted(integer),
    next: integer,
  },
  detection_reservation: {
    id: defaulted(integer),
    event_id: text,
    cctv_id: integer,
    fired_at_ms: integer,
    score: real,
    scene_change: integer,
    triggered_by: maybe(word<'camera'>()),
    kinds: maybe(text),
  },
  detection_event: {
    ...stated,
    row: integer,
    id: integer,
    event_id: text,
    cctv_id: integer,
    timestamp_ms: integer,
    score: real,
    scene_change: integer,
    clip_status: word<'recorded' | 'cooldown' | 'lost'>(),
    reason: maybe(text),
    clip_sha256: maybe(text),
    snapshot_sha256: maybe(text),
    clip_start_ms: maybe(integer),
    clip_end_ms: maybe(integer),
    pre_roll_seconds: maybe(real),
    duration_seconds: maybe(real),
    recorded_at_ms: integer,
    asked_pre_roll_seconds: maybe(real),
    clip_pictures: maybe(integer),
    longest_gap_seconds: maybe(real),
    clip_original: maybe(integer),
    event_ids: maybe(text),
    closed_by: maybe(word<ClosedBy>()),
    triggered_by: maybe(word<'camera'>()),
    kinds: maybe(text),
  },
  clip_file: {
    detection_id: integer,
    cctv_id: integer,
    timestamp_ms: integer,
    size_bytes: integer,
  },
  event_film: {
    id: integer,
    cctv_id: integer,
    moment_ms: integer,
    from_ms: integer,
    to_ms: integer,
    events: integer,
    state: word<'wanted' | 'made' | 'covered'>(),
    covered_by: maybe(integer),
  },
  event_film_event: {
    event_id: integer,
    film_id: integer,
  },
  motion_control: {
    cctv_id: defaulted(integer),
    action: word<'start' | 'stop'>(),
    settings: text,
    config_sha256: text,
    at_ms: integer,
  },
  camera_gap: {
    ...stated,
    id: integer,
    event_id: text,
    cctv_id: integer,
    from_ms: integer,
    to_ms: integer,
    cause: word<GapCause>(),
    detail: maybe(text),
    recorded_at_ms: integer,
  },
  camera_watch: {
    cctv_id: defaulted(integer),
    known_since_ms: integer,
    open_from_ms: maybe(integer),
    open_cause: maybe(word<GapCause>()),
    open_detail: maybe(text),
  },
  camera_clock: {
    id: integer,
    cctv_id: integer,
    measured_at_ms: integer,
    offset_ms: integer,
    uncertainty_ms: integer,
    by: word<'rtsp' | 'onvif'>(),
  },
  camera_heartbeat: {
    one: defaulted(integer),
    at_ms: integer,
  },
} as const

export const sql = builderOver(tables)

export type DetectionEventRow = RowOf<typeof tables.detection_event>
export type CameraClockRow = RowOf<typeof tables.camera_clock>
export type CameraGapRow = RowOf<typeof tables.camera_gap>
export type CameraWatchRow = RowOf<typeof tables.camera_watch>
