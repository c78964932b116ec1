import { type DetectionCopies, type DetectionEventRow, findOpenClip, type OpenClip } from '../../cameras/index.ts'
import type { ReadTx, Tx } from '../../database/index.ts'
import { clipOfName, clipToCome, holdsOn } from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import { partsFolder } from '../dav/paths.ts'
import type { CopyState, UploadQueue } from '../queue.ts'
import * as store from '../store.ts'
import { clipUpload } from '../things.ts'
import * as open from './open-clip-store.ts'

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

  /** An incident needs a file, or what `clipToCome` names. A clip that is being recorded is sent from now on. */
  hurry(tx: Tx, name: string): void {
    this.#needs.queue.hurry(tx, name)
    const id = clipOfName(name)
    const clip = id === undefined ? undefined : findOpenClip(tx, id)
    if (clip) this.#sendOpen(tx, clip)
  }

  /** Sends a clip from its first second on when an incident holds all clips of its camera. */
  begun(tx: Tx, clip: OpenClip): void {
    if (holdsOn(tx, clipToCome(clip.id)).some(({ reason }) => reason === 'incident')) this.#sendOpen(tx, clip)
  }

  /** The parts of a film that was not made go when the clip that shows the same is on the server. */
  covered(tx: Tx, film: number, by: number): void {
    if (open.findOpen(tx, film)) open.finishOpen(tx, film, by)
  }

  #sendOpen(tx: Tx, { id, cctvId, atMs }: OpenClip): void {
    const { queue, siteId, isWanted } = this.#needs
    const { root } = queue
    if (root === undefined || !isWanted(cctvId)) return
    const about = {
      ...{ siteId, detectionId: id, cameraId: cctvId, timestamp: isoTime(atMs) },
      unfinished:
        'Parts of a clip that was still being recorded. Joined in the order of their names they can be played.',
    }
    const path = partsFolder(siteId, { id, cctvId, atMs })
    open.openClip(tx, { detection_id: id, cctv_id: cctvId, root, path, about: JSON.stringify(about, undefined, 2) })
    queue.noteChange()
  }

  /** Queues the clip of a new detection, in its transaction, unless its camera is not to be uploaded. */
  recorded(tx: Tx, row: DetectionEventRow): void {
    const { queue, siteId, isWanted } = this.#needs
    if (open.findOpen(tx, row.id)) {
      if (row.clip_sha256 === null) open.keepParts(tx, row.id)
      else open.finishOpen(tx, row.id, row.id)
    }
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
