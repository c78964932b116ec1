import { keysOfPage, type ReadTx, type Tx, type UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { countLimit, historyLimit, type RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { removalOf } from '../log/index.ts'
import { type Clock, isoTime } from '../platform/index.ts'
import { comparedAtMs, hurryCheck } from './copies/check-store.ts'
import { openClips as openClipsOf } from './copies/open-clip-store.ts'
import { isOfAccount } from './dav/probe.ts'
import { errorOf, type Line } from './line.ts'
import { uploadAgain } from './queue.ts'
import type { OpenClip, Upload, UploadQuery } from './schema.ts'
import * as store from './store.ts'
import type { OpenClipRow, UploadRow } from './tables.ts'
import type { UploadTarget } from './worker.ts'

type UploadServiceNeeds = {
  readonly work: UnitOfWork
  readonly audit: AuditTrail
  /** Called when a file is to be tried at once. */
  readonly onRetry: () => void
  /** State of the server, and the reason why files wait for it. */
  readonly line: () => Line
  readonly clock: Pick<Clock, 'now'>
  /** Null while `storage.upload` is not set. */
  readonly target: () => UploadTarget | null
}

/** Shows the queue to admins and auditors, and puts parked files back into it. */
export class UploadService {
  readonly #needs: UploadServiceNeeds

  constructor(needs: UploadServiceNeeds) {
    this.#needs = needs
  }

  /** Newest first. Ends early when `signal` says that the client has gone. */
  async list(query: UploadQuery, signal?: AbortSignal) {
    const { limit = historyLimit, offset = 0 } = query
    const listing = store.uploadsOf(query)
    const { keys, hasMore, total } = await keysOfPage(this.#needs.work, listing, { limit, offset }, countLimit, signal)
    const rows = this.#needs.work.read((tx) =>
      keys.flatMap(([id = 0]) => {
        const row = store.findUpload(tx, id)
        return row ? [this.#shown(tx, row)] : []
      }),
    )
    const pagination = { limit, offset, total, hasMore, nextCursor: null }
    const openClips = this.#needs.work.read(openClipsOf).map(shownOpen)
    return { success: true as const, data: rows, pagination, openClips }
  }

  /**
   * Tries a parked or waiting file again at once. Compares the copy of an uploaded file at once, and uploads it again when the copy
   * is missing or changed. A file whose copy is on a former server is uploaded to the present one. Throws NOT_FOUND. Throws
   * INVALID_TRANSITION for an uploaded copy of the ledger, which newer ones may have replaced. Throws it too for a file that is
   * only on a former server.
   */
  async retry(id: number | undefined, by: RequestOrigin): Promise<{ success: true } & Upload> {
    const row = await this.#needs.work.write((tx) => {
      const found = id === undefined ? undefined : store.findUpload(tx, id)
      if (!found) throw AppError.notFound('Upload')
      const isUploaded = found.status === 'uploaded'
      if (isUploaded && comparedAtMs(tx, found.id) === undefined) {
        throw new AppError('INVALID_TRANSITION', 'The file is uploaded', { details: `it is at ${found.url}` })
      }
      const to = isUploaded ? this.#lookAtCopy(tx, found) : 'pending'
      if (!isUploaded) store.retry(tx, found.id)
      const changes = { status: { from: found.status, to }, kind: found.kind, ref: found.ref }
      this.#needs.audit.write(tx, by, { action: 'upload.retried', entity: 'upload', entityId: found.id, changes })
      return this.#shown(tx, store.findUpload(tx, found.id) ?? found)
    })
    this.#needs.onRetry()
    return { success: true, ...row }
  }

  /** Returns the status that an uploaded file then has. Throws INVALID_TRANSITION. */
  #lookAtCopy(tx: Tx, row: UploadRow): 'uploaded' | 'pending' {
    const target = this.#needs.target()
    if (!target || isOfAccount(row, target)) {
      hurryCheck(tx, row.id)
      return 'uploaded'
    }
    const elsewhere = `the copy is at ${row.url}, and uploads go to another server or account by now`
    if (removalOf(tx, row.sha256)) {
      throw new AppError('INVALID_TRANSITION', 'The file is not on this box', { details: elsewhere })
    }
    uploadAgain(tx, row, elsewhere, this.#needs.clock.now())
    return 'pending'
  }

  #shown(tx: ReadTx, row: UploadRow): Upload {
    const comparedMs = comparedAtMs(tx, row.id)
    return shown(row, errorOf(this.#needs.line()), comparedMs ?? row.uploaded_at_ms)
  }
}

/** `lineError`: why nothing is sent now, which is the newest fact about a file that waits. */
function shown(row: UploadRow, lineError: string | null, comparedMs: number | null): Upload {
  const isWaiting = row.status === 'pending' && row.next_attempt_at_ms > 0
  return {
    id: row.id,
    kind: row.kind,
    ref: row.ref,
    path: `${row.root}/${row.path}`,
    status: row.status,
    parkedFor: row.parked_for,
    attempts: row.attempts,
    nextAttemptAt: isWaiting ? isoTime(row.next_attempt_at_ms) : null,
    lastError: row.status === 'pending' ? (lineError ?? row.last_error) : row.last_error,
    verified: row.verified,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    urgent: row.urgent === 1,
    url: row.url,
    queuedAt: isoTime(row.queued_at_ms),
    uploadedAt: row.uploaded_at_ms === null ? null : isoTime(row.uploaded_at_ms),
    comparedAt: comparedMs === null ? null : isoTime(comparedMs),
  }
}

function shownOpen(row: OpenClipRow): OpenClip {
  const { detection_id: detectionId, cctv_id: cctvId, parts, sent_bytes: sentBytes, status } = row
  return { detectionId, cctvId, path: `${row.root}/${row.path}`, parts, sentBytes, status }
}
