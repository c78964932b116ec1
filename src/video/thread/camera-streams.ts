import type { Clock, Logger, RandomBytes } from '../../platform/index.ts'
import type { CameraSettings } from '../messages.ts'
import type { Trouble } from '../motion/impairment.ts'
import { type Missing, Ring } from '../stream/ring.ts'
import { Stream, type StreamOptions, type StreamPlan, type StreamState, type StreamView } from '../stream/stream.ts'
import { StreamRemark } from '../stream/stream-remark.ts'
import { detectPlan, keptStream, mainPlan, ringKeepMs, wantedStreams } from './camera-plan.ts'
import { statusEveryMs } from './camera-report.ts'

export type CameraStreamsNeeds = {
  /** Returns the settings as they are now. */
  readonly settings: () => CameraSettings
  readonly ffmpeg: StreamOptions['ffmpeg']
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  /** Returns the text of a secret file, without its line end. Throws when it cannot be read. */
  readonly readSecret: (path: string) => string
  /** Called when video of the recorded stream has come into its ring. */
  readonly onVideo: () => void
  /** Called when pictures were left out of the recorded stream, which went on. */
  readonly onMissing: (span: Missing) => void
  /** Takes small pictures, also late ones of a process that is being replaced. */
  readonly onFrames: (bytes: Buffer) => void
  /** Called when a process begins whose small pictures are judged. */
  readonly onJudgedBegin: () => void
  /** Called when the process of the recorded stream has ended, while its ring still has its last picture. */
  readonly onRecordedEnd: () => void
  /** Called when the view of a stream has changed. */
  readonly onView: () => void
}

/** Video of an open clip is read with each frame, and waits at most this long. */
const waitPromptMs = 300
/** All other video is read with each status, so that nothing else wakes this thread. */
const waitMs = statusEveryMs + 250
/** Frames that end within this have not come one by one. */
const atOnceMs = 100
/** From bad to good; a camera's state is the worse of its two streams. */
const fromBadToGood: readonly StreamState[] = ['backing-off', 'stalled', 'connecting', 'live', 'offline']

/** Runs the recorded stream of a camera and its stream for detection, if it has one, and says when their video is read. */
export class CameraStreams {
  readonly #needs: CameraStreamsNeeds
  readonly #ring: Ring
  /** Ring of the detection stream, while its video is kept. */
  readonly #detectRing: Ring
  readonly #remark: StreamRemark
  readonly #main: Stream
  #detect: Stream | undefined
  /** When the newest frame ended. */
  #frameMs = -Infinity

  constructor(needs: CameraStreamsNeeds) {
    this.#needs = needs
    this.#ring = new Ring({
      keepMs: ringKeepMs(needs.settings()),
      onJump: () => this.#main.broken('time-jump'),
      onMissing: needs.onMissing,
      onSizeChange: () => this.#main.broken('size-changed'),
    })
    this.#detectRing = new Ring({
      keepMs: 0,
      onJump: () => this.#detect?.broken('time-jump'),
      onSizeChange: () => this.#detect?.broken('size-changed'),
    })
    this.#remark = new StreamRemark({
      ring: this.#ring,
      clock: needs.clock,
      isJudged: () => needs.settings().detectUrl === null,
      isDamaged: (stream) => (stream === 'main' ? this.#main : this.#detect)?.isDamaged === true,
    })
    this.#main = this.#mainStream()
  }

  /** Returns the ring of the recorded stream. */
  get ring(): Ring {
    return this.#ring
  }

  /** Returns the ring of the detection stream, which is empty unless its video is kept. */
  get detectRing(): Ring {
    return this.#detectRing
  }

  /** Returns the ring whose video is kept continuously; undefined: none is. */
  get keptRing(): Ring | undefined {
    const kept = keptStream(this.#needs.settings())
    return kept === 'sub' ? this.#detectRing : kept === 'main' ? this.#ring : undefined
  }

  /** Returns the process ids of the running ffmpegs. */
  get pids(): readonly number[] {
    return [this.#main.pid, this.#detect?.pid].filter((pid) => pid !== undefined)
  }

  /** Returns the number of processes after the first of each stream. */
  get restarts(): number {
    return this.#main.restarts + (this.#detect?.restarts ?? 0)
  }

  /** Returns the view of the stream that is worse. */
  get view(): StreamView {
    const views = [this.#main.view, ...(this.#detect ? [this.#detect.view] : [])]
    const badness = ({ state }: StreamView) => fromBadToGood.indexOf(state)
    return views.reduce((worst, view) => (badness(view) < badness(worst) ? view : worst))
  }

  /** How long ago the newest picture came. With two streams, the one that has been without pictures for longer counts. */
  get pictureAgoMs(): number | undefined {
    const streams = [this.#main, ...(this.#detect ? [this.#detect] : [])]
    const running = streams.filter(({ view }) => view.state !== 'offline')
    const times = (running.length > 0 ? running : streams).map(({ pictureMs }) => pictureMs)
    if (times.includes(undefined)) return undefined
    return Math.max(this.#needs.clock.monotonic() - Math.min(...times.map((ms) => ms ?? 0)), 0)
  }

  /** Whether the judged stream has too few pictures, and since when. */
  get fewPictures(): Trouble {
    return this.#remark.fewPictures
  }

  /** Starts and stops the streams as the settings want it. */
  run(): void {
    const wanted = wantedStreams(this.#needs.settings())
    if (wanted.main) this.#main.start()
    else void this.#main.stop()
    if (wanted.detect) {
      this.#detect ??= this.#detectStream()
      this.#detect.start()
    } else void this.#detect?.stop()
  }

  /** Replaces the process of each stream that is named, because its settings have changed. */
  reconfigure({ main, detect }: { readonly main: boolean; readonly detect: boolean }): void {
    const { settings, readSecret } = this.#needs
    if (main) this.#main.reconfigure(mainPlan(settings(), readSecret))
    if (detect) this.#detect?.reconfigure(detectPlan(settings(), readSecret))
  }

  /** Ends a wait, so that the next attempt starts now. */
  retry(): void {
    this.#main.retry()
    this.#detect?.retry()
  }

  /** Reads the password again, since it may have been corrected. */
  recheckCredentials(): void {
    this.#main.recheckCredentials()
    this.#detect?.recheckCredentials()
  }

  /** Notes that this thread was held up. */
  overslept(): void {
    this.#main.overslept()
    this.#detect?.overslept()
  }

  /** Reads the video that waits into the rings. The wait of later video is set anew. */
  read(): void {
    this.#main.read()
    this.#detect?.read()
  }

  /** Ends the streams; resolves when no ffmpeg of theirs is left. */
  async stop(): Promise<void> {
    await Promise.all([this.#main.stop(), this.#detect?.stop()])
  }

  #mainStream(): Stream {
    const { settings, clock, readSecret, onJudgedBegin, onRecordedEnd } = this.#needs
    return new Stream({
      ...this.#streamOptions(mainPlan(settings(), readSecret), this.#ring),
      onVideo: (bytes, sinceMs) => this.#video(bytes, sinceMs),
      onBegin: () => {
        this.#ring.begin(clock.monotonic())
        if (settings().detectUrl === null) onJudgedBegin()
      },
      onEnd: (why) => {
        onRecordedEnd()
        this.#ring.restart(why)
        this.#remark.restart()
      },
    })
  }

  #detectStream(): Stream {
    const { settings, clock, readSecret, onJudgedBegin } = this.#needs
    return new Stream({
      ...this.#streamOptions(detectPlan(settings(), readSecret), this.#detectRing),
      onVideo: (bytes, sinceMs) => {
        this.#detectRing.push(bytes, clock.monotonic(), sinceMs)
        return this.#detectRing.newestMs
      },
      onBegin: () => {
        this.#detectRing.begin(clock.monotonic())
        onJudgedBegin()
      },
      // An open clip gets its post-roll from the other stream.
      onEnd: () => this.#detectRing.restart(),
    })
  }

  #streamOptions(plan: StreamPlan, ring: Ring): Omit<StreamOptions, 'onBegin' | 'onEnd' | 'onVideo'> {
    const { ffmpeg, clock, random, log, settings, onFrames, onView } = this.#needs
    return {
      ...{ plan, ffmpeg, clock, random, log, onFrames, onView },
      // A viewer sees each picture when it comes. Late video must not become later still.
      mostWaitMs: () => {
        if (settings().streaming || !ring.isPunctual(clock.monotonic())) return 0
        return ring.isPrompt ? waitPromptMs : waitMs
      },
      beforeFrame: () => this.#beforeFrame(),
    }
  }

  #video(bytes: Buffer, sinceMs: number): number | undefined {
    this.#ring.push(bytes, this.#needs.clock.monotonic(), sinceMs)
    this.#needs.onVideo()
    this.#main.remark(this.#remark.now())
    return this.#ring.newestMs
  }

  /**
   * Reads the video of an open clip. Reads it too when frames come at once. Those may be late, so that nothing may wait. Or they
   * fill a jump of the stream's clock, which the video shows before too many are judged.
   */
  #beforeFrame(): void {
    const nowMs = this.#needs.clock.monotonic()
    if (this.#ring.isPrompt || nowMs - this.#frameMs < atOnceMs) this.read()
    this.#frameMs = nowMs
  }
}
