import { type CameraState, type CameraStatus, type Impairment, plainWords } from '../video/index.ts'

/** State of a camera that should give pictures. */
export type CameraHealth = {
  readonly id: number
  readonly name: string
  /**
   * When it last gave pictures, in milliseconds since the epoch; when it was first wanted, if it never did. Null while it
   * gives pictures. A new attempt that fails does not move it.
   */
  readonly badSinceMs: number | null
  /** The problem and its remedy, for the admin; null while the camera gives pictures. */
  readonly problem: string | null
  /** Scene as a whole, while it gives pictures. */
  readonly scene: CameraStatus['scene'] | null
  /** Why motion cannot be found though pictures come; null while it can. */
  readonly impairment: { readonly why: Impairment; readonly forSeconds: number } | null
}

type Known = {
  /** Monotonic milliseconds: when it last gave pictures, or was first wanted. */
  readonly wellMs: number
  readonly isWell: boolean
  readonly problem: string | null
}

const notYet = 'No picture has come yet since the camera was asked. Wait a few seconds.'
/** Problem of every camera while the cameras thread does not run. */
export const noThread = {
  code: 'no-thread',
  words: 'The part of gatehouse that reads the cameras is not running. The log of gatehouse says why.',
}
/** The same when it waits for an ffmpeg. */
export const noFfmpeg = { code: 'no-program', words: Object.values(plainWords('no-program')).join(' ') }

/**
 * Remembers since when each wanted camera has given no pictures. Times passed in are monotonic milliseconds. A camera
 * without any report has been without pictures since `startedMs`.
 */
export class CameraHealthBook {
  readonly #startedMs: number
  readonly #known = new Map<number, Known>()

  constructor(startedMs: number) {
    this.#startedMs = startedMs
  }

  /** Notes that the camera should give pictures from now on. Changes nothing when it already should. */
  want(cameraId: number, nowMs: number): void {
    if (!this.#known.has(cameraId)) this.#known.set(cameraId, { wellMs: nowMs, isWell: false, problem: noThread.words })
  }

  /** Forgets a camera that is not wanted now. */
  unwant(cameraId: number): void {
    this.#known.delete(cameraId)
  }

  heard({ cameraId, state, words }: CameraState, nowMs: number): void {
    const known = this.#known.get(cameraId)
    if (!known) return
    const isWell = state === 'live'
    const problem = words ? `${words.what} ${words.hint}` : notYet
    this.#known.set(cameraId, {
      wellMs: isWell || known.isWell ? nowMs : known.wellMs,
      isWell,
      problem: isWell ? null : problem,
    })
  }

  /** Marks all cameras as without pictures: the cameras thread has ended. */
  threadGone(nowMs: number, problem: string): void {
    for (const [id, { isWell, wellMs }] of this.#known) {
      this.#known.set(id, { wellMs: isWell ? nowMs : wellMs, isWell: false, problem })
    }
  }

  /** Returns how long a wanted camera has given no pictures, in milliseconds, and why; undefined while it does. */
  badness(cameraId: number, nowMs: number): { forMs: number; problem: string | null } | undefined {
    const known = this.#known.get(cameraId) ?? { wellMs: this.#startedMs, isWell: false, problem: noThread.words }
    return known.isWell ? undefined : { forMs: nowMs - known.wellMs, problem: known.problem }
  }
}
