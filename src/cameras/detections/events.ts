import { z } from '@hono/zod-openapi'
import { eventKinds } from '../../config/index.ts'
import { rowId, timeOut } from '../../http/index.ts'
import type { AnnouncedEvent, NotificationSchemas } from '../../journal/index.ts'
import { isoTime } from '../../platform/index.ts'
import { DetectionEvent, kindWords, triggerWords } from '../schema.ts'
import type { Reservation } from '../store.ts'
import { readKinds } from './kinds.ts'

const MotionDetected = z
  .object({
    id: rowId().openapi({ description: 'id of the detection event, which follows when the clip is complete' }),
    cctvId: rowId(),
    timestamp: timeOut().openapi({ description: 'time of the trigger' }),
    score: z
      .number()
      .openapi({ description: "0 to 1, of the picture that triggered the detector; 0 for the camera's analytics" }),
    sceneChange: z.boolean().openapi({
      description:
        'true: the lens was covered, turned or blinded, or the whole picture goes on changing. When that happens while a clip is open, `clip` is the address of that clip',
    }),
    trigger: z.enum(['motion', 'camera']).openapi({ description: triggerWords }),
    kind: z.enum(eventKinds).nullable().openapi({ description: kindWords }),
    clip: z.string().nullable().openapi({
      format: 'uri',
      description: 'where the clip will be; 503 CLIP_PENDING until it is there. null: there will be none',
    }),
    reason: z.literal('cooldown').optional().openapi({ description: 'why there will be no clip; absent otherwise' }),
  })
  .openapi('MotionNotification')

/** Content of `motion.detected`. */
export const cameraNotifications = { 'motion.detected': MotionDetected } satisfies NotificationSchemas

/** Content of `event.created` for a type, where it differs from the notification itself. */
export const motionRecorded = { 'motion.detected': DetectionEvent } satisfies NotificationSchemas

/** Makes `motion.detected`. The clip's address is known before the clip exists; without a clip it has the reason. */
export function motionDetected(
  fired: Reservation,
  clip: string | null,
  nowMs: number,
  warehouseId: number,
): AnnouncedEvent {
  const data: z.infer<typeof MotionDetected> = {
    id: fired.id,
    cctvId: fired.cctv_id,
    timestamp: isoTime(fired.fired_at_ms),
    score: fired.score,
    sceneChange: fired.scene_change === 1,
    trigger: fired.triggered_by ?? 'motion',
    kind: readKinds(fired.kinds)[0] ?? null,
    clip,
    ...(clip === null && { reason: 'cooldown' }),
  }
  return { type: 'motion.detected', eventId: fired.event_id, timestampMs: nowMs, warehouseId, data }
}

/** Makes `event.created` of a detection that is in the ledger. */
export function detectionRecorded(detection: DetectionEvent, nowMs: number, warehouseId: number): AnnouncedEvent {
  return {
    type: 'motion.detected',
    eventId: detection.eventId,
    timestampMs: nowMs,
    warehouseId,
    data: { ...detection },
  }
}
