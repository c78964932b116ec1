import type { CameraConfig } from '../config/index.ts'
import { type Clock, isWithinHours, parseWeeklyHours } from '../platform/index.ts'
import type { ConfiguredCameras } from './configured.ts'
import type { Duty } from './gaps/keeper.ts'
import type { WantedCameras } from './wanted.ts'

type CameraDutiesNeeds = {
  readonly clock: Clock
  readonly configured: ConfiguredCameras
  readonly wanted: WantedCameras
  /** Time zone of a warehouse; UTC for one that is not there. */
  readonly zoneOf: (warehouseId: number) => string
}

/** Decides each camera's present duty from its config, its recording hours, and calls of the API. */
export class CameraDuties {
  readonly #needs: CameraDutiesNeeds

  constructor(needs: CameraDutiesNeeds) {
    this.#needs = needs
  }

  /** Says whether a camera is to watch now. In the eyes of the gap ledger it always should. */
  of(camera: CameraConfig): Duty {
    if (!camera.enabled)
      return { watches: false, cause: 'disarmed', detail: 'The camera is switched off in the config.' }
    if (!this.#needs.wanted.of(camera).running) {
      const isStopped = this.#needs.wanted.controlOf(camera)?.action === 'stop'
      const detail = isStopped ? 'Detection was stopped through the API.' : 'Detection is switched off in the config.'
      return { watches: false, cause: 'disarmed', detail }
    }
    const detail = this.#outsideHours(camera)
    return detail === undefined ? { watches: true } : { watches: false, cause: 'outside_hours', detail }
  }

  /** Returns what each camera is to do. */
  all(): Map<number, Duty> {
    return new Map(this.#needs.configured.site.cameras.map((camera) => [camera.id, this.of(camera)]))
  }

  /**
   * Returns whether continuous video is stored at a time by the present config; default: now. It is also stored while detection is
   * stopped, but not outside the recording hours.
   */
  keepsHistory(camera: CameraConfig, atMs: number = this.#needs.clock.now()): boolean {
    return camera.enabled && camera.history.hours > 0 && this.#outsideHours(camera, atMs) === undefined
  }

  /** Says that it is outside the camera's recording hours, in words; undefined within them. */
  #outsideHours(camera: CameraConfig, atMs: number = this.#needs.clock.now()): string | undefined {
    const { recordingHours } = camera
    if (recordingHours === null) return undefined
    const zone = this.#needs.zoneOf(this.#needs.configured.warehouseOf(camera.id))
    const hours = recordingHours.map(parseWeeklyHours).filter((one) => one !== undefined)
    if (isWithinHours(hours, zone, atMs)) return undefined
    return `It is outside the recording hours (${recordingHours.join(', ')} in ${zone}). It records again when they begin.`
  }
}
