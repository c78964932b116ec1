/**
 * Turns cells into motion events, live and in a replay of stored cells, by the scorer, the detector and the silence between frames.
 * It has no clock; all times are whole milliseconds, so that stored times give the same events again.
 */
import type { EventKind } from '../../config/index.ts'
import type { FrameCells } from './cells.ts'
import {
  type ClosedBy,
  type Detector,
  type DetectorEvent,
  type DetectorSettings,
  detect,
  detectorDueMs,
  type Fired,
  type Interruption,
  newDetector,
  type SceneChanged,
} from './detector.ts'
import type { MotionArea } from './mask.ts'
import { type FrameScore, Scorer } from './score.ts'

/** When a frame was taken and when it came, monotonic. Only a silence between two arrivals counts. */
export type FrameTimes = { readonly takenMs: number; readonly arrivedMs: number }

export type JudgeOutcome =
  | Fired
  | SceneChanged
  | {
      readonly kind: 'closed'
      readonly endMs: number
      readonly by: ClosedBy
      /** The largest score since the event fired. */
      readonly peakScore: number
      /** From when the motion began, so long it went on before its first pause. */
      readonly movedForMs: number
      /** Kinds by the camera's analytics, from the motion to the end of the clip. */
      readonly kinds: readonly EventKind[]
    }

/** A finding of the camera's analytics; `isNew` is false while it goes on. */
export type CameraFinding = {
  readonly kinds: readonly EventKind[]
  readonly motionMs: number
  readonly isNew: boolean
}

/** Frames without motion for this long are a pause. */
const pauseMs = 1000
/** Without a frame for this long, the clock counts instead of frames. */
export const silenceMs = 2000
/** Without a frame for this long, the usual changes are forgotten: a replay may begin after that time, and has not seen them. */
const forgottenAfterMs = 30_000
/** Arrivals are known to this much. So little has to be stored of them, because most frames are equally late. */
export const latenessStepMs = 500

/** Returns the times of a frame in the precision that is stored. It arrives never earlier than it did. */
export function coarseTimes({ takenMs, arrivedMs }: FrameTimes): FrameTimes {
  return { takenMs, arrivedMs: takenMs + Math.ceil((arrivedMs - takenMs) / latenessStepMs) * latenessStepMs }
}

/** Judges the frames of one camera in order. The same calls give the same outcomes. */
export class MotionJudge {
  readonly #scorer: Scorer
  #detector: Detector = newDetector
  #newest: FrameTimes = { takenMs: 0, arrivedMs: 0 }
  #peakScore = 0
  readonly #kinds = new Set<EventKind>()
  /** Start of the newest event's motion, and its last motion before the first pause. */
  #moved = { fromMs: 0, untilMs: 0 }

  constructor(area: MotionArea) {
    this.#scorer = new Scorer(area)
  }

  /** Steps of the whole scene that settled and were no motion. */
  get suppressed(): number {
    return this.#detector.suppressed
  }

  /** The largest score since the newest event fired. */
  get peakScore(): number {
    return this.#peakScore
  }

  /** Whether the next frames decide about motion, or a clip is open. */
  get isAlert(): boolean {
    const { state, lens } = this.#detector
    return isAlert(state) || lens.kind === 'doubtful'
  }

  setArea(area: MotionArea): void {
    this.#scorer.setArea(area)
  }

  /** Forgets the last frames: another connection begins. */
  reconnect(): void {
    this.#scorer.reset()
  }

  /** Scores a frame. Silence before it is judged first. Scores up to `least` may be returned as 0. */
  frame(cells: FrameCells, times: FrameTimes, settings: DetectorSettings, least = 0) {
    const before = this.silence(times.arrivedMs, settings)
    if (times.takenMs - this.#newest.takenMs > forgottenAfterMs) this.#scorer.forget()
    const score: FrameScore = this.#scorer.push(cells, least)
    this.#newest = times
    this.#peakScore = Math.max(this.#peakScore, score.score)
    if (score.score > settings.sensitivity && times.takenMs - this.#moved.untilMs < pauseMs)
      this.#moved.untilMs = times.takenMs
    return { score, outcomes: [...before, ...this.#step({ kind: 'scored', frame: score }, times.takenMs, settings)] }
  }

  /** Takes what the camera's analytics have found. It counts at the time of the frames, which may be late. */
  report(found: CameraFinding, nowMs: number, settings: DetectorSettings): JudgeOutcome[] {
    const before = this.silence(nowMs, settings)
    const { arrivedMs, takenMs } = this.#newest
    const outcomes = this.#step({ kind: 'reported', ...found }, nowMs - (arrivedMs - takenMs), settings)
    for (const kind of found.kinds) this.#kinds.add(kind)
    return [...before, ...outcomes]
  }

  /** Ends an open clip at `endMs`. */
  interrupt(why: Interruption, endMs: number, nowMs: number, settings: DetectorSettings): JudgeOutcome[] {
    const before = this.silence(nowMs, settings)
    return [...before, ...this.#step({ kind: 'interrupted', why, endMs }, nowMs, settings)]
  }

  /** Returns the time on the clock at which silence alone changes something; undefined when only a frame does. */
  dueMs(settings: DetectorSettings): number | undefined {
    const dueMs = detectorDueMs(this.#detector, settings)
    const { arrivedMs, takenMs } = this.#newest
    return dueMs === undefined ? undefined : Math.max(dueMs + arrivedMs - takenMs, arrivedMs + silenceMs)
  }

  /**
   * Judges that no frame came until `nowMs` on the clock. While frames come, their times count: on a busy box they are
   * late, and by the clock motion would be over before it was seen.
   */
  silence(nowMs: number, settings: DetectorSettings): JudgeOutcome[] {
    const outcomes: JudgeOutcome[] = []
    for (let dueMs = this.dueMs(settings); dueMs !== undefined && dueMs <= nowMs; dueMs = this.dueMs(settings)) {
      const { arrivedMs, takenMs } = this.#newest
      outcomes.push(...this.#step({ kind: 'tick' }, dueMs - (arrivedMs - takenMs), settings))
    }
    return outcomes
  }

  #step(event: DetectorEvent, atMs: number, settings: DetectorSettings): JudgeOutcome[] {
    const { detector, outcomes } = detect(this.#detector, event, atMs, settings)
    this.#detector = detector
    return outcomes.map((outcome) => {
      if (outcome.kind === 'closed') {
        const { fromMs, untilMs } = this.#moved
        return { ...outcome, peakScore: this.#peakScore, movedForMs: untilMs - fromMs, kinds: [...this.#kinds] }
      }
      if (outcome.kind === 'sceneChanged') return outcome
      this.#peakScore = outcome.score
      this.#kinds.clear()
      this.#moved = { fromMs: outcome.motionMs, untilMs: atMs }
      return outcome
    })
  }
}

function isAlert({ kind }: Detector['state']): boolean {
  switch (kind) {
    case 'stirring':
    case 'settling':
    case 'active':
      return true
    case 'quiet':
    case 'cooling':
      return false
  }
}
