import type { Clock } from '../../platform/index.ts'
import { type PreRollProblem, preRollProblem } from '../clips/pre-roll.ts'
import type { EventsView } from '../events/rule-book.ts'
import type { CameraSettings, FromCameras } from '../messages.ts'
import { plainWords } from '../problems.ts'
import type { Missing, Ring } from '../stream/ring.ts'
import type { StreamView } from '../stream/stream.ts'
import type { WatchCounts } from './motion-watch.ts'
import { isJudging } from './plan.ts'

export type CameraReportNeeds = {
  /** Returns the settings as they are now. */
  readonly settings: () => CameraSettings
  readonly streams: {
    readonly view: StreamView
    readonly restarts: number
    readonly pictureAgoMs: number | undefined
    /** Ring of the recorded stream. */
    readonly ring: Ring
  }
  /** Returns the counts of motion detection. */
  readonly counts: () => WatchCounts
  /** Returns what the camera's own analytics report; undefined while they do not count. */
  readonly events: () => EventsView | undefined
  readonly clock: Clock
  readonly emit: (message: FromCameras) => void
}

/** A status is due this often. */
export const statusEveryMs = 1000
/** A camera that is only recorded says that nothing has changed this often. systemd's watch over live cameras needs a minute. */
const sameStatusEveryMs = 15_000

/** Reports one camera to the main thread: its state when that changes, its status, and pictures that never came. */
export class CameraReport {
  readonly #needs: CameraReportNeeds
  #sentView: StreamView = { state: 'offline', problem: null }
  /** Facts of the last status that do not change all the time, and when it was sent. */
  #sentStatus = { facts: '', atMs: -Infinity }

  constructor(needs: CameraReportNeeds) {
    this.#needs = needs
  }

  /** Says whether a status tells something new, or the last one is old. */
  get hasNews(): boolean {
    const { facts, atMs } = this.#sentStatus
    return this.#statusFacts() !== facts || this.#needs.clock.monotonic() - atMs >= sameStatusEveryMs
  }

  /** Sends the status: counts, rates, and the impairment of the camera. */
  tellStatus(): void {
    const { settings, streams, clock, emit } = this.#needs
    const { lastFrameMs, dropped, suppressed, impairment, wakefulness, ...counts } = this.#needs.counts()
    const { groupMs, picturesPerSecond, sizeBytes, playableMs } = streams.ring
    this.#sentStatus = { facts: this.#statusFacts(), atMs: clock.monotonic() }
    emit({
      type: 'status',
      cameraId: settings().cameraId,
      state: this.#sentView.state,
      pictureAgoMs: streams.pictureAgoMs,
      ...counts,
      lastFrameAt: lastFrameMs === undefined ? null : Math.round(clock.now() - clock.monotonic() + lastFrameMs),
      streamFps: picturesPerSecond === undefined ? null : Math.round(picturesPerSecond * 10) / 10,
      restarts: streams.restarts,
      droppedFrames: dropped,
      suppressedSceneChanges: suppressed,
      impairment: { why: impairment.why, agoMs: Math.max(clock.monotonic() - impairment.sinceMs, 0) },
      ringBytes: sizeBytes,
      heldSeconds: Math.round(playableMs) / 1000,
      preRollProblem: this.#preRollProblem,
      decoder: isJudging(settings())
        ? { state: wakefulness.kind, why: wakefulness.kind === 'asleep' ? null : wakefulness.why }
        : undefined,
      events: this.#needs.events(),
      keyFrameSeconds: groupMs === undefined ? null : Math.round(groupMs) / 1000,
    })
  }

  /** Sends the state, unless it was sent before. */
  tellState(): void {
    const { settings, streams, clock, emit } = this.#needs
    const { view } = streams
    if (view.state === this.#sentView.state && view.problem === this.#sentView.problem) return
    this.#sentView = view
    const { state, problem } = view
    const words = problem === null ? null : plainWords(problem)
    const { cameraId } = settings()
    emit({ type: 'state', cameraId, state, problem, words, at: clock.now(), pictureAgoMs: streams.pictureAgoMs })
  }

  /** Reports that pictures between two moments (monotonic) never came. */
  tellMissing({ fromMs, toMs }: Missing): void {
    const { settings, clock, emit } = this.#needs
    const nowMs = clock.monotonic()
    emit({
      type: 'picturesMissing',
      cameraId: settings().cameraId,
      fromAgoMs: nowMs - fromMs,
      toAgoMs: nowMs - toMs,
    })
  }

  #statusFacts(): string {
    const { restarts, ring } = this.#needs.streams
    return JSON.stringify([this.#sentView, restarts, this.#preRollProblem, ring.groupMs === undefined])
  }

  get #preRollProblem(): PreRollProblem | null {
    const { settings, streams } = this.#needs
    return preRollProblem(streams.ring, settings().motion.preRecordSeconds * 1000)
  }
}
