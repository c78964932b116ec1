import type { UnitOfWork } from '../../database/index.ts'
import type { Clock, Logger, ServiceManager } from '../../platform/index.ts'
import type { FromCameras } from '../../video/index.ts'
import type { CamerasThreadListener } from './cameras-thread.ts'

type WorkWatchNeeds = {
  readonly manager: ServiceManager | undefined
  readonly work: Pick<UnitOfWork, 'write'>
  readonly clock: Clock
  readonly log: Logger
  /** Whether the config has this camera, as of now. */
  readonly isConfigured: (cameraId: number) => boolean
}

/** Newest report of a camera that is live. */
type Live = { readonly heardMs: number; readonly pictureAgoMs: number }

/** systemd's manual asks for two signs of life in each interval; three allow for a slow disk. */
const looksPerInterval = 3

/**
 * Gives systemd a sign of life while the work goes on. Without a sign, systemd kills the gateway and starts it again. The work is:
 * the event loop turns, the writer answers, and the cameras thread reports the pictures of every camera that it calls live. A
 * camera that is away, a full disk and a locked database are reported elsewhere: a restart would mend none of them.
 */
export class WorkWatch implements CamerasThreadListener {
  readonly #needs: WorkWatchNeeds
  readonly #live = new Map<number, Live>()
  #writerAskedMs: number | undefined
  #cancel: (() => void) | undefined
  #isLogged = false

  constructor(needs: WorkWatchNeeds) {
    this.#needs = needs
  }

  /** Gives the first sign of life, and one at every look. Does nothing where systemd does not watch. */
  start(): void {
    const { manager, clock } = this.#needs
    if (manager?.watchdogMs === undefined) return
    const limitMs = manager.watchdogMs
    const look = () => {
      this.#cancel = clock.after(limitMs / looksPerInterval, look)
      this.#askWriter()
      const trouble = this.#trouble(limitMs)
      if (trouble === undefined) manager.alive()
      this.#tell(trouble)
    }
    look()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** A new thread has settings to receive and streams to open, so no camera is live before its first report. */
  threadStarted(): void {
    this.#live.clear()
  }

  threadEnded(): void {
    this.#live.clear()
  }

  threadStopping(): void {
    this.#live.clear()
  }

  heard(message: FromCameras): void {
    if (message.type !== 'status' && message.type !== 'state') return
    const { cameraId, state, pictureAgoMs = 0 } = message
    if (state !== 'live') this.#live.delete(cameraId)
    else this.#live.set(cameraId, { heardMs: this.#needs.clock.monotonic(), pictureAgoMs })
  }

  /** One empty write is under way at most: a writer that hangs must not collect them. */
  #askWriter(): void {
    if (this.#writerAskedMs !== undefined) return
    this.#writerAskedMs = this.#needs.clock.monotonic()
    const answered = () => {
      this.#writerAskedMs = undefined
    }
    this.#needs.work.write(() => {}).then(answered, answered)
  }

  #trouble(limitMs: number): string | undefined {
    const nowMs = this.#needs.clock.monotonic()
    if (this.#writerAskedMs !== undefined && nowMs - this.#writerAskedMs > limitMs / 2) {
      return 'the database writer does not answer'
    }
    for (const [cameraId, { heardMs, pictureAgoMs }] of this.#live) {
      if (nowMs - heardMs + pictureAgoMs <= limitMs || !this.#needs.isConfigured(cameraId)) continue
      return `camera ${cameraId} is called live, and no picture of it came for ${Math.round(limitMs / 1000)} s`
    }
    return undefined
  }

  #tell(trouble: string | undefined): void {
    const { log } = this.#needs
    if (trouble !== undefined && !this.#isLogged)
      log.error({ trouble }, 'the work has stopped; systemd will restart gatehouse')
    if (trouble === undefined && this.#isLogged) log.warn('the work goes on again')
    this.#isLogged = trouble !== undefined
  }
}
