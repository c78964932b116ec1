import type { ConfiguredCameras, DetectionEvent, Detections, Gaps } from '../cameras/index.ts'
import type { Caller } from '../http/index.ts'
import { isoTime } from '../platform/index.ts'
import type { EventFootage, Footage, FootageReason } from './trace-schema.ts'

export const footageWindowSeconds = 60
/** A clip that began this long ago can still be running: longest pre-roll, motion and post-roll. */
const longestClipMs = 10 * 60 * 1000
const mostClips = 20

type Moment = { readonly timestampMs: number; readonly slotCode: string; readonly clipUrl: string | null }
/** An event, and when the gateway received it. */
type FilmedMoment = Moment & { readonly id: number; readonly receivedMs: number }
/** Cameras that look at a slot, and their recordings. */
export type Watching = {
  readonly cameras: Pick<ConfiguredCameras, 'watching'>
  readonly detections: Pick<Detections, 'during' | 'isRecording' | 'filmsToCome'>
  /** Times in which a camera watched, for cameras that the caller may see. */
  readonly gaps: Pick<Gaps, 'gapsIn' | 'watchedAll' | 'knownSinceMs'>
}

type CameraFootage = Footage['cameras'][number]
/** The film of an event shows this much before and after it. */
const filmMs = 10_000

/** Returns the clips of a slot's cameras around a time that the caller may see, or the reason why there are none. */
export function footageOf(watching: Watching, moment: Moment, windowSeconds: number, caller: Caller): Footage {
  const { visible, hidden } = watching.cameras.watching(moment.slotCode, caller)
  const cameras = visible.map(({ id, name }) => ({
    cctvId: id,
    name,
    ...ofCamera(watching, id, moment.timestampMs, windowSeconds, caller),
  }))
  const none: FootageReason = hidden > 0 ? 'camera_not_visible' : 'no_camera'
  return {
    cctv_clip_url: moment.clipUrl,
    windowSeconds,
    cameras,
    reason: cameras.length === 0 ? none : strongest(cameras.map((camera) => camera.reason)),
  }
}

/** Returns the films that show an event's own moment, or why there is none, for this caller. */
export function filmsOfEvent(
  watching: Watching,
  event: FilmedMoment,
  windowSeconds: number,
  caller: Caller,
): Omit<EventFootage, 'eventId' | 'timestamp' | 'slot_code'> {
  const { cameras, reason, ...rest } = footageOf(watching, event, windowSeconds, caller)
  const clips = cameras.flatMap(({ clips: near }) => near.flatMap(filmOf))
  const ids = cameras.map(({ cctvId }) => cctvId)
  const pending = watching.detections.filmsToCome(event.id).filter(({ cctvId }) => ids.includes(cctvId))
  const span = { fromMs: event.timestampMs - filmMs, toMs: event.timestampMs + filmMs }
  const loss = clips.length > 0 ? null : lossOf(cameras)
  const watched = loss === null && ids.some((cctvId) => watching.gaps.watchedAll(cctvId, span))
  const why =
    clips.length > 0
      ? null
      : whyNone(watching.detections, cameras, event, { near: reason, isWanted: pending.length > 0, watched })
  return {
    ...rest,
    cameras: ids,
    clips,
    pending,
    gaps: cameras.flatMap(({ cctvId }) => watching.gaps.gapsIn(cctvId, span)),
    reason: why,
    detail:
      why === 'not_kept' ? notKept(event) : (loss ?? (why === 'gap' ? beforeCameras(watching, cameras, event) : null)),
    watching: cameras,
  }
}

/** Returns the film of a clip that shows the moment; nothing of any other. */
function filmOf({ detection, offsetSeconds }: CameraFootage['clips'][number]): EventFootage['clips'] {
  const { id, cctvId, clipStart, clipEnd, clipSha256, clipUrls, cameraClock, kind } = detection
  if (offsetSeconds === null || clipUrls.playback === null) return []
  if (clipStart === null || clipEnd === null || clipSha256 === null) return []
  const { playback: url } = clipUrls
  return [{ detectionId: id, cctvId, from: clipStart, to: clipEnd, url, sha256: clipSha256, cameraClock, kind }]
}

function whyNone(
  detections: Watching['detections'],
  cameras: readonly CameraFootage[],
  { timestampMs }: Moment,
  {
    near,
    isWanted,
    watched,
  }: { readonly near: FootageReason | null; readonly isWanted: boolean; readonly watched: boolean },
): EventFootage['reason'] {
  if (cameras.length === 0) return near === 'camera_not_visible' ? near : 'no_camera'
  const isComing = ({ cctvId }: CameraFootage) =>
    detections.isRecording(cctvId, timestampMs - longestClipMs, timestampMs + filmMs)
  if (isWanted || cameras.some(isComing)) return 'pending'
  const isExpired = ({ detection, offsetSeconds }: CameraFootage['clips'][number]) =>
    offsetSeconds !== null && (detection.clipStatus as string) === 'expired'
  if (cameras.some(({ clips }) => clips.some(isExpired))) return 'expired'
  return watched ? 'not_kept' : 'gap'
}

/** Returns why a camera that watched has no film of a moment, and how to get the next one. */
function notKept({ timestampMs, receivedMs }: FilmedMoment): string {
  const lateSeconds = Math.round((receivedMs - timestampMs) / 1000)
  const what =
    lateSeconds > 0
      ? `The event was recorded ${lateSeconds} s after its moment, and no video of the moment was kept until then.`
      : 'No video of the moment was kept.'
  return `${what} cameras[].history keeps such moments, for as many hours as it says.`
}

/** Returns a reason that the gateway had no camera of the slot yet, so no gap can state it; null when it had one. */
function beforeCameras({ gaps }: Watching, cameras: readonly CameraFootage[], { timestampMs }: Moment) {
  const known = cameras.flatMap(({ cctvId, name }) => ({
    name,
    sinceMs: gaps.knownSinceMs(cctvId) ?? Number.POSITIVE_INFINITY,
  }))
  if (known.some(({ sinceMs }) => sinceMs <= timestampMs)) return null
  const [first] = known.toSorted((a, b) => a.sinceMs - b.sinceMs)
  const since =
    first && Number.isFinite(first.sinceMs) ? `: ${first.name} is in its config since ${isoTime(first.sinceMs)}` : ''
  return `At that time the gateway had no camera that looks at this slot${since}.`
}

/** Returns why the film of an event was lost, in words; null when none was. */
function lossOf(cameras: readonly CameraFootage[]): string | null {
  const near = cameras.flatMap(({ clips }) => clips)
  return (
    near.find(({ detection }) => detection.trigger === 'event' && detection.clipStatus === 'lost')?.detection.reason ??
    null
  )
}

function ofCamera({ detections, gaps }: Watching, cctvId: number, atMs: number, windowSeconds: number, caller: Caller) {
  const windowMs = windowSeconds * 1000
  const span = { fromMs: atMs - windowMs - longestClipMs, toMs: atMs + windowMs + 1 }
  const near = detections
    .during(cctvId, span, caller)
    .filter((detection) => overlaps(detection, atMs - windowMs, atMs + windowMs))
  const clips = near
    .map((detection) => ({ detection, offsetSeconds: offsetIn(detection, atMs) }))
    .toSorted((a, b) => distance(a.detection, atMs) - distance(b.detection, atMs))
    .slice(0, mostClips)
  const isPending = detections.isRecording(cctvId, span.fromMs, span.toMs)
  // Only footage without a gap proves that nothing moved.
  const unless = () =>
    gaps.watchedAll(cctvId, { fromMs: atMs - windowMs, toMs: atMs + windowMs }) ? 'no_motion' : 'gap'
  return { clips, reason: strongest([...near.map(reasonOf), isPending ? 'pending' : unless()]) }
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

/** With several cameras, one that watched is more informative than one that did not. */
const order = [null, 'pending', 'expired', 'lost', 'cooldown', 'no_motion', 'gap'] as const

/** Returns the most informative reason; null when there is something to play. */
function strongest(reasons: readonly (FootageReason | null)[]): FootageReason | null {
  const found = order.find((reason) => reasons.includes(reason))
  return found === undefined ? 'no_motion' : found
}
