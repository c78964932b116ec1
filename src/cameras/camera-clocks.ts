import type { CameraConfig } from '../config/index.ts'
import type { UnitOfWork } from '../database/index.ts'
import { backoffMs } from '../flow/index.ts'
import type { Clock, Logger } from '../platform/index.ts'
import { appendOffset } from './clock-store.ts'
import type { ConfiguredCameras } from './configured.ts'

/** Time of a camera as it was measured. */
export type MeasuredClock = {
  /** The camera's clock minus the gateway's. */
  readonly offsetMs: number
  readonly uncertaintyMs: number
  readonly by: 'rtsp' | 'onvif'
}

type CameraClocksNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly logger: Logger
  readonly configured: ConfiguredCameras
  /** Asks a camera for its time. Resolves with null when the camera does not report it; rejects when it cannot be asked. */
  readonly measure: (camera: CameraConfig, signal: AbortSignal) => Promise<MeasuredClock | null>
}

const lookEveryMs = 60_000
const measureEveryMs = 60 * 60 * 1000
/** A camera that does not report its time is asked again after this wait, which then doubles up to `measureEveryMs`. */
const askAgain = { firstMs: 5 * 60 * 1000, longestMs: measureEveryMs }

type Asked = { readonly failures: number; readonly nextMs: number }

/** Asks every camera for its time once an hour, one camera at a time, and keeps each answer. */
export class CameraClocks {
  readonly #needs: CameraClocksNeeds
  readonly #asked = new Map<number, Asked>()
  #stopping = new AbortController()
  #underWay: Promise<void> | undefined
  #cancel: (() => void) | undefined

  constructor(needs: CameraClocksNeeds) {
    this.#needs = needs
  }

  start(): void {
    this.#stopping = new AbortController()
    const round = () => {
      void this.look()
      this.#cancel = this.#needs.clock.after(lookEveryMs, round)
    }
    this.#cancel ??= this.#needs.clock.after(0, round)
  }

  async stop(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    this.#stopping.abort()
    await this.#underWay
  }

  /** Measures the cameras that are due, or waits for the look under way. */
  look(): Promise<void> {
    this.#underWay ??= this.#look().finally(() => {
      this.#underWay = undefined
    })
    return this.#underWay
  }

  async #look(): Promise<void> {
    const { configured, clock } = this.#needs
    const cameras = configured.site.cameras.filter(({ enabled }) => enabled)
    for (const id of this.#asked.keys()) if (!cameras.some((camera) => camera.id === id)) this.#asked.delete(id)
    for (const camera of cameras) {
      if (this.#stopping.signal.aborted) return
      const failures = this.#asked.get(camera.id)?.failures ?? 0
      if (clock.monotonic() < (this.#asked.get(camera.id)?.nextMs ?? 0)) continue
      const isKept = await this.#measure(camera)
      const waitMs = isKept ? measureEveryMs : backoffMs(askAgain, failures + 1)
      this.#asked.set(camera.id, { failures: isKept ? 0 : failures + 1, nextMs: clock.monotonic() + waitMs })
    }
  }

  /** Says whether the camera sent its time and that is stored. */
  async #measure(camera: CameraConfig): Promise<boolean> {
    const { measure, work, clock, logger } = this.#needs
    const measured = await measure(camera, this.#stopping.signal).catch((err: unknown) => {
      logger.error({ err, cctvId: camera.id }, 'a camera could not be asked for its time')
      return null
    })
    if (!measured) return false
    const { offsetMs, uncertaintyMs, by } = measured
    const row = {
      ...{ cctv_id: camera.id, measured_at_ms: Math.round(clock.now()) },
      ...{ offset_ms: Math.round(offsetMs), uncertainty_ms: Math.ceil(uncertaintyMs), by },
    }
    try {
      await work.write((tx) => appendOffset(tx, row))
      return true
    } catch (err) {
      logger.debug({ err, cctvId: camera.id }, "the offset of a camera's clock could not be stored")
      return false
    }
  }
}
