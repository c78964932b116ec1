import type { CameraState, CameraStatus } from '../video/index.ts'

/** What the cameras thread said last, by camera. */
export class LatestReports {
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
