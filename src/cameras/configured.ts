import type { ConfigNames } from '../auth/index.ts'
import type { CameraConfig } from '../config/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'
import { mayExport, maySee } from './access.ts'
import { lookingAt } from './detections/watched-slots.ts'

export type CamerasSettings = {
  readonly cameras: readonly CameraConfig[]
  readonly siteUrl: string
  readonly warehouseId: number
  /** Bytes of the disk that clips leave for the ledger. */
  readonly reserveBytes: number
  /** Bytes of the disk that continuous video leaves free. */
  readonly minFreeBytes: number
  /** Whether a second person has to approve an export. */
  readonly fourEyesForExport: boolean
  /** Days and bytes for which the cells of motion detection are stored. */
  readonly cells: { readonly days: number; readonly mostBytes: number }
  /** Bytes of memory for the newest video of all cameras. */
  readonly memoryBytes: number
}

type ConfiguredCamerasNeeds = { readonly site: () => CamerasSettings; readonly names: ConfigNames }

/** The cameras of the current config, and the rules of their visibility. */
export class ConfiguredCameras {
  readonly #needs: ConfiguredCamerasNeeds

  constructor(needs: ConfiguredCamerasNeeds) {
    this.#needs = needs
  }

  /** Returns all cameras with the settings of the site, as of now. */
  get site(): CamerasSettings {
    return this.#needs.site()
  }

  get names(): ConfigNames {
    return this.#needs.names
  }

  visibleTo(caller: Caller): CameraConfig[] {
    return this.site.cameras.filter((camera) => maySee(this.#needs.names, caller, camera))
  }

  visibleIds(caller: Caller): number[] {
    return this.visibleTo(caller).map(({ id }) => id)
  }

  /** Says whether the camera exists and the caller may see it. */
  isVisible(cctvId: number, caller: Caller): boolean {
    return this.visibleIds(caller).includes(cctvId)
  }

  /** Returns a camera's config. Throws NOT_FOUND, also for a camera that the caller may not see. */
  visible(cctvId: number, caller: Caller): CameraConfig {
    const camera = this.visibleTo(caller).find(({ id }) => id === cctvId)
    if (!camera) throw AppError.notFound('Camera')
    return camera
  }

  /**
   * Throws SECOND_PERSON_NEEDED when exports need four eyes and the caller may not export, because a viewer can save a played clip.
   */
  demandPlay(cctvId: number, caller: Caller): void {
    const camera = this.visible(cctvId, caller)
    if (!this.site.fourEyesForExport || mayExport(this.#needs.names, caller, camera)) return
    throw new AppError('SECOND_PERSON_NEEDED', 'Clips leave this gateway with the agreement of two people only', {
      details: 'privacy.fourEyesForExport is on: its owner, supervisors and admins play clips; ask one of them.',
    })
  }

  /** Returns the cameras that watch a slot: those that the caller may see, and the number of others. */
  watching(slotCode: string, caller: Caller): { visible: { id: number; name: string }[]; hidden: number } {
    const all = lookingAt(this.site.cameras, slotCode)
    const visible = all
      .filter((camera) => maySee(this.#needs.names, caller, camera))
      .map(({ id, name }) => ({ id, name }))
    return { visible, hidden: all.length - visible.length }
  }

  /** Returns the name of a camera, also of one that was removed from the config. */
  nameOf(cctvId: number): string {
    return this.site.cameras.find(({ id }) => id === cctvId)?.name ?? `Camera ${cctvId}`
  }

  /** Returns the warehouse of a camera by the current config. */
  warehouseOf(cctvId: number): number {
    const { cameras, warehouseId } = this.site
    return cameras.find(({ id }) => id === cctvId)?.warehouseId ?? warehouseId
  }
}
