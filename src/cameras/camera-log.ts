import type { Logger } from '../platform/index.ts'
import type { CameraState, Problem } from '../video/index.ts'

/** Logs what is wrong with a camera, in the words of the console: once for each problem, not at every attempt. */
export class CameraLog {
  readonly #log: Logger
  readonly #logged = new Map<number, Problem>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** @param name as the config has it */
  heard({ cameraId, state, problem, words }: CameraState, name: string): void {
    const logged = this.#logged.get(cameraId)
    if (state === 'live' && logged !== undefined) {
      this.#logged.delete(cameraId)
      this.#log.info({ cameraId }, `${name} gives pictures again`)
    } else if (problem !== null && words && problem !== logged) {
      this.#logged.set(cameraId, problem)
      this.#log.warn({ cameraId, problem }, `${name} gives no pictures. ${words.what} ${words.hint}`)
    }
  }
}
