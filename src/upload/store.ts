import { type RawBuilder, sql as raw } from 'kysely'
import { built, integer, listings, pick, type ReadTx, type Tx, text, word } from '../database/index.ts'
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

// SQLite finds the indexes of the queue by these words, so they are no values.
const uploaded = raw.lit('uploaded' as const)
const refused = raw.lit('refused' as const)
const quota = raw.lit('quota' as const)
const ledgerKinds = [raw.lit('segment' as const), raw.lit('snapshot' as const)]
const inStatus = (status: UploadStatus) => sql.selectFrom('upload').where('status', '=', raw.lit(status))
const changeOf = (status: UploadStatus) => sql.updateTable('upload').where('status', '=', raw.lit(status))
const notUploaded = () => sql.selectFrom('upload').where('status', '<>', uploaded)

const uploadedOf = built(pick(tables.upload, 'sha256'), ({ sha256 }) =>
  inStatus('uploaded').select('uploaded_at_ms').where('sha256', '=', sha256).limit(raw.lit(1)),
)
const firstDue = (now: RawBuilder<number>, urgent: 0 | 1) =>
  inStatus('pending')
    .selectAll()
    .where('urgent', '=', raw.lit(urgent))
    .where(({ eb, or }) =>
      or([
        eb('next_attempt_at_ms', '<=', now),
        // A time that is further away than the longest delay was written under another clock.
        eb('next_attempt_at_ms', '>', eb(now, '+', raw.lit(longestFileDelayMs))),
      ]),
    )
    .orderBy('id')
    .limit(raw.lit(1))
const nextUrgent = built({ now: integer }, ({ now }) => firstDue(now, 1))
const nextInOrder = built({ now: integer }, ({ now }) => firstDue(now, 0))
const nextDue = built({ now: integer }, ({ now }) =>
  inStatus('pending')
    .select(({ fn }) => fn.min<number | null>('next_attempt_at_ms').as('at'))
    .where('next_attempt_at_ms', '>', now),
)
const claimed = built(pick(tables.upload, 'id', 'root'), ({ id, root }) =>
  changeOf('pending').set({ status: 'uploading', root }).where('id', '=', id),
)
const requeued = built({}, () => changeOf('uploading').set({ status: 'pending' }))
const finished = built(pick(tables.upload, 'id', 'verified', 'url', 'uploaded_at_ms'), ({ id, ...copy }) =>
  sql
    .updateTable('upload')
    .set((row) => ({ ...copy, status: 'uploaded', attempts: row('attempts', '+', raw.lit(1)), last_error: null }))
    .where('id', '=', id),
)
const postponed = built(
  { id: integer, attempts: integer, next_attempt_at_ms: integer, last_error: text },
  ({ id, ...next }) =>
    sql
      .updateTable('upload')
      .set({ ...next, status: 'pending' })
      .where('id', '=', id),
)
const parked = built(pick(tables.upload, 'id', 'last_error', 'parked_for'), ({ id, ...why }) =>
  sql
    .updateTable('upload')
    .set((row) => ({ ...why, status: 'parked', attempts: row('attempts', '+', raw.lit(1)) }))
    .where('id', '=', id),
)
const queuedAgain = () => changeOf('parked').set({ status: 'pending', next_attempt_at_ms: 0, parked_for: null })
const unparked = built(pick(tables.upload, 'id'), ({ id }) => queuedAgain().where('id', '=', id))
const sooner = built(pick(tables.upload, 'id'), ({ id }) =>
  changeOf('pending').set({ next_attempt_at_ms: 0 }).where('id', '=', id),
)
const roomAgain = built(pick(tables.upload, 'size_bytes'), ({ size_bytes }) =>
  queuedAgain().where('parked_for', '=', quota).where('size_bytes', '<=', size_bytes),
)
const takenAgain = built({ error: text }, ({ error }) =>
  queuedAgain().where('parked_for', '=', refused).where('last_error', '=', error),
)
const parkedSizes = built({}, () =>
  inStatus('parked')
    .select(({ fn }) => fn.min<number | null>('size_bytes').as('smallest'))
    .where('parked_for', '=', quota),
)
const copyLost = built(
  pick(tables.upload, 'id', 'status', 'parked_for', 'last_error', 'path', 'queued_at_ms'),
  ({ id, ...facts }) =>
    changeOf('uploaded')
      .set({ ...facts, next_attempt_at_ms: 0, verified: null, url: null, uploaded_at_ms: null })
      .where('id', '=', id),
)
const hurried = built(pick(tables.upload, 'sha256'), ({ sha256 }) =>
  sql.updateTable('upload').set({ urgent: 1 }).where('sha256', '=', sha256).where('status', '<>', uploaded),
)
const parkedFor = built({ why: word<ParkedFor>() }, ({ why }) =>
  inStatus('parked')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('parked_for', '=', why),
)
const refusedAlike = built({ error: text }, ({ error }) =>
  inStatus('parked')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('parked_for', '=', refused)
    .where('last_error', '=', error),
)
const openFigures = built({}, () =>
  notUploaded()
    .select(({ fn }) => [
      'status',
      fn.countAll<number>().as('n'),
      fn.sum<number>('size_bytes').as('bytes'),
      fn.min('queued_at_ms').as('oldest'),
    ])
    .groupBy('status'),
)
const openOfCamera = built({ cctv_id: integer }, ({ cctv_id }) =>
  notUploaded()
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('cctv_id', '=', cctv_id),
)
const openOfLedger = built({}, () =>
  notUploaded()
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('kind', 'in', ledgerKinds),
)
const oldOfLedger = built({ ms: integer }, ({ ms }) =>
  sql
    .deleteFrom('upload')
    .where('status', '=', uploaded)
    .where('kind', 'in', ledgerKinds)
    .where('uploaded_at_ms', '<', ms),
)
const oldestError = built({}, () =>
  inStatus('pending').select('last_error as error').orderBy('queued_at_ms').orderBy('id').limit(raw.lit(1)),
)
const newestError = built({}, () =>
  inStatus('parked').select('last_error as error').orderBy('id', 'desc').limit(raw.lit(1)),
)
const openRows = built(pick(tables.upload, 'id'), ({ id }) =>
  notUploaded().select(['id', 'kind', 'ref', 'sha256']).where('id', '>', id).orderBy('id').limit(raw.lit(200)),
)
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
  return tx.get(isUrgent ? nextUrgent : nextInOrder, { now: nowMs })
}

/** When the next file is due that is not due yet; undefined without one. */
export function nextDueMs(tx: ReadTx, nowMs: number): number | undefined {
  return tx.get(nextDue, { now: nowMs })?.at ?? undefined
}

/** Takes a file out of the queue to send it. Returns whether it was still there. */
export function claim(tx: Tx, id: number, root: string): boolean {
  return tx.run(claimed, { id, root }).changes > 0
}

/** Puts back what a gateway that has ended was sending. Returns how many. */
export const requeueCut = (tx: Tx): number => tx.run(requeued).changes

export function finish(tx: Tx, id: number, copy: { verified: Verified; url: string; nowMs: number }): void {
  tx.run(finished, { id, verified: copy.verified, url: copy.url, uploaded_at_ms: copy.nowMs })
}

export function postpone(tx: Tx, id: number, next: { attempts: number; atMs: number; error: string }): void {
  tx.run(postponed, { id, attempts: next.attempts, next_attempt_at_ms: next.atMs, last_error: next.error })
}

export function park(tx: Tx, id: number, error: string, why: ParkedFor): void {
  tx.run(parked, { id, last_error: error, parked_for: why })
}

/** Puts a parked file back into the queue, or makes a waiting one due. */
export function retry(tx: Tx, id: number): void {
  tx.run(unparked, { id })
  tx.run(sooner, { id })
}

/** A file of this size fitted: puts back the ones that are not larger and found no room. */
export function retryWhatFits(tx: Tx, sizeBytes: number): void {
  tx.run(roomAgain, { size_bytes: sizeBytes })
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
  const facts = { id, status, parked_for: parkedFor, last_error: error, path, queued_at_ms: nowMs }
  return tx.run(copyLost, facts).changes > 0
}

/** A file that had failed so was taken: puts back the ones that were refused in the same words. */
export function retryRefusedAlike(tx: Tx, error: string): void {
  tx.run(takenAgain, { error })
}

export function hurry(tx: Tx, sha256: string): void {
  tx.run(hurried, { sha256 })
}

export function countParkedFor(tx: ReadTx, why: ParkedFor): number {
  return tx.get(parkedFor, { why })?.n ?? 0
}

/** Returns how many files are parked because the server refused them in these words. */
export function countRefusedAlike(tx: ReadTx, error: string): number {
  return tx.get(refusedAlike, { error })?.n ?? 0
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
export const openBehind = (tx: ReadTx, id: number) => tx.all(openRows, { id })

/** Clips of a camera that are not uploaded. */
export const countOpenOfCamera = (tx: ReadTx, cctvId: number): number =>
  tx.get(openOfCamera, { cctv_id: cctvId })?.n ?? 0

/** Segments and their keys that are not on the server yet. */
export const countOpenSegments = (tx: ReadTx): number => tx.get(openOfLedger)?.n ?? 0

/** Removes the rows of segments that were uploaded before a time: one comes every minute. */
export function forgetUploadedSegments(tx: Tx, beforeMs: number): void {
  tx.run(oldOfLedger, { ms: beforeMs })
}

/** Returns the number of the last row of a source that was looked at. */
export const lookedUpTo = (tx: ReadTx, kind: UploadKind): number => tx.get(sourceOf, { kind })?.up_to ?? 0

export function lookUpTo(tx: Tx, kind: UploadKind, row: number): void {
  tx.run(readUpTo, { kind, up_to: row })
}
