import {
  built,
  change,
  integer,
  listings,
  maybe,
  pick,
  type ReadTx,
  statement,
  type Tx,
  text,
  word,
} from '../database/index.ts'
import {
  type ParkedFor,
  sql,
  tables,
  type UploadKind,
  type UploadRow,
  type UploadStatus,
  uploadKinds,
  uploadStatuses,
  type Verified,
} from './tables.ts'
import { longestFileDelayMs } from './verdict.ts'

const given = pick(
  tables.upload,
  'kind',
  'ref',
  'root',
  'path',
  'file',
  'sha256',
  'size_bytes',
  'about',
  'cctv_id',
  'urgent',
  'queued_at_ms',
)
const newUpload = built(given, (row) =>
  sql
    .insertInto('upload')
    .values({ ...row, status: 'pending', next_attempt_at_ms: 0 })
    .onConflict((on) => on.columns(['kind', 'ref']).doNothing()),
)
const byId = built(pick(tables.upload, 'id'), ({ id }) => sql.selectFrom('upload').selectAll().where('id', '=', id))
const ofThing = built(pick(tables.upload, 'kind', 'ref'), ({ kind, ref }) =>
  sql.selectFrom('upload').select(['status', 'url']).where('kind', '=', kind).where('ref', '=', ref),
)
const uploadedOf = built(pick(tables.upload, 'sha256'), ({ sha256 }) =>
  sql
    .selectFrom('upload')
    .select('uploaded_at_ms')
    .where('sha256', '=', sha256)
    .where('status', '=', 'uploaded')
    .limit(1),
)
/** A time that is further away than the longest delay was written under another clock. */
const dueSql = `(next_attempt_at_ms <= ? OR next_attempt_at_ms > ? + ${longestFileDelayMs})`
const nextUrgent = statement({
  columns: tables.upload,
  sql: `SELECT * FROM upload WHERE status = 'pending' AND urgent = 1 AND ${dueSql} ORDER BY id LIMIT 1`,
})
const nextInOrder = statement({
  columns: tables.upload,
  sql: `SELECT * FROM upload WHERE status = 'pending' AND urgent = 0 AND ${dueSql} ORDER BY id LIMIT 1`,
})
const nextDue = statement({
  columns: { at: maybe(integer) },
  sql: `SELECT min(next_attempt_at_ms) AS at FROM upload WHERE status = 'pending' AND next_attempt_at_ms > ?`,
})
const claimed = change(`UPDATE upload SET status = 'uploading', root = ? WHERE id = ? AND status = 'pending'`)
const requeued = change(`UPDATE upload SET status = 'pending' WHERE status = 'uploading'`)
const finished = change(
  `UPDATE upload SET status = 'uploaded', attempts = attempts + 1, verified = ?, url = ?, uploaded_at_ms = ?, last_error = NULL
    WHERE id = ?`,
)
const postponed = change(
  `UPDATE upload SET status = 'pending', attempts = ?, next_attempt_at_ms = ?, last_error = ? WHERE id = ?`,
)
const parked = change(
  `UPDATE upload SET status = 'parked', attempts = attempts + 1, last_error = ?, parked_for = ? WHERE id = ?`,
)
const unparked = change(
  `UPDATE upload SET status = 'pending', next_attempt_at_ms = 0, parked_for = NULL WHERE id = ? AND status = 'parked'`,
)
const sooner = change(`UPDATE upload SET next_attempt_at_ms = 0 WHERE id = ? AND status = 'pending'`)
const roomAgain = change(
  `UPDATE upload SET status = 'pending', next_attempt_at_ms = 0, parked_for = NULL
    WHERE status = 'parked' AND parked_for = 'quota' AND size_bytes <= ?`,
)
const takenAgain = change(
  `UPDATE upload SET status = 'pending', next_attempt_at_ms = 0, parked_for = NULL
    WHERE status = 'parked' AND parked_for = 'refused' AND last_error = ?`,
)
const parkedSizes = statement({
  columns: { smallest: maybe(integer) },
  sql: `SELECT min(size_bytes) AS smallest FROM upload WHERE status = 'parked' AND parked_for = 'quota'`,
})
const copyLost = change(
  `UPDATE upload SET status = ?, parked_for = ?, last_error = ?, path = ?, next_attempt_at_ms = 0, queued_at_ms = ?,
    verified = NULL, url = NULL, uploaded_at_ms = NULL WHERE id = ? AND status = 'uploaded'`,
)
const hurried = change(`UPDATE upload SET urgent = 1 WHERE sha256 = ? AND status <> 'uploaded'`)
const parkedFor = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM upload WHERE status = 'parked' AND parked_for = ?`,
})
const refusedAlike = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM upload WHERE status = 'parked' AND parked_for = 'refused' AND last_error = ?`,
})
const openFigures = statement({
  columns: { status: word<UploadStatus>(), n: integer, bytes: integer, oldest: integer },
  sql: `SELECT status, count(*) AS n, sum(size_bytes) AS bytes, min(queued_at_ms) AS oldest FROM upload
    WHERE status <> 'uploaded' GROUP BY status`,
})
const openOfCamera = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM upload WHERE cctv_id = +? AND status <> 'uploaded'`,
})
const openOfLedger = statement({
  columns: { n: integer },
  sql: `SELECT count(*) AS n FROM upload WHERE status <> 'uploaded' AND kind IN ('segment', 'snapshot')`,
})
const oldOfLedger = change(
  `DELETE FROM upload WHERE status = 'uploaded' AND kind IN ('segment', 'snapshot') AND uploaded_at_ms < ?`,
)
const oldestError = statement({
  columns: { error: maybe(text) },
  sql: `SELECT last_error AS error FROM upload WHERE status = 'pending' ORDER BY queued_at_ms, id LIMIT 1`,
})
const newestError = statement({
  columns: { error: maybe(text) },
  sql: `SELECT last_error AS error FROM upload WHERE status = 'parked' ORDER BY id DESC LIMIT 1`,
})
const openRows = statement({
  columns: pick(tables.upload, 'id', 'kind', 'ref', 'sha256'),
  sql: `SELECT id, kind, ref, sha256 FROM upload WHERE id > +? AND status <> 'uploaded' ORDER BY id LIMIT 200`,
})
const sourceOf = built(pick(tables.upload_source, 'kind'), ({ kind }) =>
  sql.selectFrom('upload_source').select('up_to').where('kind', '=', kind),
)
const readUpTo = built(tables.upload_source, ({ kind, up_to }) =>
  sql
    .insertInto('upload_source')
    .values({ kind, up_to })
    .onConflict((on) => on.column('kind').doUpdateSet({ up_to })),
)

/** The newest first; the key is the id. An index serves the status. */
export const uploadsOf = listings(
  ({ status, kind }: { status?: UploadStatus | undefined; kind?: UploadKind | undefined }) => ({
    from: 'upload',
    key: ['id'],
    within: status === undefined ? [] : [{ sql: 'status = +?', values: [status] }],
    passing: kind === undefined ? [] : [{ sql: 'kind = +?', values: [kind] }],
  }),
  [[{}], [{ status: uploadStatuses[0], kind: uploadKinds[0] }]],
)

export type NewUpload = Omit<
  UploadRow,
  | 'id'
  | 'status'
  | 'attempts'
  | 'next_attempt_at_ms'
  | 'last_error'
  | 'parked_for'
  | 'verified'
  | 'url'
  | 'uploaded_at_ms'
>

/** Puts a file into the queue, once. Returns whether it was not there. */
export function add(tx: Tx, row: NewUpload): boolean {
  return tx.run(newUpload, row).changes > 0
}

export function findUpload(tx: ReadTx, id: number): UploadRow | undefined {
  return tx.get(byId, { id })
}

/** How far a thing is: its status, and where it is on the server. */
export function copyOf(tx: ReadTx, kind: UploadKind, ref: string): Pick<UploadRow, 'status' | 'url'> | undefined {
  return tx.get(ofThing, { kind, ref })
}

/** Returns when a compared copy of these bytes was first on the server; undefined while there is none. */
export function uploadedAt(tx: ReadTx, sha256: string): number | undefined {
  return tx.get(uploadedOf, { sha256 })?.uploaded_at_ms ?? undefined
}

/** The next file that is due: the oldest one, urgent or not. */
export function nextUpload(tx: ReadTx, isUrgent: boolean, nowMs: number): UploadRow | undefined {
  return tx.get(isUrgent ? nextUrgent : nextInOrder, [nowMs, nowMs])
}

/** When the next file is due that is not due yet; undefined without one. */
export function nextDueMs(tx: ReadTx, nowMs: number): number | undefined {
  return tx.get(nextDue, [nowMs])?.at ?? undefined
}

/** Takes a file out of the queue to send it. Returns whether it was still there. */
export function claim(tx: Tx, id: number, root: string): boolean {
  return tx.run(claimed, [root, id]).changes > 0
}

/** Puts back what a gateway that has ended was sending. Returns how many. */
export const requeueCut = (tx: Tx): number => tx.run(requeued).changes

export function finish(tx: Tx, id: number, copy: { verified: Verified; url: string; nowMs: number }): void {
  tx.run(finished, [copy.verified, copy.url, copy.nowMs, id])
}

export function postpone(tx: Tx, id: number, next: { attempts: number; atMs: number; error: string }): void {
  tx.run(postponed, [next.attempts, next.atMs, next.error, id])
}

export function park(tx: Tx, id: number, error: string, why: ParkedFor): void {
  tx.run(parked, [error, why, id])
}

/** Puts a parked file back into the queue, or makes a waiting one due. */
export function retry(tx: Tx, id: number): void {
  tx.run(unparked, [id])
  tx.run(sooner, [id])
}

/** A file of this size fitted: puts back the ones that are not larger and found no room. */
export function retryWhatFits(tx: Tx, sizeBytes: number): void {
  tx.run(roomAgain, [sizeBytes])
}

/** Returns the size of the smallest file that found no room; undefined without one. */
export const smallestWithoutRoom = (tx: ReadTx): number | undefined => tx.get(parkedSizes)?.smallest ?? undefined

/**
 * The copy of an uploaded file does not count any more. `parkedFor` null: the file is uploaded again, to `path`. Returns whether it was
 * uploaded.
 */
export function copyIsLost(
  tx: Tx,
  { id, path }: Pick<UploadRow, 'id' | 'path'>,
  { parkedFor, error, nowMs }: { parkedFor: ParkedFor | null; error: string; nowMs: number },
): boolean {
  const status: UploadStatus = parkedFor === null ? 'pending' : 'parked'
  return tx.run(copyLost, [status, parkedFor, error, path, nowMs, id]).changes > 0
}

/** A file that had failed so was taken: puts back the ones that were refused in the same words. */
export function retryRefusedAlike(tx: Tx, error: string): void {
  tx.run(takenAgain, [error])
}

export function hurry(tx: Tx, sha256: string): void {
  tx.run(hurried, [sha256])
}

export function countParkedFor(tx: ReadTx, why: ParkedFor): number {
  return tx.get(parkedFor, [why])?.n ?? 0
}

/** Returns how many files are parked because the server refused them in these words. */
export function countRefusedAlike(tx: ReadTx, error: string): number {
  return tx.get(refusedAlike, [error])?.n ?? 0
}

/** Files that are not uploaded. `oldestMs`: when the oldest was queued that is neither parked nor being sent. */
export type QueueFigures = {
  readonly pending: number
  readonly parked: number
  readonly pendingBytes: number
  readonly oldestMs: number | null
  /** Error of the oldest file's last attempt. */
  readonly oldestError: string | null
  /** Error of the newest parked file. */
  readonly parkedError: string | null
}

export function figures(tx: ReadTx): QueueFigures {
  const rows = tx.all(openFigures)
  const open = rows.filter(({ status }) => status !== 'parked')
  return {
    pending: open.reduce((sum, { n }) => sum + n, 0),
    pendingBytes: open.reduce((sum, { bytes }) => sum + bytes, 0),
    parked: rows.find(({ status }) => status === 'parked')?.n ?? 0,
    oldestMs: rows.find(({ status }) => status === 'pending')?.oldest ?? null,
    oldestError: tx.get(oldestError)?.error ?? null,
    parkedError: tx.get(newestError)?.error ?? null,
  }
}

/** The next files behind an id that are not uploaded, oldest first. */
export const openBehind = (tx: ReadTx, id: number) => tx.all(openRows, [id])

/** Clips of a camera that are not uploaded. */
export const countOpenOfCamera = (tx: ReadTx, cctvId: number): number => tx.get(openOfCamera, [cctvId])?.n ?? 0

/** Segments and their keys that are not on the server yet. */
export const countOpenSegments = (tx: ReadTx): number => tx.get(openOfLedger)?.n ?? 0

/** Removes the rows of segments that were uploaded before a time: one comes every minute. */
export function forgetUploadedSegments(tx: Tx, beforeMs: number): void {
  tx.run(oldOfLedger, [beforeMs])
}

/** Returns the number of the last row of a source that was looked at. */
export const lookedUpTo = (tx: ReadTx, kind: UploadKind): number => tx.get(sourceOf, { kind })?.up_to ?? 0

export function lookUpTo(tx: Tx, kind: UploadKind, row: number): void {
  tx.run(readUpTo, { kind, up_to: row })
}
