import type { CameraConfig } from '../config/index.ts'
import type { UnitOfWork } from '../database/index.ts'
import { sha256 } from '../log/index.ts'
import type { ConfiguredCameras } from './configured.ts'
import type { MotionSettings } from './schema.ts'
import * as store from './store.ts'

type WantedCamerasNeeds = { readonly work: UnitOfWork; readonly configured: ConfiguredCameras }

export type Wanted = { readonly running: boolean; readonly settings: MotionSettings }

/** Wanted state of each camera, by the config or by a later start or stop through the API. */
export class WantedCameras {
  readonly #needs: WantedCamerasNeeds
  /** Cameras of which a stream is wanted, for detection or for continuous video. */
  readonly #on = new Set<number>()

  constructor(needs: WantedCamerasNeeds) {
    this.#needs = needs
  }

  /** Returns whether detection of the camera is to run, and with which settings. */
  of(camera: CameraConfig): Wanted {
    const { enabled, source: _, masks: __, zones: ___, ...fromConfig } = camera.motion
    const said = this.controlOf(camera)
    const running = camera.enabled && (said ? said.action === 'start' : enabled)
    return {
      running,
      settings: { ...fromConfig, ...(said ? (JSON.parse(said.settings) as Partial<MotionSettings>) : {}) },
    }
  }

  /** Returns the start or stop of the API, while the camera's motion block is unchanged since; else undefined. */
  controlOf(camera: CameraConfig): store.Control | undefined {
    const said = this.#needs.work.read((tx) => store.findControl(tx, camera.id))
    return said?.config_sha256 === motionHash(camera) ? said : undefined
  }

  /** Says whether a stream of the camera is wanted now. */
  isOn(cctvId: number): boolean {
    return this.#on.has(cctvId)
  }

  setOn(cctvId: number, isOn: boolean): void {
    if (isOn) this.#on.add(cctvId)
    else this.#on.delete(cctvId)
  }

  /** Says whether clips of the camera are to be uploaded. A camera that is not in the config any more had its clips so. */
  uploadsClips(cctvId: number): boolean {
    const camera = this.#needs.configured.site.cameras.find(({ id }) => id === cctvId)
    return camera === undefined || this.of(camera).settings.uploadToStorage
  }
}

/** Returns a hash that distinguishes motion blocks of the config. */
export function motionHash(camera: CameraConfig): string {
  const { zones, source, ...motion } = camera.motion
  // Without newer keys at their defaults as before there were any: a start through the API survives an update of gatehouse.
  const hashed = {
    ...motion,
    ...(zones.length > 0 && { zones }),
    ...(source !== 'pictures' && { source }),
  }
  return sha256(JSON.stringify(hashed)).toString('hex')
}
