import type { ReadTx, Tx } from '../database/index.ts'
import { holdMedia, releaseEvery, releaseMedia } from '../log/index.ts'
import type { Clock } from '../platform/index.ts'
import { endCheck } from './copies/check-store.ts'
import * as store from './store.ts'
import type { UploadKind, UploadRow, UploadStatus } from './tables.ts'

/** Copies of the ledger: their files are no media, and the room that made them keeps them until they are uploaded. */
const unheld: ReadonlySet<UploadKind> = new Set(['segment', 'snapshot', 'backup'])

/** Why the files of the queue must stay on this box. */
const holdReason = 'upload'
const holdRef = ({ kind, ref }: { kind: UploadKind; ref: string }) => `${kind}:${ref}`

/** A file to copy to the storage server. */
export type NewFile = {
  readonly kind: UploadKind
  /** Names the thing that the file is a copy of; each `kind` and `ref` is queued once. */
  readonly ref: string
  /** On the server, below the root, without a slash in front. It must be unique: nothing is overwritten. */
  readonly path: string
  /** On this box, below the data folder. */
  readonly file: string
  readonly sha256: string
  readonly sizeBytes: number
  /** Stored as JSON beside it. */
  readonly about?: Readonly<Record<string, unknown>>
  readonly cctvId?: number
  /** An incident needs it: it goes before all others. */
  readonly urgent?: boolean
}

/** How far the copy of a thing is. */
export type CopyState = { readonly status: UploadStatus | 'not_configured'; readonly url: string | null }

export type QueueSettings = { readonly root: string }

type UploadQueueNeeds = {
  readonly clock: Pick<Clock, 'now'>
  /** Null while `storage.upload` is not set. */
  readonly settings: () => QueueSettings | null
}

/** Queue of files to be copied to the storage server. A row is written in the transaction of its fact. */
export class UploadQueue {
  readonly #needs: UploadQueueNeeds
  #hasChanged = false

  constructor(needs: UploadQueueNeeds) {
    this.#needs = needs
  }

  /** Whether files are uploaded at all, as of now. */
  get isConfigured(): boolean {
    return this.#needs.settings() !== null
  }

  /** Below which folder of the account files are stored; undefined while they are not uploaded. */
  get root(): string | undefined {
    return this.#needs.settings()?.root
  }

  /** Something else than a file has to be sent: a part of a clip. */
  noteChange(): void {
    this.#hasChanged = true
  }

  /** Queues a file, once, and holds it on this box until it is uploaded. Does nothing while `storage.upload` is not set. */
  enqueue(tx: Tx, file: NewFile): void {
    const settings = this.#needs.settings()
    if (!settings) return
    const nowMs = this.#needs.clock.now()
    const { kind, ref, path, sha256, about } = file
    const isNew = store.add(tx, {
      ...{ kind, ref, path, sha256, file: file.file, root: settings.root, size_bytes: file.sizeBytes },
      about: about ? JSON.stringify(about, undefined, 2) : null,
      cctv_id: file.cctvId ?? null,
      urgent: file.urgent ? 1 : 0,
      queued_at_ms: nowMs,
    })
    if (!isNew) return
    holdUntilUploaded(tx, file, nowMs)
    this.#hasChanged = true
  }

  /** An incident needs these bytes: they go before all others. */
  hurry(tx: Tx, sha256: string): void {
    store.hurry(tx, sha256)
    this.#hasChanged = true
  }

  /** Returns how far the copy of a thing is. `isWanted`: whether it is queued sooner or later where it is not yet. */
  stateOf(tx: ReadTx, kind: UploadKind, ref: string, isWanted = true): CopyState {
    const row = store.copyOf(tx, kind, ref)
    if (row?.status === 'uploaded') return row
    if (!this.isConfigured || (!row && !isWanted)) return { status: 'not_configured', url: null }
    return row ?? { status: 'pending', url: null }
  }

  /** Says whether files were queued or hurried since the last call. */
  takeChange(): boolean {
    const hasChanged = this.#hasChanged
    this.#hasChanged = false
    return hasChanged
  }
}

/**
 * Holds the next files of the queue behind an id again, which `releaseQueue` released. Returns the last id; undefined at
 * the end.
 */
export function holdQueueAgain(tx: Tx, id: number, nowMs: number): number | undefined {
  const rows = store.openBehind(tx, id)
  for (const row of rows) holdUntilUploaded(tx, row, nowMs)
  return rows.at(-1)?.id
}

/** Ends the holds of the queue: without `storage.upload` nothing is ever uploaded, and the disk would fill. */
export function releaseQueue(tx: Tx): void {
  releaseEvery(tx, holdReason)
}

/** Holds a file on this box until it is uploaded. */
export function holdUntilUploaded(tx: Tx, row: Pick<UploadRow, 'kind' | 'ref' | 'sha256'>, nowMs: number): void {
  if (!unheld.has(row.kind)) holdMedia(tx, { sha256: row.sha256, reason: holdReason, ref: holdRef(row) }, nowMs)
}

/**
 * The copy of an uploaded file does not count any more: the file is uploaded again, to the path of the row. Returns whether it was
 * uploaded.
 */
export function uploadAgain(tx: Tx, row: UploadRow, error: string, nowMs: number): boolean {
  if (!store.copyIsLost(tx, row, { parkedFor: null, error, nowMs })) return false
  endCheck(tx, row.id)
  holdUntilUploaded(tx, row, nowMs)
  return true
}

/** Ends the hold of an uploaded file. */
export function releaseUploaded(tx: Tx, row: Pick<UploadRow, 'kind' | 'ref'>): void {
  releaseMedia(tx, holdReason, holdRef(row))
}

/** Says whether a compared copy of these bytes is on the storage server. */
export const isUploaded = (tx: ReadTx, sha256: string): boolean => store.uploadedAt(tx, sha256) !== undefined
