import type { Clock } from '../../platform/index.ts'
import { FrameQueue, FrameSplitter, framesPerSecond } from '../decoding/frames.ts'
import type { AwakeReason, WakeCommand, Wakefulness } from '../decoding/wakefulness.ts'
import type { CellSink } from '../history/cell-recorder.ts'
import type { DetectorSettings, Interruption } from '../motion/detector.ts'
import { type Impaired, impairedBy, JudgedShare, neverBad, type Trouble } from '../motion/impairment.ts'
import type { MotionArea } from '../motion/mask.ts'
import type { CameraFinding, JudgeOutcome } from '../motion/motion-judge.ts'
import { type JudgedPicture, type Picture, PictureJudge } from '../motion/picture-judge.ts'
import type { SceneState } from '../motion/view-watch.ts'
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
  /** Says whether the decoder of the pictures fails. */
  readonly decoderTrouble: () => Trouble
  /** Says whether the camera's analytics alone find motion, and give no events. */
  readonly eventsTrouble: () => Trouble
  /** Says why key frames cannot stand for the pictures of the stream; null: they can. */
  readonly unfit: () => AwakeReason | null
  /** Takes what the decoder is to do. */
  readonly onCommand: (command: WakeCommand) => void
}

export type WatchCounts = FrameCounts & {
  /** Monotonic time of the newest frame. */
  readonly lastFrameMs: number | undefined
  readonly dropped: number
  readonly suppressed: number
  readonly scene: { readonly state: SceneState; readonly forSeconds: number }
  readonly impairment: Impaired
  readonly wakefulness: Wakefulness
}

/** For this long after a change, the light has just changed. */
const lightMs = 5000
/** Frames that have been identical for this long are a still picture. */
const stillSeconds = 60

/** From the bytes of small pictures to motion events: the loop around `picture-judge.ts`, which decides. */
export class MotionWatch {
  readonly #needs: MotionWatchOptions
  readonly #splitter = new FrameSplitter()
  readonly #queue = new FrameQueue<Picture>()
  readonly #judge: PictureJudge
  #scene: { state: SceneState; sinceMs: number } = { state: 'normal', sinceMs: 0 }
  readonly #judged = new JudgedShare()
  #still = neverBad
  #lightAtMs = -Infinity
  #counter = new FrameCounter()
  #draining = false
  #cancelTimer = () => {}

  constructor(options: MotionWatchOptions) {
    this.#needs = options
    this.#judge = new PictureJudge(options.area)
  }

  setArea(area: MotionArea): void {
    this.#judge.setArea(area)
  }

  /** Accepts what the camera shows from now on. */
  acceptView(): void {
    this.#judge.view.accept()
  }

  /** Starts the counters at 0: detection was started. */
  restartCounting(): void {
    this.#counter = new FrameCounter()
  }

  /** Forgets frames and references: another connection begins. */
  reconnect(): void {
    this.#splitter.reset()
    this.#queue.clear()
    const nowMs = this.#needs.clock.monotonic()
    this.#judged.reset(nowMs)
    this.#judge.reconnect(nowMs)
    this.#needs.cells.reconnected()
  }

  /** Takes bytes and returns at once; they are scored in a later turn of the event loop. */
  push(bytes: Uint8Array): void {
    for (const frame of this.#splitter.push(bytes, this.#needs.clock.monotonic())) this.put({ ...frame, isFrame: true })
  }

  /** Takes a picture and returns at once; it is scored in a later turn of the event loop. */
  put(picture: Picture): void {
    const dropped = this.#queue.put(picture)
    if (dropped) this.leftOut(dropped.takenMs)
    if (this.#draining) return
    this.#draining = true
    setImmediate(() => this.#drain())
  }

  /** Takes what the camera's analytics have found. */
  report(found: CameraFinding): void {
    const { clock, settings } = this.#needs
    this.#tell(this.#judge.report(found, Math.floor(clock.monotonic()), settings()))
  }

  /** Notes that a picture of this time is not judged, because the gateway is behind. */
  leftOut(takenMs: number): void {
    this.#judged.add(takenMs, false)
  }

  /** Notes that a sleeping decoder has not returned the next key frame in time. */
  overdue(why: AwakeReason): void {
    this.#obey(this.#judge.overdue(why, this.#needs.clock.monotonic()))
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
      wakefulness: this.#judge.wakefulness,
    }
  }

  #impairmentNow(): Impaired {
    const nowMs = this.#needs.clock.monotonic()
    const isStill = this.#isStill(nowMs)
    if (isStill !== this.#still.isBad)
      this.#still = { isBad: isStill, sinceMs: isStill ? this.#counter.changedMs : nowMs }
    const { state, sinceFrames } = this.#judge.view
    const viewMs = nowMs - (sinceFrames * 1000) / framesPerSecond
    return impairedBy({
      still: this.#still,
      covered: { isBad: state === 'covered', sinceMs: viewMs },
      turned: { isBad: state === 'turned', sinceMs: viewMs },
      few_pictures: this.#needs.fewPictures(),
      too_busy: this.#notJudged(),
      no_events: this.#needs.eventsTrouble(),
    })
  }

  /** Whether most pictures are not looked at: because the gateway is behind, or its decoder fails. */
  #notJudged(): Trouble {
    const [judged, decoder] = [this.#judged.trouble, this.#needs.decoderTrouble()]
    if (judged.isBad !== decoder.isBad) return judged.isBad ? judged : decoder
    return judged.sinceMs > decoder.sinceMs === judged.isBad ? decoder : judged
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
    if (this.#judge.view.state !== 'normal') return this.#judge.view.state
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

  #score(picture: Picture): void {
    const { settings, unfit } = this.#needs
    const { judged, outcomes, command } = this.#judge.push(picture, unfit(), settings())
    // Before an outcome: it may begin a clip, whose pictures are to be decoded.
    this.#obey(command)
    if (judged) this.#count(judged)
    this.#tell(outcomes)
  }

  #count({ picture, cells, times, score }: JudgedPicture): void {
    this.#needs.cells.frame(cells, times)
    if (score.whole === 'light') this.#lightAtMs = picture.arrivedMs
    this.#judged.add(picture.takenMs, true)
    this.#counter.add(picture, score, score.score > this.#needs.settings().sensitivity)
  }

  #obey(command: WakeCommand | undefined): void {
    if (command) this.#needs.onCommand(command)
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
