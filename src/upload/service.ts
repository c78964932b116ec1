import { keysOfPage, type UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { countLimit, historyLimit, type RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { isoTime } from '../platform/index.ts'
import { openClips as openClipsOf } from './open-clip-store.ts'
import type { OpenClip, Upload, UploadQuery } from './schema.ts'
import * as store from './store.ts'
import type { OpenClipRow, UploadRow } from './tables.ts'

type UploadServiceNeeds = {
  readonly work: UnitOfWork
  readonly audit: AuditTrail
  /** Called when a file is to be tried at once. */
  readonly onRetry: () => void
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
    const rows = this.#needs.work.read((tx) => keys.flatMap(([id = 0]) => store.findUpload(tx, id) ?? []))
    const pagination = { limit, offset, total, hasMore, nextCursor: null }
    const openClips = this.#needs.work.read(openClipsOf).map(shownOpen)
    return { success: true as const, data: rows.map(shown), pagination, openClips }
  }

  /** Tries a parked or waiting file again at once. Throws NOT_FOUND, and INVALID_TRANSITION for one that is uploaded. */
  async retry(id: number | undefined, by: RequestOrigin): Promise<{ success: true } & Upload> {
    const row = await this.#needs.work.write((tx) => {
      const found = id === undefined ? undefined : store.findUpload(tx, id)
      if (!found) throw AppError.notFound('Upload')
      if (found.status === 'uploaded') {
        throw new AppError('INVALID_TRANSITION', 'The file is uploaded', { details: `it is at ${found.url}` })
      }
      store.retry(tx, found.id)
      const changes = { status: { from: found.status, to: 'pending' }, kind: found.kind, ref: found.ref }
      this.#needs.audit.write(tx, by, { action: 'upload.retried', entity: 'upload', entityId: found.id, changes })
      return store.findUpload(tx, found.id) ?? found
    })
    this.#needs.onRetry()
    return { success: true, ...shown(row) }
  }
}

function shown(row: UploadRow): Upload {
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
    lastError: row.last_error,
    verified: row.verified,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    urgent: row.urgent === 1,
    url: row.url,
    queuedAt: isoTime(row.queued_at_ms),
    uploadedAt: row.uploaded_at_ms === null ? null : isoTime(row.uploaded_at_ms),
  }
}

function shownOpen(row: OpenClipRow): OpenClip {
  const { detection_id: detectionId, cctv_id: cctvId, parts, sent_bytes: sentBytes, status } = row
  return { detectionId, cctvId, path: `${row.root}/${row.path}`, parts, sentBytes, status }
}
