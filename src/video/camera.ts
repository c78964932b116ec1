import type { Clock, Logger, RandomBytes } from '../platform/index.ts'
import { CellRecorder, type CellShelf } from './cell-recorder.ts'
import { Recording } from './clip.ts'
import type { ClipResult, ClipTools } from './clip-making.ts'
import { times } from './connection.ts'
import type { DetectorSettings, Fired } from './detector.ts'
import type { History } from './history.ts'
import { neverBad } from './impairment.ts'
import { LiveFeeds } from './live-feed.ts'
import type { CameraSettings, FromCameras, LiveFormat, MotionOptions } from './messages.ts'
import type { JudgeOutcome } from './motion-judge.ts'
import { MotionWatch } from './motion-watch.ts'
import { PicturePace } from './picture-pace.ts'
import { preRollProblem } from './pre-roll.ts'
import { type Problem, plainWords } from './problems.ts'
import { type Missing, Ring } from './ring.ts'
import { ageMs, freshGroup, lastPicture } from './snapshot.ts'
import { Stream, type StreamOptions, type StreamPlan, type StreamState, type StreamView } from './stream.ts'
import type { VideoMemory } from './video-memory.ts'

export type CameraOptions = {
  readonly settings: CameraSettings
  readonly ffmpeg: StreamOptions['ffmpeg']
  readonly tools: ClipTools
  readonly history: Pick<History, 'keep' | 'pendingBytes' | 'shed'>
  /** Where what motion detection judged is kept. */
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

const statusEveryMs = 1000
/** Video of an open clip is read with each frame, and waits at most this long. */
const waitPromptMs = 300
/** All other video is read with each status, so that nothing else wakes this thread. */
const waitMs = statusEveryMs + 250
/** Frames that end within this have not come one by one. */
const atOnceMs = 100
/** A camera that is only recorded says that nothing has changed this often. systemd's watch over live cameras needs a minute. */
const sameStatusEveryMs = 15_000
/** A camera that was just connected needs this long for its first picture. */
const snapshotWithinMs = 8000
const longestKeylessMs = 60_000
/** The ring keeps this much more than the pre-roll: the time from the start of motion to its clip. */
const ringSlackMs = 2000
/** The same for the film of an event: a scanner sends it some seconds late. */
const filmSlackMs = 5000
/** From bad to good; a camera's state is the worse of its two streams. */
const fromBadToGood: readonly StreamState[] = ['backing-off', 'stalled', 'connecting', 'live', 'offline']

/** Runs one camera in the cameras thread: its streams, ring, scores, detector and clips. */
export class Camera {
  readonly #needs: CameraOptions
  readonly #ring: Ring
  /** Of the detection stream, while its video is kept. */
  readonly #detectRing: Ring
  readonly #pace = new PicturePace()
  readonly #watch: MotionWatch
  readonly #cells: CellRecorder
  readonly #main: Stream
  readonly #live: LiveFeeds
  readonly #finishing = new Set<Promise<void>>()
  #settings: CameraSettings
  #detect: Stream | undefined
  /** Clips whose spools are open. */
  readonly #spooling = new Set<Recording>()
  readonly #leaveMemory: () => void
  /** The newest clip; its id may still be on its way. */
  #recording: Promise<Recording | undefined> = Promise.resolve(undefined)
  /** The newest clip until it was reported, or could not be made at once: when it begins, and its result. */
  #clip: (PromiseWithResolvers<ClipResult | undefined> & { readonly fromMs: number }) | undefined
  #sentView: StreamView = { state: 'offline', problem: null }
  /** What the last status said that does not change all the time, and when it did. */
  #sentStatus = { facts: '', atMs: -Infinity }
  /** When the newest frame ended. */
  #frameMs = -Infinity
  /** Whether the stream that is judged has too few pictures. Of a separate detection stream that is not known. */
  #few = neverBad
  #cancelStatus = () => {}

  constructor(options: CameraOptions) {
    const { settings, clock } = options
    this.#needs = options
    this.#settings = settings
    this.#ring = new Ring({
      keepMs: ringKeepMs(settings),
      onJump: () => this.#main.broken('time-jump'),
      onMissing: (span) => this.#tellMissing(span),
      onSizeChange: () => this.#main.broken('size-changed'),
    })
    this.#detectRing = new Ring({
      keepMs: 0,
      onJump: () => this.#detect?.broken('time-jump'),
      onSizeChange: () => this.#detect?.broken('size-changed'),
    })
    this.#cells = new CellRecorder({ cameraId: settings.cameraId, shelf: options.cells, clock })
    this.#watch = new MotionWatch({
      clock,
      cells: this.#cells,
      area: settings.motion,
      settings: () => detectorSettings(this.#settings.motion),
      onOutcome: (outcome) => this.#take(outcome),
      fewPictures: () => this.#few,
    })
    const { ffmpeg, log, emit } = options
    const { cameraId } = settings
    this.#live = new LiveFeeds({ ffmpeg: ffmpeg.path, cameraId, ring: this.#ring, clock, log, emit })
    this.#main = this.#mainStream()
    this.#leaveMemory = options.memory.add({ bytes: () => this.#bytes(), shed: () => this.#shed() })
  }

  /** Returns the process ids of this camera's running ffmpegs. */
  get pids(): readonly number[] {
    return [this.#main.pid, this.#detect?.pid].filter((pid) => pid !== undefined)
  }

  /** Returns the ring of the recorded stream. */
  get ring(): Ring {
    return this.#ring
  }

  /**
   * Resolves with the open clip of motion once it was reported, if it was to begin by this time (monotonic); with undefined once
   * it could not be made at once. Undefined when there is none.
   */
  openClip(fromMs: number): Promise<ClipResult | undefined> | undefined {
    return this.#clip && this.#clip.fromMs <= fromMs ? this.#clip.promise : undefined
  }

  start(): void {
    this.#run()
    this.#beat()
  }

  /** Applies settings. A stream is replaced only when its own settings changed. */
  update(settings: CameraSettings): void {
    // Before anything ends: what a process has written is dropped once it is to end.
    this.readVideo()
    const before = this.#settings
    this.#settings = settings
    this.#ring.keepMs = ringKeepMs(settings)
    if (differ(areaOf(before), areaOf(settings))) this.#watch.setArea(settings.motion)
    if (before.detecting && !settings.detecting) this.#watch.interrupt('stopped')
    if (!before.detecting && settings.detecting) this.#watch.restartCounting()
    if (differ(mainPart(before), mainPart(settings))) this.#main.reconfigure(this.#mainPlan())
    if (differ(detectPart(before), detectPart(settings))) this.#detect?.reconfigure(this.#detectPlan())
    this.#run()
    // Once more: what comes now may wait for another time.
    this.readVideo()
    this.#tellStatus()
  }

  /** Ends a wait, so that the next attempt starts now, and accepts what the camera shows. */
  retry(): void {
    this.#watch.acceptView()
    this.#main.retry()
    this.#detect?.retry()
  }

  /** Reads the password again, since it may have been corrected. */
  recheckCredentials(): void {
    this.#main.recheckCredentials()
    this.#detect?.recheckCredentials()
  }

  /** Reads the video that waits into the ring. What comes next waits for as long as is right now. */
  readVideo(): void {
    this.#main.read()
    this.#detect?.read()
  }

  /** Hands over what motion detection has judged so far. */
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
      const group = await freshGroup(this.#ring, clock, snapshotWithinMs)
      const takenAt = Math.round(clock.now() - ageMs(this.#ring, clock))
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
    await Promise.all([this.#main.stop(), this.#detect?.stop()])
    this.#watch.stop()
    this.#cells.flush()
  }

  /** Resolves when no clip is being finished: each is on disk, or reported as lost. */
  async settled(): Promise<void> {
    while (this.#finishing.size > 0) await Promise.all(this.#finishing)
    this.#leaveMemory()
  }

  #run(): void {
    const { cameraId, detecting, streaming, detectUrl, history } = this.#settings
    const kept = keptStream(this.#settings)
    if (detecting || streaming || kept === 'main') this.#main.start()
    else void this.#main.stop()
    if ((detecting && detectUrl !== null) || kept === 'sub') {
      this.#detect ??= this.#detectStream()
      this.#detect.start()
    } else void this.#detect?.stop()
    const ring = kept === 'sub' ? this.#detectRing : kept === 'main' ? this.#ring : undefined
    this.#needs.history.keep(cameraId, history.hours, ring)
  }

  #mainStream(): Stream {
    return new Stream({
      ...this.#streamOptions(this.#mainPlan(), this.#ring),
      onVideo: (bytes, sinceMs) => this.#video(bytes, sinceMs),
      onBegin: () => {
        this.#ring.begin(this.#needs.clock.monotonic())
        if (this.#settings.detectUrl === null) this.#watch.reconnect()
      },
      // Without video there is nothing to record, even if detection has a separate stream.
      onEnd: () => {
        this.#watch.interrupt('stream-ended', this.#ring.newestMs)
        this.#ring.restart()
        this.#pace.restart()
        this.#noteFew(false)
      },
    })
  }

  #detectStream(): Stream {
    return new Stream({
      ...this.#streamOptions(this.#detectPlan(), this.#detectRing),
      onVideo: (bytes, sinceMs) => {
        this.#detectRing.push(bytes, this.#needs.clock.monotonic(), sinceMs)
        return this.#detectRing.newestMs
      },
      onBegin: () => {
        this.#detectRing.begin(this.#needs.clock.monotonic())
        this.#watch.reconnect()
      },
      // An open clip gets its post-roll from the other stream.
      onEnd: () => this.#detectRing.restart(),
    })
  }

  #streamOptions(plan: StreamPlan, ring: Ring): Omit<StreamOptions, 'onBegin' | 'onEnd' | 'onVideo'> {
    const { ffmpeg, clock, random, log } = this.#needs
    return {
      ...{ plan, ffmpeg, clock, random, log },
      // A viewer sees each picture when it comes; and what is late would be later still.
      mostWaitMs: () => {
        if (this.#settings.streaming || !ring.isPunctual(clock.monotonic())) return 0
        return ring.isPrompt ? waitPromptMs : waitMs
      },
      beforeFrame: () => this.#beforeFrame(),
      onFrames: (bytes) => this.#frames(bytes),
      onView: () => this.#tellState(),
    }
  }

  #mainPlan(): StreamPlan {
    const { url, detectUrl, detecting } = this.#settings
    return this.#plan(url, { video: true, frames: detecting && detectUrl === null })
  }

  #detectPlan(): StreamPlan {
    return this.#plan(this.#settings.detectUrl ?? this.#settings.url, {
      video: keptStream(this.#settings) === 'sub',
      frames: this.#settings.detecting,
    })
  }

  #plan(url: string, outputs: StreamPlan['outputs']): StreamPlan {
    const { username, passwordFile } = this.#settings
    const password = () => (passwordFile === null ? null : this.#needs.readSecret(passwordFile))
    return { source: () => ({ url, username, password: password() }), outputs }
  }

  #video(bytes: Buffer, sinceMs: number): number | undefined {
    this.#ring.push(bytes, this.#needs.clock.monotonic(), sinceMs)
    this.#needs.memory.settle()
    this.#main.remark(this.#remark())
    return this.#ring.newestMs
  }

  /** Returns what an admin should know of a stream that gives pictures. */
  #remark(): Problem | null {
    if (this.#ring.codec === 'mjpeg') return 'motion-jpeg'
    if (this.#ring.keylessMs > longestKeylessMs) return 'no-key-frame'
    const isSlow = this.#pace.isSlow(this.#ring.picturesPerSecond, this.#ring.heldMs)
    this.#noteFew(isSlow && this.#settings.detectUrl === null)
    if (this.#main.isDamaged) return 'damaged-pictures'
    if (this.#detect?.isDamaged) return 'damaged-detection'
    return isSlow ? 'few-pictures' : null
  }

  /** The rate is that of all that is held: the stream was slow from its beginning on, and is well now. */
  #noteFew(isBad: boolean): void {
    if (isBad === this.#few.isBad) return
    const nowMs = this.#needs.clock.monotonic()
    this.#few = { isBad, sinceMs: isBad ? nowMs - this.#ring.heldMs : nowMs }
  }

  /** Bytes in memory. What waits for the disk is the newest part of a ring, or goes back further than it. */
  #bytes(): number {
    const { main, sub } = this.#historyBytes()
    const clips = [...this.#spooling].map(({ pendingBytes }) => pendingBytes)
    return Math.max(this.#ring.sizeBytes, main, ...clips) + Math.max(this.#detectRing.sizeBytes, sub)
  }

  /** Continuous video that waits for the disk, of the ring that it comes from. */
  #historyBytes(): { main: number; sub: number } {
    const bytes = this.#needs.history.pendingBytes(this.#settings.cameraId)
    const isSub = keptStream(this.#settings) === 'sub'
    return { main: isSub ? 0 : bytes, sub: isSub ? bytes : 0 }
  }

  /**
   * Gives up continuous video that waits for the disk, when that is more than its ring; then the oldest of the ring; when more
   * than that waits, the clip that waits.
   */
  #shed(): boolean {
    const { history } = this.#needs
    const { main, sub } = this.#historyBytes()
    const isBehind = main > this.#ring.sizeBytes || sub > this.#detectRing.sizeBytes
    if (isBehind && history.shed(this.#settings.cameraId)) return true
    const waiting = [...this.#spooling].find(({ pendingBytes }) => pendingBytes > this.#ring.sizeBytes)
    if (!waiting) return this.#ring.shed()
    waiting.giveUp()
    return true
  }

  /**
   * Reads the video of an open clip. Also when frames come at once: they are late, so that nothing may wait, or fill a jump of the
   * stream's clock, which the video shows before too many are judged.
   */
  #beforeFrame(): void {
    const nowMs = this.#needs.clock.monotonic()
    if (this.#ring.isPrompt || nowMs - this.#frameMs < atOnceMs) this.readVideo()
    this.#frameMs = nowMs
  }

  /** Takes frames. Drops late output of a process that is being replaced. */
  #frames(bytes: Buffer): void {
    if (this.#settings.detecting) this.#watch.push(bytes)
  }

  #take(outcome: JudgeOutcome): void {
    // Clips begin and end with the frames.
    this.readVideo()
    if (outcome.kind === 'fired') {
      const recording = this.#fire(outcome)
      if (outcome.clipFromMs !== null) {
        this.#recording = recording
        this.#clip = { ...Promise.withResolvers<ClipResult | undefined>(), fromMs: outcome.clipFromMs }
      }
      return
    }
    const { endMs, by, peakScore, movedForMs } = outcome
    const clip = this.#clip
    const settle = (result: ClipResult | undefined) => {
      clip?.resolve(result)
      if (this.#clip === clip) this.#clip = undefined
    }
    const ending = { closedBy: by, peakScore, movedForMs }
    const done = this.#close(this.#recording, endMs, ending, () => settle(undefined)).then(settle)
    this.#finishing.add(done)
    void done.finally(() => this.#finishing.delete(done))
  }

  /** Starts a clip as soon as there is an id; until then the ring keeps the pre-roll. */
  async #fire({ motionMs, score, sceneChange, clipFromMs, notBeforeMs }: Fired): Promise<Recording | undefined> {
    const { clock, tools, reserveId, emit, log } = this.#needs
    const { cameraId } = this.#settings
    const wallOffsetMs = clock.now() - clock.monotonic()
    try {
      const detectionId = await reserveId()
      const facts = { detectionId, cameraId, motionAt: Math.round(motionMs + wallOffsetMs), score, sceneChange }
      const cooldownUntil = clipFromMs === null ? Math.round(notBeforeMs + wallOffsetMs) : undefined
      emit({ type: 'motionFired', ...facts, clip: clipFromMs !== null, cooldownUntil })
      if (clipFromMs === null) return undefined
      const askedPreRollMs = this.#settings.motion.preRecordSeconds * 1000
      const from = { fromMs: clipFromMs, notBeforeMs, askedPreRollMs }
      const recording = new Recording(tools, { facts, ring: this.#ring, ...from, wallOffsetMs })
      this.#spooling.add(recording)
      return recording
    } catch (err) {
      log.error({ err, cameraId }, 'motion could not be recorded')
      return undefined
    }
  }

  async #close(
    opened: Promise<Recording | undefined>,
    endMs: number,
    ending: Parameters<Recording['close']>[1],
    onKept: () => void,
  ): Promise<ClipResult | undefined> {
    const recording = await opened
    const finish = await recording?.end(endMs)
    if (recording) this.#spooling.delete(recording)
    const result = await finish?.(ending, onKept)
    if (result) this.#needs.emit(result)
    return result
  }

  #beat(): void {
    const { clock } = this.#needs
    const dueMs = clock.monotonic() + statusEveryMs
    this.#cancelStatus = clock.after(statusEveryMs, () => {
      // Before the watchdogs of the streams: what falls due earlier fires first.
      if (clock.monotonic() - dueMs > times.heldUpMs)
        for (const stream of [this.#main, this.#detect]) stream?.overslept()
      const { detecting, streaming } = this.#settings
      if (!streaming) this.readVideo()
      if (detecting || streaming || (keptStream(this.#settings) && this.#hasNews())) this.#tellStatus()
      this.#beat()
    })
  }

  /** Says whether a status tells something new, or the last one is old. */
  #hasNews(): boolean {
    const { facts, atMs } = this.#sentStatus
    return this.#statusFacts() !== facts || this.#needs.clock.monotonic() - atMs >= sameStatusEveryMs
  }

  #statusFacts(): string {
    const { groupMs } = this.#ring
    return JSON.stringify([this.#sentView, this.#restarts, this.#preRollProblem, groupMs === undefined])
  }

  get #restarts(): number {
    return this.#main.restarts + (this.#detect?.restarts ?? 0)
  }

  get #preRollProblem() {
    return preRollProblem(this.#ring, this.#settings.motion.preRecordSeconds * 1000)
  }

  #tellMissing({ fromMs, toMs }: Missing): void {
    const nowMs = this.#needs.clock.monotonic()
    const { cameraId } = this.#settings
    this.#needs.emit({ type: 'picturesMissing', cameraId, fromAgoMs: nowMs - fromMs, toAgoMs: nowMs - toMs })
  }

  #tellStatus(): void {
    const { clock, emit } = this.#needs
    const { lastFrameMs, dropped, suppressed, impairment, ...counts } = this.#watch.counts()
    const { groupMs, picturesPerSecond, sizeBytes, playableMs } = this.#ring
    this.#sentStatus = { facts: this.#statusFacts(), atMs: clock.monotonic() }
    emit({
      type: 'status',
      cameraId: this.#settings.cameraId,
      state: this.#sentView.state,
      pictureAgoMs: this.#pictureAgoMs(),
      ...counts,
      lastFrameAt: lastFrameMs === undefined ? null : Math.round(clock.now() - clock.monotonic() + lastFrameMs),
      streamFps: picturesPerSecond === undefined ? null : Math.round(picturesPerSecond * 10) / 10,
      restarts: this.#restarts,
      droppedFrames: dropped,
      suppressedSceneChanges: suppressed,
      impairment: { why: impairment.why, agoMs: Math.max(clock.monotonic() - impairment.sinceMs, 0) },
      ringBytes: sizeBytes,
      heldSeconds: Math.round(playableMs) / 1000,
      preRollProblem: this.#preRollProblem,
      keyFrameSeconds: groupMs === undefined ? null : Math.round(groupMs) / 1000,
    })
  }

  #tellState(): void {
    const views = [this.#main.view, ...(this.#detect ? [this.#detect.view] : [])]
    const [view] = views.sort((a, b) => fromBadToGood.indexOf(a.state) - fromBadToGood.indexOf(b.state))
    if (!view || (view.state === this.#sentView.state && view.problem === this.#sentView.problem)) return
    this.#sentView = view
    const { state, problem } = view
    const words = problem === null ? null : plainWords(problem)
    this.#needs.emit({
      type: 'state',
      cameraId: this.#settings.cameraId,
      state,
      problem,
      words,
      at: this.#needs.clock.now(),
      pictureAgoMs: this.#pictureAgoMs(),
    })
  }

  /** Of two streams, the one that has been without pictures for longer counts. */
  #pictureAgoMs(): number | undefined {
    const streams = [this.#main, ...(this.#detect ? [this.#detect] : [])]
    const running = streams.filter(({ view }) => view.state !== 'offline')
    const times = (running.length > 0 ? running : streams).map(({ pictureMs }) => pictureMs)
    if (times.includes(undefined)) return undefined
    return Math.max(this.#needs.clock.monotonic() - Math.min(...times.map((ms) => ms ?? 0)), 0)
  }
}

function ringKeepMs({ motion, filmSeconds }: CameraSettings): number {
  const filmMs = filmSeconds === 0 ? 0 : filmSeconds * 1000 + filmSlackMs
  return Math.max(motion.preRecordSeconds * 1000 + ringSlackMs, filmMs)
}

/** Returns the stream whose video is kept continuously; undefined: none is. */
function keptStream({ history, detectUrl }: CameraSettings): 'main' | 'sub' | undefined {
  if (!history.isOn) return undefined
  return history.stream === 'sub' && detectUrl !== null ? 'sub' : 'main'
}

/** Returns the settings of the detector, in milliseconds. */
export function detectorSettings(
  motion: Pick<MotionOptions, 'sensitivity' | 'cooldownSeconds' | 'preRecordSeconds' | 'postRecordSeconds'>,
): DetectorSettings {
  return {
    sensitivity: motion.sensitivity,
    cooldownMs: motion.cooldownSeconds * 1000,
    preRecordMs: motion.preRecordSeconds * 1000,
    postRecordMs: motion.postRecordSeconds * 1000,
  }
}

function areaOf({ motion }: CameraSettings): unknown {
  return [motion.masks, motion.zones]
}

/** Returns the settings whose change replaces the process of the recorded stream. */
function mainPart({ url, username, passwordFile, detecting, detectUrl }: CameraSettings): unknown {
  return [url, username, passwordFile, detecting && detectUrl === null]
}

function detectPart(settings: CameraSettings): unknown {
  const { detectUrl, username, passwordFile, detecting } = settings
  const isKept = keptStream(settings) === 'sub'
  return [detectUrl, username, passwordFile, isKept, isKept && detecting]
}

function differ(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b)
}
