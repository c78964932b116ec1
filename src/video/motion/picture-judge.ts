/**
 * Judges the pictures of one camera, and decides which of them its decoder is to decode. It has no clock: the same pictures give the
 * same motion and the same commands.
 */
import { copyFrame, type Frame, frameSize, framesPerSecond, giveBackFrame } from '../decoding/frames.ts'
import {
  type AwakeReason,
  newlyAwake,
  stepWakefulness,
  type WakeCommand,
  type WakeEvent,
  type Wakefulness,
} from '../decoding/wakefulness.ts'
import { Comparer, type FrameCells } from './cells.ts'
import type { DetectorSettings, Interruption } from './detector.ts'
import type { MotionArea } from './mask.ts'
import { type CameraFinding, coarseTimes, type FrameTimes, type JudgeOutcome, MotionJudge } from './motion-judge.ts'
import { type FrameScore, Scorer } from './score.ts'
import { ViewWatch } from './view-watch.ts'

type Seen = { readonly cells: FrameCells; readonly score: FrameScore; readonly isOtherLight: boolean }

/** A change of the light by more octaves, 2.5 %: a camera sets its exposure anew for what came and went between two key frames. */
const steadyOctaves = 0.035

/**
 * Watches key frames alone. It compares each with the third before it, and learns noise and usual motion from them alone: two key
 * frames differ in other ways than two pictures beside each other.
 */
class Sentinel {
  readonly #comparer = new Comparer(frameSize, undefined, giveBackFrame)
  readonly #scorer: Scorer

  constructor(area: MotionArea) {
    this.#scorer = new Scorer(area)
  }

  setArea(area: MotionArea): void {
    this.#scorer.setArea(area)
  }

  /** Another connection begins. */
  reset(): void {
    this.#comparer.reset()
    this.#scorer.reset()
  }

  /** Scores a key frame. Its pixels are the sentinel's afterwards. */
  push(pixels: Uint8Array): Seen {
    const cells = this.#comparer.push(pixels)
    const isOtherLight = Math.abs(Math.log2(this.#comparer.gain)) > steadyOctaves
    return { cells, score: this.#scorer.push(cells), isOtherLight }
  }
}

/** A small picture from the ring. */
export type Picture = Frame & {
  /** Presentation time, if it is a key frame that the sentinel is to see. */
  readonly keyPtsMs?: number | undefined
  /** Whether it is one of five in a second of decoded video. Otherwise the sentinel alone sees it. */
  readonly isFrame: boolean
}

/** A picture that was judged for motion. */
export type JudgedPicture = {
  readonly picture: Picture
  readonly cells: FrameCells
  readonly times: FrameTimes
  readonly score: FrameScore
}

export type PictureVerdict = {
  readonly judged?: JudgedPicture
  readonly outcomes: readonly JudgeOutcome[]
  readonly command?: WakeCommand | undefined
}

/** A change that could become motion wakes the decoder: half of that which fires, and no more than this raw score. */
const mostQuietScore = 0.15
/** After this, the noise of the camera may be another: dusk takes some minutes. */
const longSleepMs = 120_000
const frameMs = 1000 / framesPerSecond

export class PictureJudge {
  readonly view = new ViewWatch()
  readonly #comparer: Comparer
  readonly #judge: MotionJudge
  readonly #sentinel: Sentinel
  #wakefulness: Wakefulness = newlyAwake(-Infinity)
  #takenMs: number | undefined
  /** Time of a key frame between the last frame and the next. */
  #keyPtsMs: number | undefined
  /** When it last began to sleep. */
  #asleepMs = -Infinity

  constructor(area: MotionArea) {
    this.#comparer = new Comparer(frameSize, this.view, giveBackFrame)
    this.#judge = new MotionJudge(area)
    this.#sentinel = new Sentinel(area)
  }

  get wakefulness(): Wakefulness {
    return this.#wakefulness
  }

  get suppressed(): number {
    return this.#judge.suppressed
  }

  setArea(area: MotionArea): void {
    this.#judge.setArea(area)
    this.#sentinel.setArea(area)
  }

  /** Forgets pictures and references: another connection begins. */
  reconnect(nowMs: number): void {
    this.#comparer.reset()
    this.#judge.reconnect()
    this.#sentinel.reset()
    this.#takenMs = undefined
    this.#keyPtsMs = undefined
    this.#step({ kind: 'begun' }, nowMs)
  }

  /**
   * Judges a picture. Where a sleeping decoder is to wake, the picture is not judged for motion: it comes again, with those before it.
   * @param unfit why the key frames of the stream are no sentinels; null: they are
   */
  push(picture: Picture, unfit: AwakeReason | null, settings: DetectorSettings): PictureVerdict {
    const { keyPtsMs, isFrame, takenMs } = picture
    // Each comparer gives its pixels back.
    const seen = keyPtsMs === undefined ? undefined : this.#sentinel.push(copyFrame(picture.pixels))
    if (isFrame) {
      const judged = this.#judged(picture, this.#comparer.push(picture.pixels), settings)
      const reason = unfit ?? this.#reason(judged.judged.score, settings)
      const command = this.#step({ kind: 'picture', reason, keyPtsMs: keyPtsMs ?? this.#keyPtsMs }, takenMs)
      this.#keyPtsMs = undefined
      return { ...judged, command }
    }
    if (!seen) return { outcomes: [] }
    if (!this.#isAsleep) {
      this.#keyPtsMs = keyPtsMs
      return { outcomes: [] }
    }
    const reason = unfit ?? this.#reason(seen.score, settings) ?? (seen.isOtherLight ? 'motion' : null)
    const command = this.#step({ kind: 'picture', reason, keyPtsMs }, takenMs)
    if (command) return { outcomes: [], command }
    const slots = Math.max(Math.round((takenMs - (this.#takenMs ?? takenMs)) / frameMs), 1)
    const view = this.#comparer.remember(picture.pixels, slots)
    const judged = this.#judged(picture, { ...seen.cells, view }, settings)
    // Key frames alone may have become motion, one by one.
    const late = this.#reason(judged.judged.score, settings)
    return { ...judged, command: late ? this.#step({ kind: 'picture', reason: late, keyPtsMs }, takenMs) : undefined }
  }

  /** Notes that the picture of the next key frame has not come in time. */
  overdue(why: AwakeReason, nowMs: number): WakeCommand | undefined {
    return this.#step({ kind: 'overdue', why }, nowMs)
  }

  /** Takes what the camera's analytics have found. */
  report(found: CameraFinding, nowMs: number, settings: DetectorSettings): JudgeOutcome[] {
    return this.#judge.report(found, nowMs, settings)
  }

  interrupt(why: Interruption, endMs: number, nowMs: number, settings: DetectorSettings): JudgeOutcome[] {
    return this.#judge.interrupt(why, endMs, nowMs, settings)
  }

  dueMs(settings: DetectorSettings): number | undefined {
    return this.#judge.dueMs(settings)
  }

  silence(nowMs: number, settings: DetectorSettings): JudgeOutcome[] {
    return this.#judge.silence(nowMs, settings)
  }

  get #isAsleep(): boolean {
    return this.#wakefulness.kind === 'asleep'
  }

  #judged(picture: Picture, cells: FrameCells, settings: DetectorSettings) {
    const times = coarseTimes(picture)
    const { score, outcomes } = this.#judge.frame(cells, times, settings)
    this.#takenMs = picture.takenMs
    return { judged: { picture, cells, times, score }, outcomes }
  }

  #reason({ raw, whole }: FrameScore, { sensitivity }: DetectorSettings): AwakeReason | null {
    const isQuiet = raw <= Math.min(mostQuietScore, sensitivity / 2) && whole === null && !this.#judge.isAlert
    if (!isQuiet) return 'motion'
    return this.view.state === 'normal' ? null : 'view'
  }

  #step(event: WakeEvent, nowMs: number): WakeCommand | undefined {
    const { wakefulness, command } = stepWakefulness(this.#wakefulness, event, nowMs)
    this.#wakefulness = wakefulness
    if (command?.kind === 'sleep') this.#asleepMs = nowMs
    if (command?.kind === 'wake' && nowMs - this.#asleepMs > longSleepMs) this.#comparer.resume()
    return command
  }
}
