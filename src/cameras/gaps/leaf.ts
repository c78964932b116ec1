import type { Json, LeafFacts, Stated } from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import type { CameraGapRow } from '../tables.ts'

/** A row before its leaf is appended. */
export type UnsealedGap = Omit<CameraGapRow, keyof Stated>

/** Returns the facts of a camera-gap leaf, made from the row alone. */
export function gapFacts(row: UnsealedGap): LeafFacts {
  const facts: LeafFacts & Record<string, Json> = {
    eventId: row.event_id,
    id: row.id,
    cctvId: row.cctv_id,
    from: isoTime(row.from_ms),
    to: isoTime(row.to_ms),
    cause: row.cause,
    recordedAt: isoTime(row.recorded_at_ms),
  }
  return row.detail === null ? facts : { ...facts, detail: row.detail }
}
