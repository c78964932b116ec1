/** State, events and outcomes of the detector. Every time is monotonic, in milliseconds. */
import type { EventKind } from '../../config/index.ts'
import type { FrameScore } from './score.ts'

export type DetectorSettings = {
  readonly sensitivity: number
  readonly cooldownMs: number
  readonly preRecordMs: number
  readonly postRecordMs: number
}

/** A clip is open. It ends after `lastMotionMs` and the post-roll. */
export type Active = {
  readonly kind: 'active'
  readonly motionMs: number
  readonly lastMotionMs: number
  /** When the newest scene change that this clip shows was reported; -Infinity: it shows none. */
  readonly sceneMs: number
}
/** No clip may begin yet. Holds time and score of the newest motion, at first that of the last clip. */
export type Cooling = {
  readonly kind: 'cooling'
  readonly lastMotionMs: number
  readonly lastScore: number
  /** The view was lost in this cooldown: no clip shows that yet. */
  readonly isViewLost: boolean
  /** Kinds of the newest motion by the camera's analytics; empty when the pictures showed it. */
  readonly lastKinds: readonly EventKind[]
}
/** Frames change, since `sinceMs`; the next ones decide whether that is motion. */
export type Stirring = { readonly kind: 'stirring'; readonly sinceMs: number; readonly lastMs: number }
/** The whole scene has changed. A step that settles is no motion; one that continues is. */
export type Settling = { readonly kind: 'settling'; readonly sinceMs: number; readonly lastChangeMs: number }

export type DetectorState =
  /** Nothing moves. */
  { readonly kind: 'quiet' } | Stirring | Settling | Active | Cooling

/** Whether the camera shows its usual view. */
export type LensState =
  | { readonly kind: 'clear' }
  /** So many frames show something else. Before them, `suppressed` is the count: the change did not settle. */
  | { readonly kind: 'doubtful'; readonly sinceMs: number; readonly frames: number; readonly suppressed: number }
  /** A lost view that has fired. It fires again only after the usual view was back for a while; it is back since `normalMs`. */
  | { readonly kind: 'reported'; readonly normalMs: number | undefined }

export type Detector = {
  readonly state: DetectorState
  readonly lens: LensState
  /** End of the newest clip; -Infinity before the first. */
  readonly lastClipEndMs: number
  /** Steps of the whole scene that settled and were no motion. */
  readonly suppressed: number
}

/** Why an open clip ends before it is quiet. */
export type Interruption = 'stopped' | 'stream-ended'

export type DetectorEvent =
  | { readonly kind: 'scored'; readonly frame: FrameScore }
  /** The camera's analytics have found something at `motionMs`; `isNew` is false while it goes on. */
  | {
      readonly kind: 'reported'
      readonly kinds: readonly EventKind[]
      readonly motionMs: number
      readonly isNew: boolean
    }
  /** Time has passed without a frame. */
  | { readonly kind: 'tick' }
  /** The stream ended, or detection was stopped: an open clip ends at `endMs`. */
  | { readonly kind: 'interrupted'; readonly why: Interruption; readonly endMs: number }

export type ClosedBy = 'post-roll' | 'longest' | Interruption

export type Fired = {
  readonly kind: 'fired'
  /** When the motion began. */
  readonly motionMs: number
  readonly score: number
  /** The whole scene changed, for longer than a light that is switched. */
  readonly sceneChange: boolean
  /** Kinds by the camera's analytics; empty when the pictures showed it. */
  readonly kinds: readonly EventKind[]
  /** Start of the clip; null: no clip, because of the cooldown. */
  readonly clipFromMs: number | null
  /** End of the last clip's cooldown: this clip shows nothing earlier. */
  readonly notBeforeMs: number
}

/** The lens was covered, turned or blinded while the clip of another motion is open: that clip shows it. */
export type SceneChanged = { readonly kind: 'sceneChanged'; readonly motionMs: number; readonly score: number }

export type DetectorOutcome =
  | Fired
  | SceneChanged
  | { readonly kind: 'closed'; readonly endMs: number; readonly by: ClosedBy }

export type DetectorStep = { readonly detector: Detector; readonly outcomes: readonly DetectorOutcome[] }
