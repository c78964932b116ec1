import type { Clock } from '../../platform/index.ts'
import { type Frame, FrameQueue, FrameSplitter, frameSize, framesPerSecond } from '../decoding/frames.ts'
import type { CellSink } from '../history/cell-recorder.ts'
import { Comparer } from '../motion/cells.ts'
import type { DetectorSettings, Interruption } from '../motion/detector.ts'
import { type Impaired, impairedBy, JudgedShare, neverBad, type Trouble } from '../motion/impairment.ts'
import type { MotionArea } from '../motion/mask.ts'
import { coarseTimes, type JudgeOutcome, MotionJudge } from '../motion/motion-judge.ts'
import { type SceneState, ViewWatch } from '../motion/view-watch.ts'
import { FrameCounter, type FrameCounts } from '../stream/frame-counter.ts'

export type MotionWatchOptions = {
  readonly clock: Clock
  readonly settings: () => DetectorSettings
  readonly area: MotionArea
  /** Keeps what was judged, so that it can be replayed. */
  readonly cells: CellSink
  readonly onOutcome: (outcome: JudgeOutcome) => void
  /** Says whether the stream has too few pictures for motion to be found. */
  readonly fewPictures: () => Trouble
}

export type WatchCounts = FrameCounts & {
  /** Monotonic time of the newest frame. */
  readonly lastFrameMs: number | undefined
  readonly dropped: number
  readonly suppressed: number
  readonly scene: { readonly state: SceneState; readonly forSeconds: number }
  readonly impairment: Impaired
}

/** For this long after a change, the light has just changed. */
const lightMs = 5000
/** Frames that have been identical for this long are a still picture. */
const stillSeconds = 60

/** From the bytes of small pictures to motion events: the loop around `cells.ts` and `motion-judge.ts`, which decide. */
export class MotionWatch {
  readonly #needs: MotionWatchOptions
  readonly #splitter = new FrameSplitter()
  readonly #queue = new FrameQueue()
  readonly #view = new ViewWatch()
  readonly #comparer = new Comparer(frameSize, this.#view, (pixels) => this.#splitter.giveBack(pixels))
  readonly #judge: MotionJudge
  #scene: { state: SceneState; sinceMs: number } = { state: 'normal', sinceMs: 0 }
  readonly #judged = new JudgedShare()
  #still = neverBad
  #lightAtMs = -Infinity
  #counter = new FrameCounter()
  #draining = false
  #cancelTimer = () => {}

  constructor(options: MotionWatchOptions) {
    this.#needs = options
    this.#judge = new MotionJudge(options.area)
  }

  setArea(area: MotionArea): void {
    this.#judge.setArea(area)
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
    this.#judged.reset(this.#needs.clock.monotonic())
    this.#comparer.reset()
    this.#judge.reconnect()
    this.#needs.cells.reconnected()
  }

  /** Takes bytes and returns at once; they are scored in a later turn of the event loop. */
  push(bytes: Uint8Array): void {
    const frames = this.#splitter.push(bytes, this.#needs.clock.monotonic())
    for (const frame of frames) {
      const dropped = this.#queue.put(frame)
      if (dropped) this.#judged.add(dropped.takenMs, false)
    }
    if (this.#draining || frames.length === 0) return
    this.#draining = true
    setImmediate(() => this.#drain())
  }

  /** Ends an open clip at `lastPictureMs` (monotonic), when that is known to be the last picture; otherwise now. */
  interrupt(why: Interruption, lastPictureMs = Infinity): void {
    this.#queue.clear()
    const { clock, cells, settings } = this.#needs
    const nowMs = Math.floor(clock.monotonic())
    const endMs = Math.round(Math.min(nowMs, lastPictureMs))
    cells.interrupted({ why, endMs, nowMs })
    this.#tell(this.#judge.interrupt(why, endMs, nowMs, settings()))
  }

  counts(): WatchCounts {
    const { lastFrameMs } = this.#counter
    const { dropped } = this.#queue
    return {
      ...this.#counter.counts(this.#needs.clock.monotonic()),
      lastFrameMs,
      dropped,
      suppressed: this.#judge.suppressed,
      scene: this.#sceneNow(),
      impairment: this.#impairmentNow(),
    }
  }

  #impairmentNow(): Impaired {
    const nowMs = this.#needs.clock.monotonic()
    const isStill = this.#isStill(nowMs)
    if (isStill !== this.#still.isBad)
      this.#still = { isBad: isStill, sinceMs: isStill ? this.#counter.changedMs : nowMs }
    const { state, sinceFrames } = this.#view
    const viewMs = nowMs - (sinceFrames * 1000) / framesPerSecond
    return impairedBy({
      still: this.#still,
      covered: { isBad: state === 'covered', sinceMs: viewMs },
      turned: { isBad: state === 'turned', sinceMs: viewMs },
      few_pictures: this.#needs.fewPictures(),
      too_busy: this.#judged.trouble,
    })
  }

  #isStill(nowMs: number): boolean {
    return this.#counter.counts(nowMs).stillSeconds >= stillSeconds
  }

  #sceneNow(): WatchCounts['scene'] {
    const nowMs = this.#needs.clock.monotonic()
    const state = this.#sceneState(nowMs)
    if (state !== this.#scene.state) this.#scene = { state, sinceMs: nowMs }
    return { state, forSeconds: Math.floor((nowMs - this.#scene.sinceMs) / 1000) }
  }

  #sceneState(nowMs: number): SceneState {
    if (this.#isStill(nowMs)) return 'still'
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
    if (frame) this.#score(frame)
    this.#draining = !this.#queue.isEmpty
    if (this.#draining) setImmediate(() => this.#drain())
  }

  #score(frame: Frame): void {
    const cells = this.#comparer.push(frame.pixels)
    const times = coarseTimes(frame)
    const { score, outcomes } = this.#judge.frame(cells, times, this.#needs.settings())
    this.#needs.cells.frame(cells, times)
    if (score.whole === 'light') this.#lightAtMs = frame.arrivedMs
    this.#judged.add(frame.takenMs, true)
    this.#counter.add(frame, score, score.score > this.#needs.settings().sensitivity)
    this.#tell(outcomes)
  }

  #tell(outcomes: readonly JudgeOutcome[]): void {
    for (const outcome of outcomes) this.#needs.onOutcome(outcome)
    this.#arm()
  }

  /** Sets a timer, so that a clip ends although no frame comes any more. */
  #arm(): void {
    const { clock, settings } = this.#needs
    this.#cancelTimer()
    const dueMs = this.#judge.dueMs(settings())
    if (dueMs === undefined) return
    this.#cancelTimer = clock.after(Math.max(dueMs - clock.monotonic(), 0), () => {
      // Frames that wait came before the silence was long enough.
      this.#tell(this.#draining ? [] : this.#judge.silence(clock.monotonic(), settings()))
    })
  }
}
