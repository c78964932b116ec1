/**
 * Decides when a camera's scores are a motion event, and from when to when its clip goes. Pure: every time is an
 * argument, monotonic, in milliseconds.
 */
import type { EventKind } from '../../config/index.ts'
import { framesPerSecond } from '../decoding/frames.ts'
import type {
  Active,
  ClosedBy,
  Cooling,
  Detector,
  DetectorEvent,
  DetectorSettings,
  DetectorState,
  DetectorStep,
  Fired,
  Interruption,
  Settling,
  Stirring,
} from './detector-state.ts'
import type { FrameScore } from './score.ts'
import { lookEvery } from './view-watch.ts'

export type {
  ClosedBy,
  Detector,
  DetectorEvent,
  DetectorOutcome,
  DetectorSettings,
  DetectorState,
  DetectorStep,
  Fired,
  Interruption,
  LensState,
  SceneChanged,
} from './detector-state.ts'

/** A clip ends at the latest this long after its motion began, or after its post-roll if that is longer. */
export const longestClipMs = 5 * 60_000
/** A step of the scene that has no more change for this long has settled. */
const settledMs = 1000
/** A change of the scene that continues for longer is motion. */
const goesOnMs = 2000
/** One frame without change does not end a stir. */
const stirringMs = 400
/** Motion that fires began at most this long before. */
const longestStirMs = 1600
/** Motion this recent is still present. */
const presentMs = 1000

/** The pictures show a lens that the camera reported as covered at most this much later. */
const sameTamperMs = 10_000

/** Two looks after the first one that finds another view: the view was another for over `goesOnMs`. */
const doubtfulFrames = (goesOnMs / 1000) * framesPerSecond
/** The view changed at most this long before a look found it. */
const lookMs = (1000 * lookEvery) / framesPerSecond
/** The usual view must be back for this long before its loss fires again. */
const clearAfterMs = 5000
/** A frame that has changed as a whole has no score; it counts as this. */
const wholeScore = 1

/** A replay may begin while a lens is covered, which was reported before. So a lens counts as reported at first. */
export const newDetector: Detector = {
  state: { kind: 'quiet' },
  lens: { kind: 'reported', normalMs: undefined },
  lastClipEndMs: -Infinity,
  suppressed: 0,
}

/** Returns the detector after an event, and its outcomes. Settings may change between calls. */
export function detect(
  detector: Detector,
  event: DetectorEvent,
  nowMs: number,
  settings: DetectorSettings,
): DetectorStep {
  const timed = passTime(detector, nowMs, settings)
  const next = react(timed.detector, event, nowMs, settings)
  return { detector: next.detector, outcomes: [...timed.outcomes, ...next.outcomes] }
}

/** Returns when time alone changes something; undefined when only a frame does. */
export function detectorDueMs(detector: Detector, settings: DetectorSettings): number | undefined {
  const { state } = detector
  switch (state.kind) {
    case 'quiet':
    case 'stirring':
    case 'settling':
      return undefined
    case 'active':
      return clipEnd(state, settings).dueMs
    case 'cooling':
      // A view that is still lost has its clip with the next picture.
      return isStillLost(detector, state) ? undefined : earliestClipMs(detector, settings)
  }
}

/** Returns the earliest time that a clip may show. */
function earliestClipMs({ lastClipEndMs }: Detector, { cooldownMs }: DetectorSettings): number {
  return lastClipEndMs + cooldownMs
}

function passTime(detector: Detector, nowMs: number, settings: DetectorSettings): DetectorStep {
  const { state } = detector
  const dueMs = detectorDueMs(detector, settings)
  if (dueMs === undefined || nowMs < dueMs) return stay(detector)
  if (state.kind === 'active') return close(detector, state, clipEnd(state, settings))
  return state.kind === 'cooling' ? endCooldown(detector, state, nowMs, settings) : become(detector, { kind: 'quiet' })
}

/** Begins the clip that the cooldown prevented if the motion is still present. */
function endCooldown(detector: Detector, state: Cooling, nowMs: number, settings: DetectorSettings): DetectorStep {
  if (nowMs - state.lastMotionMs > presentMs) return become(detector, { kind: 'quiet' })
  const { lastScore: score, lastKinds: kinds } = state
  return fire(detector, { motionMs: nowMs, score, sceneChange: false, kinds }, nowMs, settings)
}

/** Begins the clip of a view that was lost in the cooldown, with the first picture after it that still shows the loss. */
function beginLateClip(
  detector: Detector,
  { view, score }: FrameScore,
  nowMs: number,
  settings: DetectorSettings,
): DetectorStep {
  const { state } = detector
  if (state.kind !== 'cooling' || !isStillLost(detector, state)) return stay(detector)
  if (nowMs < earliestClipMs(detector, settings)) return stay(detector)
  if (view === 'normal') return endCooldown(detector, state, nowMs, settings)
  if (view !== null) return fire(detector, { motionMs: nowMs, score: wholeScore, sceneChange: true }, nowMs, settings)
  const isMotion = score > settings.sensitivity
  return isMotion ? fire(detector, { motionMs: nowMs, score, sceneChange: false }, nowMs, settings) : stay(detector)
}

/** Whether the view was lost in this cooldown and has not begun to come back. */
function isStillLost({ lens }: Detector, { isViewLost }: Cooling): boolean {
  return isViewLost && lens.kind === 'reported' && lens.normalMs === undefined
}

function react(detector: Detector, event: DetectorEvent, nowMs: number, settings: DetectorSettings): DetectorStep {
  switch (event.kind) {
    case 'scored': {
      const late = beginLateClip(detector, event.frame, nowMs, settings)
      const first = scored(late.detector, event.frame, nowMs, settings)
      const second = watchLens(first.detector, event.frame, nowMs, settings)
      return { detector: second.detector, outcomes: [...late.outcomes, ...first.outcomes, ...second.outcomes] }
    }
    case 'reported':
      return reported(detector, event, nowMs, settings)
    case 'tick':
      return stay(detector)
    case 'interrupted': {
      const { lens } = detector
      const kept = lens.kind === 'reported' ? lens : clear
      return interrupted({ ...detector, lens: kept }, event.why, event.endMs)
    }
  }
}

function scored(detector: Detector, frame: FrameScore, nowMs: number, settings: DetectorSettings): DetectorStep {
  const { state } = detector
  const isMotion = frame.score > settings.sensitivity
  switch (state.kind) {
    case 'quiet':
      return watch(detector, { kind: 'stirring', sinceMs: nowMs, lastMs: -Infinity }, frame, nowMs, settings)
    case 'stirring':
      return watch(detector, state, frame, nowMs, settings)
    case 'settling':
      return settle(detector, state, frame, nowMs, settings)
    case 'active':
      return isMotion || frame.whole ? goOn(detector, state, nowMs) : stay(detector)
    case 'cooling':
      return isMotion ? duringCooldown(detector, state, { score: frame.score }, nowMs, settings) : stay(detector)
  }
}

/** The clock of reports is ahead of frames on a busy box. */
function goOn(detector: Detector, state: Active, nowMs: number): DetectorStep {
  return become(detector, { ...state, lastMotionMs: Math.max(state.lastMotionMs, nowMs) })
}

/** A report of the camera is motion at once, and one with motion that the pictures show. */
function reported(
  detector: Detector,
  { kinds, motionMs, isNew }: Extract<DetectorEvent, { kind: 'reported' }>,
  nowMs: number,
  settings: DetectorSettings,
): DetectorStep {
  const { state } = detector
  switch (state.kind) {
    case 'quiet':
    case 'stirring':
    case 'settling':
      return fire(
        detector,
        { motionMs, score: 0, sceneChange: isNew && kinds.includes('tamper'), kinds },
        nowMs,
        settings,
      )
    case 'active':
      return goOn(detector, state, nowMs)
    case 'cooling':
      return duringCooldown(detector, state, { score: 0, kinds }, nowMs, settings)
  }
}

function watch(
  detector: Detector,
  state: Stirring,
  { score, raw, whole }: FrameScore,
  nowMs: number,
  settings: DetectorSettings,
): DetectorStep {
  if (whole) return become(detector, { kind: 'settling', sinceMs: nowMs, lastChangeMs: nowMs })
  if (score > settings.sensitivity) {
    const motionMs = Math.max(state.sinceMs, nowMs - longestStirMs)
    return fire(detector, { motionMs, score, sceneChange: false }, nowMs, settings)
  }
  if (raw > settings.sensitivity) return become(detector, { ...state, lastMs: nowMs })
  return become(detector, nowMs - state.lastMs < stirringMs ? state : { kind: 'quiet' })
}

/** A change of light is never motion, however long it lasts; a thing that moves while it settles is. */
function settle(
  detector: Detector,
  state: Settling,
  { score, raw, whole }: FrameScore,
  nowMs: number,
  settings: DetectorSettings,
): DetectorStep {
  const isMotion = whole === 'view' || score > settings.sensitivity
  if (isMotion && nowMs - state.sinceMs > goesOnMs) {
    const motion = { motionMs: state.sinceMs, score: whole ? wholeScore : score, sceneChange: true }
    return fire(detector, motion, nowMs, settings)
  }
  if (whole === 'light') return become(detector, { kind: 'settling', sinceMs: nowMs, lastChangeMs: nowMs })
  if (whole || raw > settings.sensitivity) return become(detector, { ...state, lastChangeMs: nowMs })
  if (nowMs - state.lastChangeMs < settledMs) return stay(detector)
  return become({ ...detector, suppressed: detector.suppressed + 1 }, { kind: 'quiet' })
}

/** Makes each new burst of motion during the cooldown an event without a clip. */
function duringCooldown(
  detector: Detector,
  state: Cooling,
  { score, kinds = [] }: { readonly score: number; readonly kinds?: readonly EventKind[] },
  nowMs: number,
  settings: DetectorSettings,
): DetectorStep {
  const lastMotionMs = Math.max(state.lastMotionMs, nowMs)
  const cooling = { ...detector, state: { ...state, lastMotionMs, lastScore: score, lastKinds: kinds } }
  if (nowMs - state.lastMotionMs <= Math.max(presentMs, settings.postRecordMs)) return stay(cooling)
  const notBeforeMs = earliestClipMs(detector, settings)
  const motion = { motionMs: nowMs, score, kinds, sceneChange: kinds.includes('tamper') }
  return { detector: cooling, outcomes: [{ kind: 'fired', ...motion, clipFromMs: null, notBeforeMs }] }
}

/** A lost view fires once, whatever the score: somebody covers, turns or blinds the lens. */
function watchLens(detector: Detector, { view }: FrameScore, nowMs: number, settings: DetectorSettings): DetectorStep {
  const { lens, suppressed } = detector
  const isLost = view === 'covered' || view === 'turned'
  switch (lens.kind) {
    case 'clear':
      return stay(
        isLost ? { ...detector, lens: { kind: 'doubtful', sinceMs: nowMs, frames: 0, suppressed } } : detector,
      )
    case 'doubtful': {
      if (!isLost) return stay({ ...detector, lens: clear })
      const frames = lens.frames + 1
      if (frames < doubtfulFrames) return stay({ ...detector, lens: { ...lens, frames } })
      const reported = {
        ...detector,
        suppressed: lens.suppressed,
        lens: { kind: 'reported', normalMs: undefined },
      } as const
      return viewLost(reported, lens.sinceMs - lookMs, nowMs, settings)
    }
    case 'reported': {
      const normalMs = view === 'normal' ? (lens.normalMs ?? nowMs) : undefined
      const isClear = normalMs !== undefined && nowMs - normalMs >= clearAfterMs
      return stay({ ...detector, lens: isClear ? clear : { kind: 'reported', normalMs } })
    }
  }
}

function viewLost(detector: Detector, sinceMs: number, nowMs: number, settings: DetectorSettings): DetectorStep {
  const { state } = detector
  const notBeforeMs = earliestClipMs(detector, settings)
  switch (state.kind) {
    case 'quiet':
    case 'stirring':
    case 'settling': {
      const motion = { motionMs: Math.max(sinceMs, notBeforeMs), score: wholeScore, sceneChange: true }
      return fire(detector, motion, nowMs, settings)
    }
    case 'cooling': {
      const motion = { motionMs: sinceMs, score: wholeScore, sceneChange: true }
      return {
        detector: { ...detector, state: { ...state, isViewLost: true } },
        outcomes: [{ kind: 'fired', ...motion, kinds: [], clipFromMs: null, notBeforeMs }],
      }
    }
    case 'active': {
      const active = { ...detector, state: { ...state, sceneMs: nowMs, lastMotionMs: nowMs } }
      // It began before the clip was reported as one of a scene change: it is the same change.
      if (sinceMs <= state.sceneMs) return stay(active)
      return { detector: active, outcomes: [{ kind: 'sceneChanged', motionMs: sinceMs, score: wholeScore }] }
    }
  }
}

const clear = { kind: 'clear' } as const

function interrupted(detector: Detector, why: Interruption, endMs: number): DetectorStep {
  const { state } = detector
  switch (state.kind) {
    case 'quiet':
    case 'stirring':
    case 'settling':
      return become(detector, { kind: 'quiet' })
    case 'active':
      return close(detector, { ...state, lastMotionMs: -Infinity }, { endMs, by: why })
    case 'cooling':
      return become(detector, { ...state, lastMotionMs: -Infinity })
  }
}

function fire(
  detector: Detector,
  motion: Pick<Fired, 'motionMs' | 'score' | 'sceneChange'> & Partial<Pick<Fired, 'kinds'>>,
  nowMs: number,
  settings: DetectorSettings,
): DetectorStep {
  const { motionMs, sceneChange, kinds = [] } = motion
  const notBeforeMs = earliestClipMs(detector, settings)
  const clipFromMs = Math.max(motionMs - settings.preRecordMs, notBeforeMs)
  const sceneMs = sceneChange ? nowMs + (kinds.length > 0 ? sameTamperMs : 0) : -Infinity
  return {
    detector: { ...detector, state: { kind: 'active', motionMs, lastMotionMs: nowMs, sceneMs } },
    outcomes: [{ kind: 'fired', ...motion, kinds, clipFromMs, notBeforeMs }],
  }
}

function close(
  detector: Detector,
  { lastMotionMs }: Active,
  { endMs, by }: { readonly endMs: number; readonly by: ClosedBy },
): DetectorStep {
  return {
    detector: {
      ...detector,
      lastClipEndMs: endMs,
      state: { kind: 'cooling', lastMotionMs, lastScore: 0, isViewLost: false, lastKinds: [] },
    },
    outcomes: [{ kind: 'closed', endMs, by }],
  }
}

/**
 * Returns the end of the clip, and the time from which it is certain. Without a post-roll, it is certain once the motion has ended.
 */
function clipEnd({ motionMs, lastMotionMs }: Active, { postRecordMs }: DetectorSettings) {
  const longestMs = motionMs + Math.max(longestClipMs, postRecordMs)
  if (lastMotionMs + Math.max(postRecordMs, presentMs) >= longestMs) {
    return { endMs: longestMs, dueMs: longestMs, by: 'longest' } as const
  }
  const dueMs = lastMotionMs + Math.max(postRecordMs, presentMs)
  return { endMs: lastMotionMs + postRecordMs, dueMs, by: 'post-roll' } as const
}

function become(detector: Detector, state: DetectorState): DetectorStep {
  return stay({ ...detector, state })
}

function stay(detector: Detector): DetectorStep {
  return { detector, outcomes: [] }
}
