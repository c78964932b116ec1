import { AppError } from '../../errors/index.ts'
import type { Clock } from '../../platform/index.ts'
import type { FromCameras, SnapshotFailed, SnapshotTaken } from '../../video/index.ts'
import type { CamerasLink } from '../detections/recorder.ts'
import type { Watched } from '../watched.ts'
import type { TroubleOf } from './views.ts'

/** A picture that is older is not shown as the newest one. */
const oldestMs = 2000
/** A picture younger than this serves the next caller too. */
const sharedMs = 1000
/** The cameras thread answers within 10 s and the time of the decoders in front. */
const answerMs = 30_000

export type Snapshot = { readonly png: Uint8Array<ArrayBuffer>; readonly takenAt: number }

type Taking = { readonly result: Promise<Snapshot>; readonly take: (answer: SnapshotTaken | SnapshotFailed) => void }

type SnapshotsNeeds = {
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly link: CamerasLink
  readonly watched: Watched
  readonly troubleOf: TroubleOf
}

/** Takes the newest pictures of cameras: one decode at a time for each camera, however many ask. */
export class Snapshots {
  readonly #needs: SnapshotsNeeds
  readonly #newest = new Map<number, Snapshot>()
  readonly #underWay = new Map<number, Promise<Snapshot>>()
  readonly #asks = new Map<number, Taking['take']>()
  #lastAsk = 0

  constructor(needs: SnapshotsNeeds) {
    this.#needs = needs
  }

  /**
   * Resolves with a picture that is at most 2 s old. A camera without a connection is connected for it. Rejects with
   * NO_PICTURE and the camera's problem.
   */
  async of(cctvId: number): Promise<Snapshot> {
    const known = this.#newest.get(cctvId)
    if (known && this.#ageMs(known) <= sharedMs) return known
    const taken = this.#underWay.get(cctvId) ?? this.#begin(cctvId)
    const snapshot = await taken
    if (this.#ageMs(snapshot) <= oldestMs) return snapshot
    throw noPicture('The newest picture is older than 2 s: the gateway is busy, or the camera sends pictures rarely.')
  }

  heard(message: FromCameras): void {
    if (message.type === 'snapshotTaken' || message.type === 'snapshotFailed') this.#asks.get(message.ask)?.(message)
  }

  /** Ends what is under way: the cameras thread has ended. */
  threadEnded(): void {
    for (const [ask, take] of [...this.#asks]) take({ type: 'snapshotFailed', ask, why: 'no-picture' })
  }

  #ageMs({ takenAt }: Snapshot): number {
    return this.#needs.clock.now() - takenAt
  }

  #begin(cctvId: number): Promise<Snapshot> {
    const { watched, troubleOf } = this.#needs
    const release = watched.hold(cctvId)
    const trouble = troubleOf(cctvId)
    if (trouble !== undefined) {
      release()
      return Promise.reject(noPicture(trouble))
    }
    const taken = this.#ask(cctvId).finally(() => {
      this.#underWay.delete(cctvId)
      release()
    })
    this.#underWay.set(cctvId, taken)
    return taken
  }

  #ask(cctvId: number): Promise<Snapshot> {
    this.#lastAsk += 1
    const ask = this.#lastAsk
    return new Promise((resolve, reject) => {
      const take = (answer: SnapshotTaken | SnapshotFailed) => {
        cancel()
        this.#asks.delete(ask)
        if (answer.type === 'snapshotFailed') return reject(noPicture(this.#words(cctvId, answer.why)))
        const { png, takenAt } = answer
        this.#newest.set(cctvId, { png, takenAt })
        // The bytes of a picture that no one can get any more are not kept.
        this.#needs.clock.after(sharedMs, () => {
          if (this.#newest.get(cctvId)?.takenAt === takenAt) this.#newest.delete(cctvId)
        })
        return resolve({ png, takenAt })
      }
      const cancel = this.#needs.clock.after(answerMs, () => take({ type: 'snapshotFailed', ask, why: 'no-picture' }))
      this.#asks.set(ask, take)
      this.#needs.link.send({ type: 'snapshot', cameraId: cctvId, ask })
    })
  }

  #words(cctvId: number, why: SnapshotFailed['why']): string {
    if (why === 'unreadable') return 'The newest picture of the camera could not be decoded. The log says why.'
    return this.#needs.troubleOf(cctvId) ?? 'No new picture came from the camera.'
  }
}

function noPicture(problem: string): AppError {
  return new AppError('NO_PICTURE', 'The camera gives no picture now', { details: problem, retryAfterSeconds: 5 })
}
