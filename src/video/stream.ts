import type { Clock, Logger, RandomBytes } from '../platform/index.ts'
import {
  type Command,
  type Connection,
  type ConnectionEvent,
  dueMs,
  hasProcess,
  newConnection,
  step,
} from './connection.ts'
import { type Ended, Ingest, type IngestOptions, type Outputs } from './ingest.ts'
import { PictureRate } from './picture-rate.ts'
import type { Problem } from './problems.ts'
import type { StreamSource } from './stream-source.ts'

export type StreamState = 'offline' | 'connecting' | 'live' | 'stalled' | 'backing-off'

/** What the world may know of a stream. */
export type StreamView = {
  readonly state: StreamState
  /** Why it has no pictures, or had none until it is live again; while it is live, what is wrong nevertheless. */
  readonly problem: Problem | null
}

/** What a stream is made of; any change of it replaces the process. */
export type StreamPlan = {
  /** Read before each attempt, so that a new password in the file is seen. Throws when it can't be read. */
  readonly source: () => StreamSource
  readonly outputs: Outputs
}

export type StreamOptions = {
  readonly plan: StreamPlan
  readonly ffmpeg: IngestOptions['ffmpeg']
  readonly clock: Clock
  readonly random: RandomBytes
  /** With the camera's id. */
  readonly log: Logger
  readonly onVideo: (bytes: Buffer) => void
  readonly onFrames: (bytes: Buffer) => void
  /** A process begins; what it sends has nothing to do with what was sent before. */
  readonly onBegin: () => void
  /** The process is gone, for whatever reason; all that it sent has been handed over. */
  readonly onEnd: () => void
  readonly onView: (view: StreamView) => void
}

/** Keeps one stream of a camera alive: the loop around `connection.ts`, which decides, and `ingest.ts`, which does. */
export class Stream {
  readonly #o: StreamOptions
  #plan: StreamPlan
  #connection: Connection = newConnection
  #ingest: Ingest | undefined
  #timer: { readonly dueMs: number; readonly cancel: () => void } | undefined
  #problem: Problem | null = null
  #view: StreamView = { state: 'offline', problem: null }
  #spawned = 0
  #rate = new PictureRate()
  /** What it takes to write the video down, as far as was found out. */
  #order: 'plain' | 'reordered' | 'not-recorded' = 'plain'
  #remark: Problem | null = null
  #idle: (() => void)[] = []
  /** What the newest attempt came with; undefined before the first, and when its password could not be read. */
  #tried: StreamSource | undefined

  constructor(options: StreamOptions) {
    this.#o = options
    this.#plan = options.plan
  }

  get view(): StreamView {
    return this.#view
  }

  /** Of the ffmpeg that runs now. */
  get pid(): number | undefined {
    return this.#ingest?.pid
  }

  /** Processes beyond the first. */
  get restarts(): number {
    return Math.max(this.#spawned - 1, 0)
  }

  /** Wants the stream. Changes nothing when it is wanted already. */
  start(): void {
    const { kind } = this.#connection.phase
    if (kind === 'offline' || kind === 'stopping') this.#step({ kind: 'start' })
  }

  /** If the stream is waiting for its next attempt, this is it. */
  retry(): void {
    if (this.#connection.phase.kind === 'backing-off') this.#step({ kind: 'start' })
  }

  /** Resolves when no process is left. */
  stop(): Promise<void> {
    this.#step({ kind: 'stop' })
    this.#problem = null
    this.#publish()
    return new Promise((resolve) => {
      if (hasProcess(this.#connection)) this.#idle.push(resolve)
      else resolve()
    })
  }

  /** Another address, other credentials or other outputs: what was learned of the old ones is forgotten. */
  reconfigure(plan: StreamPlan): void {
    this.#plan = plan
    this.#problem = null
    this.#order = 'plain'
    this.#step({ kind: 'reconfigured' })
  }

  /** Something that an admin should know although the stream is live. Forgotten with the process. */
  remark(problem: Problem): void {
    if (this.#remark === problem) return
    this.#remark = problem
    this.#publish()
  }

  /** The pictures that come make no sense, as who looks into them has found: the stream is opened anew. */
  broken(problem: Problem): void {
    this.#step({ kind: 'broken', problem })
  }

  /** Reads the password again. If it is another than that of the newest attempt, a wait for the next one ends. */
  recheckCredentials(): void {
    const { kind } = this.#connection.phase
    if (kind === 'offline' || kind === 'stopping') return
    try {
      const { username, password } = this.#plan.source()
      if (username === this.#tried?.username && password === this.#tried.password) return
    } catch {
      // The next attempt says that it can't be read.
      return
    }
    this.#step({ kind: 'credentials' })
  }

  #step(event: ConnectionEvent): void {
    const { clock, random } = this.#o
    const chance = random(4).readUInt32BE() / 2 ** 32
    const { connection, commands } = step(this.#connection, event, clock.monotonic(), chance)
    this.#connection = connection
    for (const command of commands) this.#obey(command)
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
    }
  }

  #spawn(): void {
    const source = this.#source()
    this.#tried = source
    if (!source) return
    const outputs = this.#outputs()
    this.#remark = this.#order === 'not-recorded' ? 'reordered' : null
    this.#spawned += 1
    this.#rate = new PictureRate()
    this.#o.onBegin()
    this.#ingest = new Ingest({
      ffmpeg: this.#o.ffmpeg,
      source,
      outputs,
      onVideo: (bytes) => {
        if (!this.#isBroken) this.#o.onVideo(bytes)
        if (!outputs.frames) this.#step({ kind: 'picture' })
      },
      onFrames: (bytes) => this.#frames(bytes),
      onEnded: (ended) => this.#ended(ended),
    })
  }

  #outputs(): Outputs {
    const { video, frames } = this.#plan.outputs
    return { video: video && this.#order !== 'not-recorded', frames, reordered: this.#order === 'reordered' }
  }

  /** What is tried next when ffmpeg could not write down pictures that come out of order. */
  #noteReordering(): void {
    const canSet = this.#order === 'plain' && this.#o.ffmpeg.dialect.setsTimes
    if (canSet) this.#order = 'reordered'
    else if (this.#plan.outputs.frames) this.#order = 'not-recorded'
  }

  /** After a jump of its time ffmpeg fills the gap with thousands of copies: scoring them would see nothing move. */
  #frames(bytes: Buffer): void {
    if (this.#isBroken) return
    if (this.#rate.isFlood(bytes.length, this.#o.clock.monotonic())) {
      this.broken('time-jump')
      return
    }
    this.#o.onFrames(bytes)
    this.#step({ kind: 'picture' })
  }

  /** What a process still sends that was told to end belongs to nothing. */
  get #isBroken(): boolean {
    const { kind } = this.#connection.phase
    return kind === 'stalled' || kind === 'stopping'
  }

  /** Without a password there is no attempt; that it failed is told after this step is done. */
  #source(): StreamSource | undefined {
    try {
      return this.#plan.source()
    } catch (err) {
      this.#o.log.warn({ err }, 'the password of the camera can not be read')
      this.#o.clock.after(0, () => this.#failed('password-unreadable'))
      return undefined
    }
  }

  #ended({ problem, said, code, signal }: Ended): void {
    this.#ingest = undefined
    const wanted = this.#connection.phase.kind !== 'stopping'
    this.#o.log[wanted ? 'warn' : 'debug']({ problem, code, signal, said }, 'ffmpeg of a camera has ended')
    if (problem === 'reordered') this.#noteReordering()
    this.#o.onEnd()
    this.#failed(problem)
  }

  #failed(problem: Problem): void {
    this.#step({ kind: 'ended', problem })
  }

  /** A timer that comes too early does no harm: it finds nothing due and is set again. */
  #arm(): void {
    const due = dueMs(this.#connection)
    if (due === undefined || (this.#timer && this.#timer.dueMs <= due)) return
    this.#timer?.cancel()
    const cancel = this.#o.clock.after(Math.max(due - this.#o.clock.monotonic(), 0), () => {
      this.#timer = undefined
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
    this.#o.onView(view)
  }
}
