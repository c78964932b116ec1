import { Worker } from 'node:worker_threads'
import { backoffMs } from '../../flow/index.ts'
import { workerEntry } from '../../platform/bundle.ts'
import { type FfmpegOrigin, locateFfmpeg } from '../../platform/ffmpeg.ts'
import { type Clock, type HeldFolders, heldFolders, type LogFormat, type Logger } from '../../platform/index.ts'
import { type FfmpegDialect, type FromCameras, ffmpegDialect, type ToCameras } from '../../video/index.ts'

export type CamerasThreadData = {
  readonly held: HeldFolders
  readonly clipsFolder: string
  readonly historyFolder: string
  readonly cellsFolder: string
  readonly ffmpeg: { readonly path: string; readonly dialect: FfmpegDialect }
  readonly logLevel: string
  readonly logFormat: LogFormat
}

export type CamerasThreadListener = {
  /** Called when a new thread runs: it has no settings yet. */
  threadStarted?(): void
  /**
   * Called when the thread has ended, or when no working ffmpeg was found to start it with. The next one starts a second to a
   * minute later.
   */
  threadEnded?(why: 'failed' | 'no-ffmpeg'): void
  /** Called before the thread is stopped for good. */
  threadStopping?(): void
  heard(message: FromCameras): void
}

const bundledWords =
  'the cameras are read by the ffmpeg of 2018 that came with gatehouse; install the one of the system, or set ffmpeg.path'

/** Until a thread that failed is started again. Without ffmpeg twice as long after each attempt, up to the second. */
const restart = { firstMs: 1000, longestMs: 60_000 }
/**
 * Video passes through this thread in buffers that are freed when V8 tidies its young objects up. With the usual 48 MiB for those,
 * as much video waits to be freed. The thread's total memory has no limit here; `video.memory` limits the video.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 6 }
const stopWithinMs = 15_000

type CamerasThreadNeeds = {
  readonly clipsFolder: string
  readonly historyFolder: string
  readonly cellsFolder: string
  readonly ffmpeg: string | null
  readonly log: Logger
  readonly logFormat?: LogFormat
  readonly clock: Clock
  /** Whether a camera is configured as of now, or an earlier run left clips. */
  readonly isWanted: () => boolean
}

/**
 * Runs the cameras thread from the main thread, once it is wanted. After a crash it starts again and receives
 * all settings anew; clips that the old one left open are finished by the new one.
 */
export class CamerasThread {
  readonly #needs: CamerasThreadNeeds
  readonly #configuredFfmpeg: string | null
  readonly #logFormat: LogFormat
  readonly #ears: CamerasThreadListener[] = []
  #worker: Worker | undefined
  #starting: Promise<void> | undefined
  #stopping = false
  #restarts = 0
  /** Attempts in a row for which no ffmpeg was there. */
  #withoutFfmpeg = 0
  /** Newest problem that was logged, so that each attempt does not log it again. */
  #logged = ''
  #cancelWait: (() => void) | undefined
  #ffmpegOrigin: FfmpegOrigin | undefined

  constructor(needs: CamerasThreadNeeds) {
    this.#needs = needs
    this.#logFormat = needs.logFormat ?? 'json'
    this.#configuredFfmpeg = needs.ffmpeg
  }

  /** Counts restarts of the thread, also attempts without ffmpeg. */
  get restarts(): number {
    return this.#restarts
  }

  /** Which ffmpeg reads the cameras; undefined while none was found. */
  get ffmpegOrigin(): FfmpegOrigin | undefined {
    return this.#ffmpegOrigin
  }

  /** Whether the thread runs now. */
  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  /** Adds a listener. Listeners are called in the order in which they were added. */
  listen(ear: CamerasThreadListener): void {
    this.#ears.push(ear)
  }

  /** Starts the thread, once. A missing ffmpeg is logged, and searched again after growing waits of up to a minute. */
  start(): void {
    if (this.#needs.isWanted()) this.#starting ??= this.#run()
  }

  /** Starts the thread with the first camera. The wait for another attempt ends, because its problem may be solved now. */
  onReload(): void {
    this.start()
    if (!this.#cancelWait) return
    this.#withoutFfmpeg = 0
    this.#logged = ''
    this.#retry()
  }

  /** Posts a message. Without a thread it is dropped, because a new thread receives all settings anyway. */
  send(message: ToCameras): void {
    this.#worker?.postMessage(message)
  }

  /** Ends streams and closes open clips; terminates the thread after 15 s. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#cancelWait?.()
    for (const ear of this.#ears) ear.threadStopping?.()
    await this.#starting?.catch(() => {})
    const worker = this.#worker
    if (!worker) return
    const stopped = new Promise<void>((resolve) => {
      worker.on('message', (message: FromCameras) => message.type === 'stopped' && resolve())
      worker.once('exit', () => resolve())
      this.#needs.clock.after(stopWithinMs, resolve)
    })
    worker.postMessage({ type: 'stop' } satisfies ToCameras)
    await stopped
    this.#worker = undefined
    await worker.terminate()
  }

  async #run(): Promise<void> {
    try {
      const { path, origin } = locateFfmpeg({ configured: this.#configuredFfmpeg })
      const dialect = await ffmpegDialect(path)
      if (this.#stopping) return
      this.#ffmpegOrigin = origin
      this.#withoutFfmpeg = 0
      this.#logged = ''
      if (origin === 'bundled') this.#needs.log.warn({ path }, bundledWords)
      this.#open({
        held: heldFolders(),
        clipsFolder: this.#needs.clipsFolder,
        historyFolder: this.#needs.historyFolder,
        cellsFolder: this.#needs.cellsFolder,
        ffmpeg: { path, dialect },
        logLevel: this.#needs.log.level,
        logFormat: this.#logFormat,
      })
    } catch (err) {
      this.#logFailure(err)
      for (const ear of this.#ears) ear.threadEnded?.('no-ffmpeg')
      this.#again()
      this.#withoutFfmpeg += 1
    }
  }

  #logFailure(err: unknown): void {
    if (String(err) === this.#logged) return
    this.#logged = String(err)
    this.#needs.log.error({ err }, 'ffmpeg cannot be started for the cameras; trying again')
  }

  #open(workerData: CamerasThreadData): void {
    const worker = new Worker(workerEntry('cameras'), { workerData, resourceLimits })
    worker.on('message', (message: FromCameras) => {
      for (const ear of this.#ears) ear.heard(message)
    })
    worker.on('error', (err) => this.#needs.log.error({ err }, 'the cameras thread failed'))
    worker.once('exit', () => {
      if (this.#worker !== worker || this.#stopping) return
      this.#worker = undefined
      for (const ear of this.#ears) ear.threadEnded?.('failed')
      this.#again()
    })
    this.#worker = worker
    for (const ear of this.#ears) ear.threadStarted?.()
  }

  #again(): void {
    if (this.#stopping) return
    this.#restarts += 1
    const waitMs = backoffMs(restart, this.#withoutFfmpeg + 1)
    this.#cancelWait = this.#needs.clock.after(waitMs, () => this.#retry())
  }

  #retry(): void {
    this.#cancelWait?.()
    this.#cancelWait = undefined
    this.#starting = this.#run()
  }
}
