import type { PublishedEvent } from '../journal/index.ts'
import { isoTime } from '../world/index.ts'
import type { DetectionEvent } from './schema.ts'
import type { Reservation } from './store.ts'

/** The detector has fired. The clip's address is known before the clip is there; without one: why not. */
export function motionDetected(
  fired: Reservation,
  clip: string | null,
  nowMs: number,
  warehouseId: number,
): PublishedEvent {
  return {
    type: 'motion.detected',
    eventId: fired.event_id,
    timestampMs: nowMs,
    warehouseId,
    data: {
      id: fired.id,
      cctvId: fired.cctv_id,
      timestamp: isoTime(fired.fired_at_ms),
      score: fired.score,
      sceneChange: fired.scene_change === 1,
      clip,
      ...(clip === null && { reason: 'cooldown' }),
    },
  }
}

/** The detection stands in the ledger: what `event.created` tells of it. */
export function detectionRecorded(detection: DetectionEvent, nowMs: number, warehouseId: number): PublishedEvent {
  return {
    type: 'motion.detected',
    eventId: detection.eventId,
    timestampMs: nowMs,
    warehouseId,
    data: { ...detection },
  }
}
