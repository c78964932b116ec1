import type { CameraState, CameraStatus } from '../../video/index.ts'

/** Keeps the last reports of the cameras thread, by camera. */
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

  /** Forgets the counters: detection was started again. */
  forgetCounts(cameraId: number): void {
    this.#statuses.delete(cameraId)
  }

  /** Forgets everything: the thread has ended. */
  forgetAll(): void {
    this.#states.clear()
  }
}
