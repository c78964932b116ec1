import type { CameraStatus } from '../video/index.ts'

/** Facts of a camera whose clips begin later than they should. */
export type ShortPreRoll = Pick<CameraStatus, 'heldSeconds' | 'keyFrameSeconds'> & {
  readonly problem: NonNullable<CameraStatus['preRollProblem']>
  /** Milliseconds for which it has been so. */
  readonly forMs: number
}

type Known = { readonly sinceMs: number; readonly status: CameraStatus }

/** Remembers since when cameras keep less video than their pre-roll needs. Times passed in are monotonic milliseconds. */
export class PreRollBook {
  readonly #short = new Map<number, Known>()

  heard(status: CameraStatus, nowMs: number): void {
    const { cameraId, preRollProblem } = status
    if (preRollProblem === null) this.#short.delete(cameraId)
    else this.#short.set(cameraId, { sinceMs: this.#short.get(cameraId)?.sinceMs ?? nowMs, status })
  }

  /** Forgets a camera that gives no pictures: its clips have other troubles. */
  forget(cameraId: number): void {
    this.#short.delete(cameraId)
  }

  /** Undefined while the camera keeps enough. */
  of(cameraId: number, nowMs: number): ShortPreRoll | undefined {
    const known = this.#short.get(cameraId)
    if (!known || known.status.preRollProblem === null) return undefined
    const { heldSeconds, keyFrameSeconds, preRollProblem: problem } = known.status
    return { heldSeconds, keyFrameSeconds, problem, forMs: nowMs - known.sinceMs }
  }
}
