import type { Logger } from '../platform/index.ts'
import type { CameraState, Problem } from '../video/index.ts'

/** Logs what is wrong with a camera, in the words of the console: once for each problem, not at every attempt. A live one can have one. */
export class CameraLog {
  readonly #log: Logger
  readonly #logged = new Map<number, { readonly problem: Problem; readonly isLive: boolean }>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** @param name as the config has it */
  heard({ cameraId, state, problem, words }: CameraState, name: string): void {
    const isLive = state === 'live'
    const logged = this.#logged.get(cameraId)
    if (isLive && logged && (!logged.isLive || problem === null)) {
      this.#logged.delete(cameraId)
      this.#log.info({ cameraId }, `${name} gives pictures ${logged.isLive ? 'without a problem again' : 'again'}`)
    }
    if (problem === null || !words || problem === this.#logged.get(cameraId)?.problem) return
    this.#logged.set(cameraId, { problem, isLive })
    const gives = isLive ? 'gives pictures, but there is a problem' : 'gives no pictures'
    this.#log.warn({ cameraId, problem }, `${name} ${gives}. ${words.what} ${words.hint}`)
  }
}
