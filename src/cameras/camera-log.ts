import type { Logger } from '../platform/index.ts'
import type { CameraState, Problem } from '../video/index.ts'

/** Logs what is wrong with a camera, in the words of the console: once for each problem, not at every attempt. */
export class CameraLog {
  readonly #log: Logger
  readonly #told = new Map<number, Problem>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** @param name as the config has it */
  heard({ cameraId, state, problem, words }: CameraState, name: string): void {
    const told = this.#told.get(cameraId)
    if (state === 'live' && told !== undefined) {
      this.#told.delete(cameraId)
      this.#log.info({ cameraId }, `${name} gives pictures again`)
    } else if (problem !== null && words && problem !== told) {
      this.#told.set(cameraId, problem)
      this.#log.warn({ cameraId, problem }, `${name} gives no pictures. ${words.what} ${words.hint}`)
    }
  }
}
