import type { Clock, Logger, RandomBytes } from '../../platform/index.ts'
import { RingDecoder, unfitBecause } from '../decoding/ring-decoder.ts'
import type { AwakeReason, WakeCommand } from '../decoding/wakefulness.ts'
import type { CameraSettings } from '../messages.ts'
import type { Trouble } from '../motion/impairment.ts'
import type { Picture } from '../motion/picture-judge.ts'
import { StreamRemark } from '../stream/remark.ts'
import { type Missing, Ring } from '../stream/ring.ts'
import { Stream, type StreamOptions, type StreamPlan, type StreamState, type StreamView } from '../stream/stream.ts'
import { detectPlan, isJudging, keptStream, mainPlan, ringKeepMs, wantedStreams } from './plan.ts'
import { statusEveryMs } from './report.ts'

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
  /** Takes small pictures that were decoded from a ring. */
  readonly onPicture: (picture: Picture) => void
  /** Called with the time of a picture that was not decoded, because its decoder is behind. */
  readonly onLeftOut: (takenMs: number) => void
  /** Called when a sleeping decoder has not returned the next key frame in time. */
  readonly onOverdue: (why: AwakeReason) => void
  /** Called when a process begins whose small pictures are judged. */
  readonly onJudgedBegin: () => void
  /** Called when the process of the recorded stream has ended, while its ring still has its last picture. */
  readonly onRecordedEnd: () => void
  /** Called when the view of a stream has changed. */
  readonly onView: () => void
}

/** Video of an open clip is read with each frame, and waits at most this long. */
const waitPromptMs = 300
/** While it is decoded it is read as often as pictures are judged, and while its decoder sleeps twice a second. */
const waitDecodedMs = 200
const waitAsleepMs = 500
/** All other video is read with each status, so that nothing else wakes this thread. */
const waitMs = statusEveryMs + 250
/** The detection stream is in memory for so long, so that its decoder can wake. */
const detectKeepMs = 3000
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
  readonly #decoders: { readonly main: RingDecoder; readonly detect: RingDecoder }
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
      keepMs: detectKeepMs,
      onJump: () => this.#detect?.broken('time-jump'),
      onSizeChange: () => this.#detect?.broken('size-changed'),
    })
    this.#remark = new StreamRemark({
      ring: this.#ring,
      clock: needs.clock,
      decoderFails: () => this.decoderTrouble.isBad,
      isJudged: () => needs.settings().detectUrl === null,
      isDamaged: (stream) => (stream === 'main' ? this.#main : this.#detect)?.isDamaged === true,
    })
    this.#main = this.#mainStream()
    this.#decoders = { main: this.#decoder('main', this.#ring), detect: this.#decoder('detect', this.#detectRing) }
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

  /** Returns the process id of the running decoder. */
  get decoderPid(): number | undefined {
    return this.#decoders[this.#judged].pid
  }

  /** Returns the process ids of the ffmpegs that have a connection. */
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

  /** Whether the decoder of the judged stream fails, and since when. */
  get decoderTrouble(): Trouble {
    return this.#decoders[this.#judged].trouble
  }

  /** Why the key frames of the judged stream cannot stand for its pictures; null: they can. */
  get unfit(): AwakeReason | null {
    const judged = this.#judged
    const stream = judged === 'main' ? this.#main : this.#detect
    return stream?.decodes ? 'codec' : unfitBecause(judged === 'main' ? this.#ring : this.#detectRing)
  }

  /** Has the decoder of the judged stream sleep or wake. */
  decode(command: WakeCommand): void {
    this.#decoders[this.#judged].obey(command)
  }

  get #judged(): 'main' | 'detect' {
    return this.#needs.settings().detectUrl === null ? 'main' : 'detect'
  }

  /** Starts and stops the streams and their decoders as the settings want it. */
  run(): void {
    const isJudged = isJudging(this.#needs.settings())
    for (const name of ['main', 'detect'] as const) {
      if (isJudged && name === this.#judged) this.#decoders[name].start()
      else this.#decoders[name].stop()
    }
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
    this.#decoders.main.stop()
    this.#decoders.detect.stop()
    await Promise.all([this.#main.stop(), this.#detect?.stop()])
  }

  #mainStream(): Stream {
    const { settings, clock, readSecret, onJudgedBegin, onRecordedEnd } = this.#needs
    return new Stream({
      ...this.#streamOptions('main', mainPlan(settings(), readSecret), this.#ring),
      onVideo: (bytes, sinceMs) => this.#video(bytes, sinceMs),
      onBegin: () => {
        this.#ring.begin(clock.monotonic())
        if (this.#main.decodes && this.#judged === 'main') onJudgedBegin()
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
      ...this.#streamOptions('detect', detectPlan(settings(), readSecret), this.#detectRing),
      onVideo: (bytes, sinceMs) => {
        this.#detectRing.push(bytes, clock.monotonic(), sinceMs)
        this.#noteCodec('detect')
        return this.#detectRing.newestMs
      },
      onBegin: () => {
        this.#detectRing.begin(clock.monotonic())
        if (this.#detect?.decodes) onJudgedBegin()
      },
      // An open clip gets its post-roll from the other stream.
      onEnd: () => this.#detectRing.restart(),
    })
  }

  #decoder(name: 'main' | 'detect', ring: Ring): RingDecoder {
    const { ffmpeg, clock, log, onJudgedBegin, onPicture, onLeftOut, onOverdue } = this.#needs
    const stream = () => (name === 'main' ? this.#main : this.#detect)
    return new RingDecoder({
      ...{ ring, ffmpeg, clock, log, onPicture, onLeftOut, onOverdue },
      mayBegin: () => stream()?.decodes === false,
      onBegin: onJudgedBegin,
      onMessage: (text) => stream()?.noteMessage(text),
    })
  }

  /** A codec that cannot be cut out of the ring is decoded as it comes. */
  #noteCodec(name: 'main' | 'detect'): void {
    const [ring, stream] = name === 'main' ? [this.#ring, this.#main] : [this.#detectRing, this.#detect]
    if (isJudging(this.#needs.settings()) && name === this.#judged && ring.newest && ring.codec === 'other')
      stream?.decodeDirectly()
  }

  #streamOptions(
    name: 'main' | 'detect',
    plan: StreamPlan,
    ring: Ring,
  ): Omit<StreamOptions, 'onBegin' | 'onEnd' | 'onVideo'> {
    const { ffmpeg, clock, random, log, settings, onFrames, onView } = this.#needs
    return {
      ...{ plan, ffmpeg, clock, random, log, onFrames, onView },
      // A viewer sees each picture when it comes. Late video must not become later still.
      mostWaitMs: () => {
        if (settings().streaming || !ring.isPunctual(clock.monotonic())) return 0
        const { isDecoding, isAsleep } = this.#decoders[name]
        if (isDecoding) return isAsleep ? waitAsleepMs : waitDecodedMs
        return ring.isPrompt ? waitPromptMs : waitMs
      },
      beforeFrame: () => this.#beforeFrame(),
    }
  }

  #video(bytes: Buffer, sinceMs: number): number | undefined {
    this.#ring.push(bytes, this.#needs.clock.monotonic(), sinceMs)
    this.#noteCodec('main')
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
