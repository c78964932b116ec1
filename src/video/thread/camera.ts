import type { Clock, Logger, RandomBytes } from '../../platform/index.ts'
import type { ClipTools } from '../clips/clip-loss.ts'
import type { ClipResult } from '../clips/clip-making.ts'
import { CellRecorder, type CellShelf } from '../history/cell-recorder.ts'
import type { History } from '../history/history.ts'
import { LiveFeeds } from '../live/live-feed.ts'
import type { CameraSettings, FromCameras, LiveFormat } from '../messages.ts'
import type { CameraFinding } from '../motion/motion-judge.ts'
import { times } from '../stream/connection.ts'
import type { Ring } from '../stream/ring.ts'
import { ageMs, freshGroup, lastPicture } from '../stream/snapshot.ts'
import type { StreamOptions } from '../stream/stream.ts'
import type { VideoMemory } from '../video-memory.ts'
import { CameraEvents } from './camera-events.ts'
import { CameraStreams } from './camera-streams.ts'
import { CameraMemory } from './memory.ts'
import { MotionClips } from './motion-clips.ts'
import { MotionWatch } from './motion-watch.ts'
import { changed, detectorSettings, isJudging, keptStream, ringKeepMs } from './plan.ts'
import { CameraReport, statusEveryMs } from './report.ts'

export type CameraOptions = {
  readonly settings: CameraSettings
  readonly ffmpeg: StreamOptions['ffmpeg']
  readonly tools: ClipTools
  readonly history: Pick<History, 'keep' | 'pendingBytes' | 'shed'>
  /** Store for the results of motion detection. */
  readonly cells: CellShelf
  /** Shared by all cameras. */
  readonly memory: VideoMemory
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Logger
  /** Returns the text of a secret file, without its line end. Throws when it cannot be read. */
  readonly readSecret: (path: string) => string
  /** Resolves with an unused detection id. Rejects when the thread ends. */
  readonly reserveId: () => Promise<number>
  /** Posts a message; the buffers of `handOver` belong to the receiver afterwards. */
  readonly emit: (message: FromCameras, handOver?: readonly ArrayBuffer[]) => void
  /** Runs a decoder in turn, so that snapshots of many cameras do not take all processors. */
  readonly decodeInTurn: <T>(task: () => Promise<T>) => Promise<T>
}

/** A camera that was just connected needs this long for its first picture. */
const snapshotWithinMs = 8000

/** The newest picture is this old at most while a stream goes on. */
const goesOnWithinMs = 3000

/** Runs one camera in the cameras thread: connects its streams, motion detection, clips, live view and reports. */
export class Camera {
  readonly #needs: CameraOptions
  #settings: CameraSettings
  readonly #streams: CameraStreams
  readonly #cells: CellRecorder
  readonly #watch: MotionWatch
  readonly #clips: MotionClips
  readonly #events: CameraEvents
  readonly #live: LiveFeeds
  readonly #report: CameraReport
  readonly #leaveMemory: () => void
  #cancelStatus = () => {}

  constructor(options: CameraOptions) {
    const { ffmpeg, tools, reserveId, history, clock, log, emit } = options
    this.#needs = options
    this.#settings = options.settings
    const { cameraId } = options.settings
    const settings = () => this.#settings
    this.#streams = this.#makeStreams()
    const { ring, detectRing } = this.#streams
    this.#cells = new CellRecorder({ cameraId, shelf: options.cells, clock })
    this.#clips = new MotionClips({ settings, ring, tools, clock, log, reserveId, emit })
    this.#watch = new MotionWatch({
      clock,
      cells: this.#cells,
      area: options.settings.motion,
      settings: () => detectorSettings(this.#settings.motion),
      onOutcome: (outcome) => {
        // Clips begin and end with the frames.
        this.readVideo()
        this.#clips.take(outcome)
      },
      fewPictures: () => this.#streams.fewPictures,
      decoderTrouble: () => this.#streams.decoderTrouble,
      eventsTrouble: () => this.#events.trouble,
      unfit: () => this.#streams.unfit,
      onCommand: (command) => this.#streams.decode(command),
    })
    this.#events = new CameraEvents({
      ...{ settings, clock, random: options.random, log, readSecret: options.readSecret },
      onFound: (found, isNew) => this.#found(found, isNew),
    })
    this.#live = new LiveFeeds({ ffmpeg: ffmpeg.path, cameraId, ring, clock, log, emit })
    this.#report = new CameraReport({
      settings,
      streams: this.#streams,
      counts: () => this.#watch.counts(),
      events: () => this.#events.view,
      clock,
      emit,
    })
    const { spooling } = this.#clips
    this.#leaveMemory = options.memory.add(new CameraMemory({ settings, ring, detectRing, history, spooling }))
  }

  /** Returns the process id of the ffmpeg that decodes for motion detection, while one runs. */
  get decoderPid(): number | undefined {
    return this.#streams.decoderPid
  }

  /** Returns the process ids of this camera's ffmpegs that have a connection. */
  get pids(): readonly number[] {
    return this.#streams.pids
  }

  /** Returns the ring of the recorded stream. */
  get ring(): Ring {
    return this.#streams.ring
  }

  /**
   * Resolves with the open clip of motion once it was reported, if it was to begin by this time (monotonic). Resolves with
   * undefined if the clip could not be made at once. Undefined when there is none.
   */
  openClip(fromMs: number): Promise<ClipResult | undefined> | undefined {
    return this.#clips.openClip(fromMs)
  }

  start(): void {
    this.#run()
    this.#beat()
  }

  /** Applies settings. A stream is replaced only when its own settings changed. */
  update(settings: CameraSettings): void {
    // Before anything ends: output that a process has written is dropped once it is to end.
    this.readVideo()
    const before = this.#settings
    const { area, main, detect } = changed(before, settings)
    this.#settings = settings
    this.ring.keepMs = ringKeepMs(settings)
    if (area) this.#watch.setArea(settings.motion)
    if (before.detecting && !settings.detecting) this.#watch.interrupt('stopped')
    if (!before.detecting && settings.detecting) this.#watch.restartCounting()
    this.#streams.reconfigure({ main, detect })
    this.#run()
    // Once more: what comes now may wait for another time.
    this.readVideo()
    this.#report.tellStatus()
  }

  /** Ends a wait, so that the next attempt starts now, and accepts what the camera shows. */
  retry(): void {
    this.#watch.acceptView()
    this.#streams.retry()
    this.#events.retry()
  }

  /** Reads the password again, since it may have been corrected. */
  recheckCredentials(): void {
    this.#streams.recheckCredentials()
    this.#events.recheckCredentials()
  }

  /** Reads the video that waits into the ring. The wait of later video is set anew. */
  readVideo(): void {
    this.#streams.read()
  }

  /** Hands over the cells that were judged. */
  flushCells(): void {
    this.#cells.flush()
  }

  /** Begins to send live pictures in a format, under the number of the feed; null: ends it. */
  live(format: LiveFormat, feed: number | null): void {
    this.readVideo()
    this.#live.want(format, feed)
  }

  /** Sends the newest picture as PNG, or says that there is none. Never rejects. */
  async snapshot(ask: number): Promise<void> {
    const { clock, ffmpeg, emit, log, decodeInTurn } = this.#needs
    try {
      this.readVideo()
      const group = await freshGroup(this.ring, clock, snapshotWithinMs)
      const takenAt = Math.round(clock.now() - ageMs(this.ring, clock))
      if (!group) return emit({ type: 'snapshotFailed', ask, why: 'no-picture' })
      const png = await decodeInTurn(() => lastPicture(ffmpeg.path, group))
      emit({ type: 'snapshotTaken', ask, takenAt, png }, [png.buffer])
    } catch (err) {
      log.warn({ err }, 'no picture could be taken from a live camera')
      emit({ type: 'snapshotFailed', ask, why: 'unreadable' })
    }
  }

  /** Reads what waits, closes an open clip and ends the streams; resolves when no ffmpeg of theirs is left. */
  async stop(): Promise<void> {
    this.readVideo()
    this.#cancelStatus()
    this.#live.stop()
    this.#settings = { ...this.#settings, detecting: false, streaming: false }
    this.#needs.history.keep(this.#settings.cameraId, this.#settings.history.hours, undefined)
    this.#watch.interrupt('stopped')
    await Promise.all([this.#streams.stop(), this.#events.stop()])
    this.#watch.stop()
    this.#cells.flush()
  }

  /** Resolves when no clip is being finished: each is on disk, or reported as lost. */
  async settled(): Promise<void> {
    await this.#clips.settled()
    this.#leaveMemory()
  }

  #makeStreams(): CameraStreams {
    const { ffmpeg, clock, random, log, readSecret, memory } = this.#needs
    return new CameraStreams({
      ...{ ffmpeg, clock, random, log, readSecret },
      settings: () => this.#settings,
      onVideo: () => memory.settle(),
      onMissing: (span) => this.#report.tellMissing(span),
      // Drops late output of a process that is being replaced.
      onFrames: (bytes) => {
        if (isJudging(this.#settings)) this.#watch.push(bytes)
      },
      onPicture: (picture) => {
        if (isJudging(this.#settings)) this.#watch.put(picture)
      },
      onLeftOut: (takenMs) => this.#watch.leftOut(takenMs),
      onOverdue: (why) => this.#watch.overdue(why),
      onJudgedBegin: () => this.#watch.reconnect(),
      // Without video there is nothing to record, even if detection has a separate stream.
      onRecordedEnd: () => this.#watch.interrupt('stream-ended', this.ring.newestMs),
      onView: () => this.#report.tellState(),
    })
  }

  #run(): void {
    this.#streams.run()
    this.#events.run()
    const { cameraId, history } = this.#settings
    this.#needs.history.keep(cameraId, history.hours, this.#streams.keptRing)
  }

  /** Without pictures, what goes on begins no further clip. */
  #found(found: Omit<CameraFinding, 'isNew'>, isNew: boolean): void {
    const agoMs = this.#streams.pictureAgoMs
    if (isNew || (agoMs !== undefined && agoMs < goesOnWithinMs)) this.#watch.report({ ...found, isNew })
  }

  #beat(): void {
    const { clock } = this.#needs
    const dueMs = clock.monotonic() + statusEveryMs
    this.#cancelStatus = clock.after(statusEveryMs, () => {
      // Before the watchdogs of the streams: what falls due earlier fires first.
      if (clock.monotonic() - dueMs > times.heldUpMs) this.#streams.overslept()
      const { detecting, streaming } = this.#settings
      if (!streaming) this.readVideo()
      if (detecting || streaming || (keptStream(this.#settings) && this.#report.hasNews)) this.#report.tellStatus()
      this.#beat()
    })
  }
}
