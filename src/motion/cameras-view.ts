import type { ConfigNames } from '../auth/index.ts'
import type { CameraState, CameraStatus } from '../cameras/index.ts'
import type { CameraConfig } from '../config/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'

/** What the cameras thread said last, by camera. */
export class CamerasView {
  readonly #states = new Map<number, CameraState>()
  readonly #statuses = new Map<number, CameraStatus>()

  heard(message: CameraState | CameraStatus): void {
    if (message.type === 'state') this.#states.set(message.cameraId, message)
    else this.#statuses.set(message.cameraId, message)
  }

  state(cameraId: number): CameraState | undefined {
    return this.#states.get(cameraId)
  }

  status(cameraId: number): CameraStatus | undefined {
    return this.#statuses.get(cameraId)
  }

  /** Detection begins anew: what was counted before is over. */
  forgetCounts(cameraId: number): void {
    this.#statuses.delete(cameraId)
  }

  /** The thread died: nothing is known until it says so again. */
  forgetAll(): void {
    this.#states.clear()
  }
}

/** Who sees a camera: its owner, its viewers (users or groups) and admins. */
export function maySee(names: ConfigNames, caller: Caller, { owner, viewers }: CameraConfig): boolean {
  return caller.role === 'admin' || names.meanUser(owner, caller) || names.mean(viewers, caller)
}

/** Who starts and stops it: its owner, and whoever sees it and has cameras:control. Throws PERMISSION_DENIED. */
export function demandControl(names: ConfigNames, caller: Caller, camera: CameraConfig): void {
  if (names.meanUser(camera.owner, caller) || caller.permissions.has('cameras:control')) return
  throw new AppError('PERMISSION_DENIED', 'This camera is not yours to control', {
    details: `role ${caller.role} lacks cameras:control`,
  })
}
