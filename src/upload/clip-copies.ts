import type { DetectionCopies, DetectionEventRow } from '../cameras/index.ts'
import type { ReadTx, Tx } from '../database/index.ts'
import type { CopyState, UploadQueue } from './queue.ts'
import * as store from './store.ts'
import { clipUpload } from './things.ts'

type ClipCopiesNeeds = {
  readonly queue: UploadQueue
  readonly siteId: string
  /** `uploadToStorage` of a camera, as of now. */
  readonly isWanted: (cctvId: number) => boolean
}

/** The copies of clips, as the room cameras needs them. */
export class ClipCopies implements DetectionCopies {
  readonly #needs: ClipCopiesNeeds

  constructor(needs: ClipCopiesNeeds) {
    this.#needs = needs
  }

  /** Queues the clip of a new detection, in its transaction, unless its camera is not to be uploaded. */
  recorded(tx: Tx, row: DetectionEventRow): void {
    const { queue, siteId, isWanted } = this.#needs
    if (!queue.isConfigured) return
    const file = isWanted(row.cctv_id) ? clipUpload(tx, siteId, row) : undefined
    if (file) queue.enqueue(tx, file)
    // Decided now: when the settings change later, the backlog does not decide again.
    if (store.lookedUpTo(tx, 'clip') === row.row - 1) store.lookUpTo(tx, 'clip', row.row)
  }

  stateOf(tx: ReadTx, row: DetectionEventRow): CopyState {
    if (row.clip_sha256 === null) return { status: 'not_configured', url: null }
    const isStillToDecide = store.lookedUpTo(tx, 'clip') < row.row
    return this.#needs.queue.stateOf(tx, 'clip', String(row.id), isStillToDecide && this.#needs.isWanted(row.cctv_id))
  }

  /** Clips of a camera that are not on the server yet. */
  pendingOf(tx: ReadTx, cctvId: number): number {
    return this.#needs.queue.isConfigured ? store.countOpenOfCamera(tx, cctvId) : 0
  }
}
