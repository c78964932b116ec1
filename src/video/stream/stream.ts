import type { Clock, Logger, RandomBytes } from '../../platform/index.ts'
import { frameSize } from '../decoding/frames.ts'
import { PictureRate } from '../decoding/picture-rate.ts'
import type { Problem } from '../problems.ts'
import {
  type Command,
  type Connection,
  type ConnectionEvent,
  dueMs,
  hasProcess,
  newConnection,
  step,
  times,
} from './connection.ts'
import { type Ended, Ingest, type IngestOptions, type Outputs } from './ingest.ts'
import { Knock } from './knock.ts'
import type { StreamEnd } from './ring.ts'
import type { StreamSource } from './source.ts'

/**
 * Messages of the decoders of H.264 and H.265 about a picture that is not whole. They say much more, also of streams in which
 * nothing is missing.
 */
const complaint = /error while decoding MB|cu_qp_delta|CABAC_MAX_BIN|Could not find ref with POC/
const secondMs = 1000
/** Damaged: the decoder complained in so many of the last seconds. One lost packet shows in one or two of them. */
const spanSeconds = 10
const badSeconds = 5
/** A weak radio link is well for seconds, and bad again: that is one problem. */
const wellSeconds = 60

/**
 * Detects from the messages of ffmpeg that the pictures of a stream arrive damaged, again and again. Times are monotonic
 * milliseconds.
 */
export class DamageSigns {
  /** Seconds in which the decoder complained, the newest last. */
  #seconds: number[] = []
  #isBad = false

  heard(said: string, nowMs: number): void {
    const second = Math.floor(nowMs / secondMs)
    if (this.#seconds.at(-1) === second || !complaint.test(said)) return
    this.#seconds = [...this.#seconds, second].slice(-spanSeconds)
  }

  /** Says so from five bad seconds of ten on, until a minute without any. */
  isDamaged(nowMs: number): boolean {
    const now = Math.floor(nowMs / secondMs)
    const within = (seconds: number) => this.#seconds.filter((second) => second > now - seconds).length
    this.#isBad = this.#isBad ? within(wellSeconds) > 0 : within(spanSeconds) >= badSeconds
    return this.#isBad
  }
}

export type StreamState = 'offline' | 'connecting' | 'live' | 'stalled' | 'backing-off'

/** State of a stream for callers. */
export type StreamView = {
  readonly state: StreamState
  /** Why it has no pictures; while it is live, its remaining problem. */
  readonly problem: Problem | null
}

/** Source and outputs of a stream; a change replaces the process. */
export type StreamPlan = {
  /** Called before each attempt, so that a new password in the file is used. Throws when it cannot be read. */
  readonly source: () => StreamSource
  /** Whether motion is found in it. Its small pictures are decoded from its video, or with it where that cannot be. */
  readonly isJudged: boolean
}

export type StreamOptions = {
  readonly plan: StreamPlan
  readonly ffmpeg: IngestOptions['ffmpeg']
  readonly clock: Clock
  readonly random: RandomBytes
  /** A logger with the camera's id. */
  readonly log: Logger
  /** Says how long video may wait to be read together with later video, in milliseconds. */
  readonly mostWaitMs: () => number
  /**
   * Takes video, which came after `sinceMs` (monotonic) and is written over when this returns. Returns when its newest picture came
   * (monotonic), as far as known.
   */
  readonly onVideo: (bytes: Buffer, sinceMs: number) => number | undefined
  /** Called before `onFrames` takes the last bytes of a small picture, so that video can be read first. */
  readonly beforeFrame: () => void
  readonly onFrames: (bytes: Buffer) => void
  /** Called when a process begins; its output does not continue the one before. */
  readonly onBegin: () => void
  /** Called when the process has ended and all its output was passed on. */
  readonly onEnd: (why: StreamEnd) => void
  readonly onView: (view: StreamView) => void
}

/** Keeps one stream of a camera running: `connection.ts` decides, `ingest.ts` runs the process. */
export class Stream {
  readonly #needs: StreamOptions
  #plan: StreamPlan
  #connection: Connection = newConnection
  #ingest: Ingest | undefined
  #timer: { readonly dueMs: number; readonly cancel: () => void } | undefined
  #problem: Problem | null = null
  #view: StreamView = { state: 'offline', problem: null }
  #spawned = 0
  #pictureMs: number | undefined
  #rate = new PictureRate()
  #damage = new DamageSigns()
  /** How this stream's video can be written, as learned from its failures. */
  #order: 'plain' | 'reordered' | 'not-recorded' = 'plain'
  #remark: Problem | null = null
  /** Whether its pictures can only be decoded as they come: its video has an unusual codec. */
  #isUnusual = false
  /** Whether the running process decodes small pictures too. */
  #decodes = false
  /** Whether the running process ends because its plan is outdated. */
  #isReplaced = false
  /** Video comes, and no frame can be made of it before its first key frame. */
  #waitsForKeyFrame = false
  #idle: (() => void)[] = []
  readonly #knock = new Knock((answered) => this.#step({ kind: 'knocked', answered }))
  /** Source of the newest attempt; undefined before the first, and when its password could not be read. */
  #tried: StreamSource | undefined

  constructor(options: StreamOptions) {
    this.#needs = options
    this.#plan = options.plan
  }

  get view(): StreamView {
    return this.#view
  }

  /** Returns the process id of the running ffmpeg. */
  get pid(): number | undefined {
    return this.#ingest?.pid
  }

  /** Returns the monotonic time of the newest picture; undefined before the first. */
  get pictureMs(): number | undefined {
    return this.#pictureMs
  }

  /** Returns the number of processes after the first. */
  get restarts(): number {
    return Math.max(this.#spawned - 1, 0)
  }

  /** Whether the process decodes the small pictures, because they cannot be decoded from its video. */
  get decodes(): boolean {
    return this.#decodes
  }

  /** Notes that the video has a codec that can only be decoded as it comes: the stream is opened anew. */
  decodeDirectly(): void {
    if (this.#isUnusual) return
    this.#isUnusual = true
    this.#step({ kind: 'reconfigured' })
  }

  /** Takes messages of the decoder of its pictures. */
  noteMessage(text: string): void {
    // Before the first key frame nothing can be whole.
    const hasBegun = this.#connection.phase.kind === 'live' && !this.#waitsForKeyFrame
    if (hasBegun) this.#damage.heard(text, this.#needs.clock.monotonic())
  }

  /** Starts the stream. Changes nothing when it is started already. */
  start(): void {
    const { kind } = this.#connection.phase
    if (kind === 'offline' || kind === 'stopping') this.#step({ kind: 'start' })
  }

  /** Passes on the video that waits to be read, and asks anew how long the next may wait. */
  read(): void {
    this.#ingest?.readVideo()
  }

  /** Ends a wait for the next attempt. */
  retry(): void {
    if (this.#connection.phase.kind === 'backing-off') this.#step({ kind: 'start' })
  }

  /** Stops the stream. Resolves when no process is left. */
  stop(): Promise<void> {
    this.#step({ kind: 'stop' })
    this.#problem = null
    this.#publish()
    return new Promise((resolve) => {
      if (hasProcess(this.#connection)) this.#idle.push(resolve)
      else resolve()
    })
  }

  /** Changes address, credentials or outputs, and forgets facts learned with the old ones. */
  reconfigure(plan: StreamPlan): void {
    this.#plan = plan
    this.#problem = null
    this.#order = 'plain'
    this.#isUnusual = false
    this.#isReplaced = this.#connection.phase.kind === 'live'
    this.#step({ kind: 'reconfigured' })
  }

  /** Notes a problem that an admin should know although the stream is live, or that there is none; until the process ends. */
  remark(problem: Problem | null): void {
    const noted = problem ?? this.#ownRemark
    if (this.#remark === noted) return
    this.#remark = noted
    this.#publish()
  }

  get #ownRemark(): Problem | null {
    if (this.#order === 'not-recorded') return 'reordered'
    return this.#waitsForKeyFrame ? 'no-key-frame' : null
  }

  /** Says whether the pictures of the running process arrive damaged, as far as they are decoded. */
  get isDamaged(): boolean {
    return this.#damage.isDamaged(this.#needs.clock.monotonic())
  }

  /** Notes that this thread was held up, so that the silence of that time is not taken for the camera's. */
  overslept(): void {
    this.#step({ kind: 'overslept' })
  }

  /** Opens the stream anew, because its pictures are unusable. */
  broken(problem: Problem): void {
    this.#step({ kind: 'broken', problem })
  }

  /** Reads the password again. If it differs from the newest attempt's, a wait for the next attempt ends. */
  recheckCredentials(): void {
    const { kind } = this.#connection.phase
    if (kind === 'offline' || kind === 'stopping') return
    try {
      const { username, password } = this.#plan.source()
      if (username === this.#tried?.username && password === this.#tried.password) return
    } catch {
      // The next attempt reports that it cannot be read.
      return
    }
    this.#step({ kind: 'credentials' })
  }

  #step(event: ConnectionEvent): void {
    const { clock, random } = this.#needs
    // Only an end needs chance; there are many pictures in a second.
    const chance = event.kind === 'ended' ? random(4).readUInt32BE() / 2 ** 32 : 0
    const { connection, commands } = step(this.#connection, event, clock.monotonic(), chance)
    this.#connection = connection
    if (event.kind === 'picture' && connection.phase.kind === 'live') this.#pictureMs = connection.phase.lastPictureMs
    for (const command of commands) this.#obey(command)
    if (connection.phase.kind !== 'backing-off') this.#knock.cancel()
    this.#arm()
    this.#publish()
    if (!hasProcess(this.#connection)) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #obey(command: Command): void {
    switch (command) {
      case 'spawn':
        this.#spawn()
        break
      case 'terminate':
        this.#ingest?.terminate()
        break
      case 'kill':
        this.#ingest?.kill()
        break
      case 'knock':
        if (this.#tried) this.#knock.start(this.#tried)
        break
    }
  }

  #spawn(): void {
    const source = this.#source()
    this.#tried = source
    if (!source) return
    const outputs = this.#outputs()
    this.#decodes = outputs.frames
    this.#waitsForKeyFrame = outputs.fromAnywhere === true
    this.#remark = this.#ownRemark
    this.#spawned += 1
    this.#rate = new PictureRate(this.#needs.clock.monotonic())
    this.#damage = new DamageSigns()
    this.#needs.onBegin()
    this.#ingest = new Ingest({
      ...{ ffmpeg: this.#needs.ffmpeg, clock: this.#needs.clock, mostWaitMs: this.#needs.mostWaitMs, source, outputs },
      mostSilentMs: this.#connection.isPatient ? times.patientFrozenMs : undefined,
      onVideo: (bytes, sinceMs) => {
        const cameMs = this.#isBroken ? undefined : this.#needs.onVideo(bytes, sinceMs)
        if (!outputs.frames || this.#waitsForKeyFrame)
          this.#step({ kind: 'picture', agoMs: this.#agoMs(sinceMs, cameMs) })
      },
      onFrames: (bytes, ended) => this.#frames(bytes, ended),
      onSaid: (text) => this.noteMessage(text),
      onEnded: (ended) => this.#ended(ended),
    })
  }

  /**
   * Returns how long ago a picture came that was just read, and that came after `sinceMs`. Without an estimate it came just now.
   */
  #agoMs(sinceMs: number, cameMs = Infinity): number {
    const nowMs = this.#needs.clock.monotonic()
    return nowMs - Math.min(Math.max(cameMs, sinceMs), nowMs)
  }

  #outputs(): Outputs {
    const { isJudged } = this.#plan
    const video = this.#order !== 'not-recorded'
    // After an attempt without a picture: is there video, and only its key frame is missing?
    const fromAnywhere = video && isJudged && this.#problem === 'no-picture'
    const frames = isJudged && (!video || fromAnywhere || this.#isUnusual)
    return { video, frames, reordered: this.#order === 'reordered', fromAnywhere }
  }

  /** Chooses the next way of writing, after ffmpeg could not write pictures that come out of order. */
  #noteReordering(): void {
    const canSet = this.#order === 'plain' && this.#needs.ffmpeg.dialect.setsTimes
    if (canSet) this.#order = 'reordered'
    else if (this.#plan.isJudged) this.#order = 'not-recorded'
  }

  /** Takes frames. After a time jump ffmpeg fills the gap with thousands of copies, which must not be scored. */
  #frames(bytes: Buffer, ended: number): void {
    if (ended > 0) this.#needs.beforeFrame()
    // The video that was just read may show a jump.
    if (this.#isBroken) return
    if (ended > 0 && this.#rate.isFlood(ended * frameSize.bytes, this.#needs.clock.monotonic())) {
      this.broken('time-jump')
      return
    }
    this.#needs.onFrames(bytes)
    if (ended === 0) return
    this.#waitsForKeyFrame = false
    this.#step({ kind: 'picture', agoMs: 0 })
  }

  /** Says whether the process is being ended; its late output is dropped. */
  get #isBroken(): boolean {
    const { kind } = this.#connection.phase
    return kind === 'stalled' || kind === 'stopping'
  }

  /** Returns the source; undefined without a readable password. The failure is handled after this step. */
  #source(): StreamSource | undefined {
    try {
      return this.#plan.source()
    } catch (err) {
      this.#needs.log.warn({ err }, 'the password of the camera cannot be read')
      this.#needs.clock.after(0, () => this.#failed('password-unreadable'))
      return undefined
    }
  }

  #ended({ problem, said, code, signal }: Ended): void {
    this.#ingest = undefined
    const wanted = this.#connection.phase.kind !== 'stopping'
    this.#needs.log[wanted ? 'warn' : 'debug']({ problem, code, signal, said }, 'ffmpeg of a camera has ended')
    if (problem === 'reordered') this.#noteReordering()
    const why = this.#isReplaced ? 'restarted' : 'stream-ended'
    this.#isReplaced = false
    this.#needs.onEnd(why)
    this.#failed(problem)
  }

  #failed(problem: Problem): void {
    this.#step({ kind: 'ended', problem })
  }

  /** Sets the timer for the next tick. One that fires too early finds nothing due and is set again. */
  #arm(): void {
    const due = dueMs(this.#connection)
    if (due === undefined || (this.#timer && this.#timer.dueMs <= due)) return
    this.#timer?.cancel()
    const cancel = this.#needs.clock.after(Math.max(due - this.#needs.clock.monotonic(), 0), () => {
      this.#timer = undefined
      // Video that waits to be read may end the silence.
      this.read()
      this.#step({ kind: 'tick' })
    })
    this.#timer = { dueMs: due, cancel }
  }

  #publish(): void {
    const { phase } = this.#connection
    if (phase.kind === 'stalled' || phase.kind === 'backing-off') this.#problem = phase.problem
    if (phase.kind === 'live') this.#problem = this.#remark
    if (phase.kind === 'offline') this.#problem = null
    const stopping = phase.kind === 'stopping' ? (phase.again ? 'connecting' : 'offline') : undefined
    const view = { state: stopping ?? (phase.kind as StreamState), problem: this.#problem }
    if (view.state === this.#view.state && view.problem === this.#view.problem) return
    this.#view = view
    this.#needs.onView(view)
  }
}
