import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { type Clock, createLogger, systemClock, systemRandom } from '../../src/platform/index.ts'
import {
  CameraSet,
  type CameraSettings,
  type FfmpegDialect,
  type FilmOrder,
  type FromCameras,
  ffmpegDialect,
} from '../../src/video/index.ts'

export type MessageOf<Type extends FromCameras['type']> = Extract<FromCameras, { type: Type }>

export type BenchOptions = {
  /** Path of the program; the one of this machine by default. */
  readonly ffmpeg?: string
  /** Content of the password files, by name. */
  readonly secrets?: Record<string, string>
  /** As if the program could do less than it can. */
  readonly dialect?: Partial<FfmpegDialect>
  /** The system's by default. */
  readonly clock?: Clock
}

const longestWaitMs = 60_000

/** Default motion settings of a camera. */
export const usualMotion = {
  ...{ sensitivity: 0.3, cooldownSeconds: 1, preRecordSeconds: 2, postRecordSeconds: 1 },
  ...{ masks: [], zones: [] },
}

/** The cameras thread without its thread: messages in, messages out, clips in its own folder, log in a file. */
export class CameraBench {
  readonly folder: string
  readonly messages: FromCameras[] = []
  readonly secrets: Record<string, string>
  readonly #thread: CameraSet
  readonly #logFile: string
  readonly #logFd: number
  #watchers: (() => void)[] = []
  #lastId = 0

  private constructor(program: string, dialect: FfmpegDialect, options: BenchOptions) {
    this.folder = mkdtempSync(join(tmpdir(), 'gatehouse-cameras-'))
    this.secrets = options.secrets ?? {}
    this.#logFile = join(this.folder, 'log')
    this.#logFd = openSync(this.#logFile, 'w')
    this.#thread = new CameraSet({
      freeBytes: () => Number.POSITIVE_INFINITY,
      ffmpeg: { path: program, dialect },
      clipsFolder: join(this.folder, 'clips'),
      historyFolder: join(this.folder, 'history'),
      cellsFolder: join(this.folder, 'scores'),
      clock: options.clock ?? systemClock,
      random: systemRandom,
      log: createLogger({ level: 'debug', fd: this.#logFd }),
      readSecret: (path) => this.#secret(path),
      post: (message) => queueMicrotask(() => this.#take(message)),
    })
  }

  static async open(options: BenchOptions = {}): Promise<CameraBench> {
    const program = options.ffmpeg ?? locateFfmpeg().path
    return new CameraBench(program, { ...(await ffmpegDialect(program)), ...options.dialect }, options)
  }

  /** All that was logged. */
  get log(): string {
    return readFileSync(this.#logFile, 'utf8')
  }

  camera(cameraId: number, url: string, more: Partial<CameraSettings> = {}): void {
    const none = { history: { isOn: false, hours: 0, stream: 'main' }, filmSeconds: 0 } as const
    const basics = { cameraId, url, detectUrl: null, username: null, passwordFile: null, ...none }
    this.#thread.receive({
      type: 'camera',
      settings: { ...basics, detecting: true, streaming: false, motion: usualMotion, ...more },
    })
  }

  remove(cameraId: number): void {
    this.#thread.receive({ type: 'remove', cameraId })
  }

  /** When the newest picture that was read came (wall clock). */
  readUntil(cameraId: number): number {
    return systemClock.now() - systemClock.monotonic() + (this.#thread.camera(cameraId)?.ring.newestMs ?? 0)
  }

  film(order: FilmOrder): void {
    this.#thread.receive({ type: 'film', ...order })
  }

  /** For the newest video of all cameras. */
  memory(bytes: number): void {
    this.#thread.receive({ type: 'memory', bytes })
  }

  retry(cameraId: number): void {
    this.#thread.receive({ type: 'retry', cameraId })
  }

  /** A reload: passwords may be others now. */
  reloadSecrets(): void {
    this.#thread.receive({ type: 'secrets' })
  }

  pids(cameraId: number): readonly number[] {
    return this.#thread.camera(cameraId)?.pids ?? []
  }

  decoderPid(cameraId: number): number | undefined {
    return this.#thread.camera(cameraId)?.decoderPid
  }

  /** Messages of one camera, in order. */
  of<Type extends FromCameras['type']>(type: Type, cameraId?: number): MessageOf<Type>[] {
    return this.messages.filter(
      (message): message is MessageOf<Type> =>
        message.type === type && (cameraId === undefined || ('cameraId' in message && message.cameraId === cameraId)),
    )
  }

  /** Resolves when the condition holds; it is checked after every message. */
  async until(condition: () => boolean, what = String(condition)): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const tail = () => this.messages.filter(({ type }) => type !== 'status').slice(-5)
      const fail = () => reject(new Error(`not so: ${what}\n${JSON.stringify(tail())}`))
      const timer = setTimeout(fail, longestWaitMs)
      const look = () => {
        if (!condition()) return
        clearTimeout(timer)
        this.#watchers = this.#watchers.filter((one) => one !== look)
        resolve()
      }
      this.#watchers.push(look)
      look()
    })
  }

  /** Waits for the camera's state; the message that reported it. */
  async state(cameraId: number, state: MessageOf<'state'>['state']): Promise<MessageOf<'state'>> {
    const newest = () => this.of('state', cameraId).at(-1)
    await this.until(() => newest()?.state === state, `camera ${cameraId} is ${state}`)
    return newest() as MessageOf<'state'>
  }

  async close(): Promise<void> {
    this.#thread.receive({ type: 'stop' })
    await this.until(() => this.of('stopped').length > 0)
    closeSync(this.#logFd)
    rmSync(this.folder, { recursive: true })
  }

  #take(message: FromCameras): void {
    this.messages.push(message)
    if (message.type === 'idsWanted') {
      this.#thread.receive({ type: 'ids', ids: Array.from({ length: message.count }, () => ++this.#lastId) })
    }
    for (const look of [...this.#watchers]) look()
  }

  #secret(path: string): string {
    const secret = this.secrets[path]
    if (secret === undefined) throw new Error(`there is no file ${path}`)
    return secret
  }
}
