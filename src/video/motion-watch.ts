import type { Clock } from '../platform/index.ts'
import { Comparer } from './cells.ts'
import {
  type Detector,
  type DetectorEvent,
  type DetectorOutcome,
  type DetectorSettings,
  detect,
  detectorDueMs,
  type Interruption,
  newDetector,
} from './detector.ts'
import { FrameCounter, type FrameCounts } from './frame-counter.ts'
import { type Frame, FrameQueue, FrameSplitter, frameSize } from './frames.ts'
import type { MotionArea } from './mask.ts'
import { Scorer } from './score.ts'
import { type SceneState, ViewWatch } from './view-watch.ts'

export type MotionWatchOptions = {
  readonly clock: Clock
  readonly settings: () => DetectorSettings
  readonly area: MotionArea
  readonly onOutcome: (outcome: DetectorOutcome) => void
}

export type WatchCounts = FrameCounts & {
  /** Monotonic time of the newest frame. */
  readonly lastFrameMs: number | undefined
  readonly dropped: number
  readonly suppressed: number
  readonly scene: { readonly state: SceneState; readonly forSeconds: number }
}

/** Without a frame for this long, the clock counts instead of frames. */
const silenceMs = 2000
/** For this long after a change, the light has just changed. */
const lightMs = 5000
/** Frames that have been identical for this long are a still picture. */
const stillSeconds = 60

/** From the bytes of small pictures to motion events: the loop around `cells.ts`, `score.ts` and `detector.ts`, which decide. */
export class MotionWatch {
  readonly #needs: MotionWatchOptions
  readonly #splitter = new FrameSplitter()
  readonly #queue = new FrameQueue()
  readonly #comparer = new Comparer(frameSize)
  readonly #scorer: Scorer
  readonly #view = new ViewWatch()
  #scene: { state: SceneState; sinceMs: number } = { state: 'normal', sinceMs: 0 }
  #lightAtMs = -Infinity
  #detector: Detector = newDetector
  #counter = new FrameCounter()
  #peakScore = 0
  #draining = false
  #newest: Pick<Frame, 'arrivedMs' | 'takenMs'> = { arrivedMs: 0, takenMs: 0 }
  #cancelTimer = () => {}

  constructor(options: MotionWatchOptions) {
    this.#needs = options
    this.#scorer = new Scorer(options.area)
  }

  /** The largest score since the newest event fired. */
  get peakScore(): number {
    return this.#peakScore
  }

  setArea(area: MotionArea): void {
    this.#scorer.setArea(area)
  }

  /** Accepts what the camera shows from now on. */
  acceptView(): void {
    this.#view.accept()
  }

  /** Starts the counters at 0: detection was started. */
  restartCounting(): void {
    this.#counter = new FrameCounter()
  }

  /** Forgets frames and references: another connection begins. */
  reconnect(): void {
    this.#splitter.reset()
    this.#queue.clear()
    this.#comparer.reset()
    this.#scorer.reset()
  }

  /** Takes bytes and returns at once; they are scored in a later turn of the event loop. */
  push(bytes: Uint8Array): void {
    for (const frame of this.#splitter.push(bytes, this.#needs.clock.monotonic())) this.#queue.put(frame)
    if (this.#draining) return
    this.#draining = true
    setImmediate(() => this.#drain())
  }

  /** Ends an open clip at `lastPictureMs` (monotonic), when that is known to be the last picture; otherwise now. */
  interrupt(why: Interruption, lastPictureMs = Infinity): void {
    this.#queue.clear()
    const nowMs = this.#needs.clock.monotonic()
    this.#step({ kind: 'interrupted', why, endMs: Math.min(nowMs, lastPictureMs) }, nowMs)
  }

  counts(): WatchCounts {
    const { lastFrameMs } = this.#counter
    const { dropped } = this.#queue
    return {
      ...this.#counter.counts(this.#needs.clock.monotonic()),
      lastFrameMs,
      dropped,
      suppressed: this.#detector.suppressed,
      scene: this.#sceneNow(),
    }
  }

  #sceneNow(): WatchCounts['scene'] {
    const nowMs = this.#needs.clock.monotonic()
    const state = this.#sceneState(nowMs)
    if (state !== this.#scene.state) this.#scene = { state, sinceMs: nowMs }
    return { state, forSeconds: Math.floor((nowMs - this.#scene.sinceMs) / 1000) }
  }

  #sceneState(nowMs: number): SceneState {
    if (this.#counter.counts(nowMs).stillSeconds >= stillSeconds) return 'still'
    if (this.#view.state !== 'normal') return this.#view.state
    return nowMs - this.#lightAtMs < lightMs ? 'light' : 'normal'
  }

  stop(): void {
    this.#cancelTimer()
    this.#queue.clear()
  }

  /** Scores one frame in each turn of the event loop, so that pipes are emptied in between. */
  #drain(): void {
    const frame = this.#queue.take()
    this.#draining = frame !== undefined
    if (!frame) return
    this.#score(frame)
    setImmediate(() => this.#drain())
  }

  #score(frame: Frame): void {
    const score = this.#scorer.push(this.#comparer.push(frame.pixels))
    this.#view.push(frame.pixels)
    if (score.whole === 'light') this.#lightAtMs = frame.arrivedMs
    this.#newest = frame
    this.#counter.add(frame, score, score.score > this.#needs.settings().sensitivity)
    this.#peakScore = Math.max(this.#peakScore, score.score)
    this.#step({ kind: 'scored', frame: score }, frame.takenMs)
  }

  #step(event: DetectorEvent, atMs: number): void {
    const { detector, outcomes } = detect(this.#detector, event, atMs, this.#needs.settings())
    this.#detector = detector
    for (const outcome of outcomes) {
      if (outcome.kind === 'fired') this.#peakScore = outcome.score
      this.#needs.onOutcome(outcome)
    }
    this.#arm()
  }

  /**
   * Sets a timer, so that a clip ends although no frame comes any more. While frames come, their times count: on a busy
   * box they are late, and by the clock motion would be over before it was seen.
   */
  #arm(): void {
    const { clock, settings } = this.#needs
    this.#cancelTimer()
    const dueMs = detectorDueMs(this.#detector, settings())
    if (dueMs === undefined) return
    const { arrivedMs, takenMs } = this.#newest
    const lateMs = arrivedMs - takenMs
    const atMs = Math.max(dueMs + lateMs, arrivedMs + silenceMs)
    this.#cancelTimer = clock.after(Math.max(atMs - clock.monotonic(), 0), () => {
      this.#step({ kind: 'tick' }, clock.monotonic() - lateMs)
    })
  }
}
