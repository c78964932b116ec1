import { Worker } from 'node:worker_threads'
import { workerEntry } from '../platform/bundle.ts'
import { locateFfmpeg } from '../platform/ffmpeg.ts'
import type { Clock, LogFormat, Logger } from '../platform/index.ts'
import { type FfmpegDialect, type FromCameras, ffmpegDialect, type ToCameras } from '../video/index.ts'

export type CamerasThreadData = {
  readonly clipsFolder: string
  readonly ffmpeg: { readonly path: string; readonly dialect: FfmpegDialect }
  readonly logLevel: string
  readonly logFormat: LogFormat
}

export type CamerasThreadListener = {
  /** The thread is new and knows nothing. */
  threadStarted(): void
  /** There is no thread until the next one starts. */
  threadEnded(): void
  heard(message: FromCameras): void
}

const restartAfterMs = 1000
const stopWithinMs = 15_000

/**
 * The cameras thread as the main thread holds it. It runs while a camera is configured; if it dies it is started again,
 * and told everything anew. What a dead one left open is finished by the next.
 */
export class CamerasThread {
  readonly #clipsFolder: string
  readonly #isWanted: () => boolean
  readonly #configuredFfmpeg: string | null
  readonly #log: Logger
  readonly #logFormat: LogFormat
  readonly #clock: Clock
  #ear: CamerasThreadListener | undefined
  #worker: Worker | undefined
  #starting: Promise<void> | undefined
  #stopping = false
  #restarts = 0

  constructor(options: {
    clipsFolder: string
    ffmpeg: string | null
    log: Logger
    logFormat?: LogFormat
    clock: Clock
    /** Whether a camera is configured, as of now. */
    isWanted: () => boolean
  }) {
    this.#isWanted = options.isWanted
    this.#logFormat = options.logFormat ?? 'json'
    this.#clipsFolder = options.clipsFolder
    this.#configuredFfmpeg = options.ffmpeg
    this.#log = options.log
    this.#clock = options.clock
  }

  /** How often the thread had to be started again. */
  get restarts(): number {
    return this.#restarts
  }

  listen(ear: CamerasThreadListener): void {
    this.#ear = ear
  }

  /** Starts the thread when a camera is configured, once; a missing ffmpeg is logged and tried again. */
  start(): void {
    if (this.#isWanted()) this.#starting ??= this.#run()
  }

  /** Starts the thread with the first camera. */
  onReload(): void {
    this.start()
  }

  /** What is said while there is no thread is not lost: a new one is told everything. */
  send(message: ToCameras): void {
    this.#worker?.postMessage(message)
  }

  /** Streams end, open clips are closed; what does not end in time is ended. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#starting?.catch(() => {})
    const worker = this.#worker
    if (!worker) return
    const stopped = new Promise<void>((resolve) => {
      worker.on('message', (message: FromCameras) => message.type === 'stopped' && resolve())
      worker.once('exit', () => resolve())
      this.#clock.after(stopWithinMs, resolve)
    })
    worker.postMessage({ type: 'stop' } satisfies ToCameras)
    await stopped
    this.#worker = undefined
    await worker.terminate()
  }

  async #run(): Promise<void> {
    try {
      const { path } = locateFfmpeg({ configured: this.#configuredFfmpeg })
      const dialect = await ffmpegDialect(path)
      if (this.#stopping) return
      this.#open({
        clipsFolder: this.#clipsFolder,
        ffmpeg: { path, dialect },
        logLevel: this.#log.level,
        logFormat: this.#logFormat,
      })
    } catch (err) {
      this.#log.error({ err }, 'the cameras can not be watched')
      this.#again()
    }
  }

  #open(workerData: CamerasThreadData): void {
    const worker = new Worker(workerEntry('cameras'), { workerData })
    worker.on('message', (message: FromCameras) => this.#ear?.heard(message))
    worker.on('error', (err) => this.#log.error({ err }, 'the cameras thread failed'))
    worker.once('exit', () => {
      if (this.#worker !== worker || this.#stopping) return
      this.#worker = undefined
      this.#ear?.threadEnded()
      this.#again()
    })
    this.#worker = worker
    this.#ear?.threadStarted()
  }

  #again(): void {
    if (this.#stopping) return
    this.#restarts += 1
    this.#clock.after(restartAfterMs, () => {
      this.#starting = this.#run()
    })
  }
}
