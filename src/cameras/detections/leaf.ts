import { type Json, type LeafFacts, parsedJson, type Stated } from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import type { DetectionEventRow } from '../tables.ts'

/** A row before its leaf is appended. */
export type UnsealedDetection = Omit<DetectionEventRow, keyof Stated>

/** Returns the facts of a detection leaf, made from the row alone. Empty columns are left out. */
export function detectionFacts(row: UnsealedDetection): LeafFacts {
  const facts: Record<string, Json | null> = {
    eventId: row.event_id,
    row: row.row,
    id: row.id,
    cctvId: row.cctv_id,
    timestamp: isoTime(row.timestamp_ms),
    score: row.score,
    sceneChange: row.scene_change === 1 ? true : null,
    clipStatus: row.clip_status,
    reason: row.reason,
    clipSha256: row.clip_sha256,
    snapshotSha256: row.snapshot_sha256,
    clipStart: timeOf(row.clip_start_ms),
    clipEnd: timeOf(row.clip_end_ms),
    preRollSeconds: row.pre_roll_seconds,
    durationSeconds: row.duration_seconds,
    askedPreRollSeconds: row.asked_pre_roll_seconds,
    pictures: row.clip_pictures,
    longestGapSeconds: row.longest_gap_seconds,
    original: row.clip_original === null ? null : row.clip_original === 1,
    closedBy: row.closed_by,
    trigger: row.event_ids === null ? row.triggered_by : 'event',
    kinds: row.kinds === null ? null : parsedJson(row.kinds),
    eventIds: row.event_ids === null ? null : parsedJson(row.event_ids),
    recordedAt: isoTime(row.recorded_at_ms),
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null)) as LeafFacts
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}
