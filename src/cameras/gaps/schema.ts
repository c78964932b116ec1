import { z } from '@hono/zod-openapi'
import { rowId, timeOut } from '../../http/index.ts'
import type { CreatedEvent, CreatedSchemas } from '../../journal/index.ts'
import { isoTime } from '../../platform/index.ts'
import type { CameraGapRow, CameraWatchRow } from '../tables.ts'
import { gapCauses } from '../watch.ts'

export const CameraGap = z
  .object({
    id: rowId().nullable().openapi({ description: 'null while it lasts' }),
    cctvId: rowId(),
    from: timeOut().openapi({
      description: 'until then the camera watched: the time of its last picture before the gap',
    }),
    to: timeOut().nullable().openapi({ description: 'from then on it watched again; null while it lasts' }),
    cause: z.enum(gapCauses).openapi({
      description:
        'why. With still, covered, turned, few_pictures, too_busy and no_events, pictures came all the time, but motion in them could not be found',
    }),
    detail: z.string().nullable().openapi({ description: 'the fault, in words for people' }),
    seq: z.int().nullable().openapi({ description: 'index of its leaf in the log; null while it lasts' }),
    evidenceHash: z.string().nullable().openapi({ description: 'SHA-256 of the bytes of the leaf' }),
  })
  .openapi('CameraGap')
export type CameraGap = z.infer<typeof CameraGap>

/** Shape of the answer of GET …/watched. */
export const watchedShape = {
  cctvId: rowId(),
  from: timeOut(),
  to: timeOut().openapi({ description: 'as asked for, but not later than now' }),
  watchedShare: z.number().openapi({
    description: 'share of the time in which the camera watched, so that motion would have been found; 0 to 1',
  }),
  knownSince: timeOut().nullable().openapi({
    description:
      'when the gateway first had this camera in its config; before that nothing was watched. null: never yet',
  }),
  gaps: z.array(CameraGap).openapi({ description: 'the gaps that overlap this time, newest first' }),
  detections: z.array(rowId()).openapi({ description: 'ids of the detections of this time, newest first' }),
  complete: z.boolean().openapi({
    description:
      'false: only the newest are listed, because there are more than 1,000 gaps or 10,000 detections; the share counts all',
  }),
}

export const presentGap = (row: CameraGapRow): CameraGap => ({
  id: row.id,
  cctvId: row.cctv_id,
  from: isoTime(row.from_ms),
  to: isoTime(row.to_ms),
  cause: row.cause,
  detail: row.detail,
  seq: row.leaf_seq,
  evidenceHash: row.evidence_hash,
})

/** Returns the gap that lasts; undefined while the camera watches. */
export function presentOpen(row: CameraWatchRow): CameraGap | undefined {
  if (row.open_from_ms === null || row.open_cause === null) return undefined
  return {
    id: null,
    cctvId: row.cctv_id,
    from: isoTime(row.open_from_ms),
    to: null,
    cause: row.open_cause,
    detail: row.open_detail,
    seq: null,
    evidenceHash: null,
  }
}

/** Schema of the content of `event.created` about a gap that has ended. */
export const cameraCreated = { 'camera.gap': CameraGap } satisfies CreatedSchemas

export function gapRecorded(row: CameraGapRow, warehouseId: number): CreatedEvent {
  return { type: 'camera.gap', timestampMs: row.recorded_at_ms, warehouseId, data: presentGap(row) }
}
