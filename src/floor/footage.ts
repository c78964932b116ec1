import type { ConfiguredCameras, DetectionEvent, Detections } from '../cameras/index.ts'
import type { Caller } from '../http/index.ts'
import type { Footage, FootageReason } from './trace-schema.ts'

export const footageWindowSeconds = 60
/** A clip that began this long ago can still be running: longest pre-roll, motion and post-roll. */
const longestClipMs = 10 * 60 * 1000
const clipsTold = 20

type Moment = { readonly timestampMs: number; readonly slotCode: string; readonly clipUrl: string | null }
/** Which cameras look at a slot, and what they recorded. */
export type Watching = {
  readonly cameras: Pick<ConfiguredCameras, 'watching'>
  readonly detections: Pick<Detections, 'during' | 'isRecording'>
}

/** Returns the clips of a slot's cameras around a time that the caller may see, or the reason why there are none. */
export function footageOf(watching: Watching, moment: Moment, windowSeconds: number, caller: Caller): Footage {
  const { visible, hidden } = watching.cameras.watching(moment.slotCode, caller)
  const cameras = visible.map(({ id, name }) => ({
    cctvId: id,
    name,
    ...ofCamera(watching.detections, id, moment.timestampMs, windowSeconds, caller),
  }))
  const none: FootageReason = hidden > 0 ? 'camera_not_visible' : 'no_camera'
  return {
    cctv_clip_url: moment.clipUrl,
    windowSeconds,
    cameras,
    reason: cameras.length === 0 ? none : strongest(cameras.map((camera) => camera.reason)),
  }
}

function ofCamera(
  detections: Watching['detections'],
  cctvId: number,
  atMs: number,
  windowSeconds: number,
  caller: Caller,
) {
  const windowMs = windowSeconds * 1000
  const span = { fromMs: atMs - windowMs - longestClipMs, toMs: atMs + windowMs + 1 }
  const near = detections
    .during(cctvId, span, caller)
    .filter((detection) => overlaps(detection, atMs - windowMs, atMs + windowMs))
  const clips = near
    .map((detection) => ({ detection, offsetSeconds: offsetIn(detection, atMs) }))
    .toSorted((a, b) => distance(a.detection, atMs) - distance(b.detection, atMs))
    .slice(0, clipsTold)
  const isPending = detections.isRecording(cctvId, span.fromMs, span.toMs)
  return {
    clips,
    reason: strongest([...near.map(reasonOf), ...(isPending ? ['pending' as const] : ['no_motion' as const])]),
  }
}

const spanOf = ({ clipStart, clipEnd, timestamp }: DetectionEvent) => ({
  startMs: Date.parse(clipStart ?? timestamp),
  endMs: Date.parse(clipEnd ?? timestamp),
})

function overlaps(detection: DetectionEvent, fromMs: number, toMs: number): boolean {
  const { startMs, endMs } = spanOf(detection)
  return startMs <= toMs && endMs >= fromMs
}

function offsetIn(detection: DetectionEvent, atMs: number): number | null {
  const { startMs, endMs } = spanOf(detection)
  return detection.clipStart !== null && atMs >= startMs && atMs <= endMs ? (atMs - startMs) / 1000 : null
}

/** Returns the milliseconds between clip and moment; 0 when the clip shows the moment. */
function distance(detection: DetectionEvent, atMs: number): number {
  const { startMs, endMs } = spanOf(detection)
  return Math.max(0, startMs - atMs, atMs - endMs)
}

function reasonOf({ clipStatus }: DetectionEvent): FootageReason | null {
  return (clipStatus as string) === 'recorded' ? null : (clipStatus as FootageReason)
}

const order = [null, 'pending', 'expired', 'lost', 'cooldown', 'no_motion'] as const

/** Returns the most informative reason; null when there is something to play. */
function strongest(reasons: readonly (FootageReason | null)[]): FootageReason | null {
  const found = order.find((reason) => reasons.includes(reason))
  return found === undefined ? 'no_motion' : found
}
