import type { UploadRow } from './tables.ts'
import type { Outcome } from './transfer.ts'
import { orCannotWrite } from './verdict.ts'

export type UploadAlert = {
  readonly kind: string
  readonly subject: string
  readonly message: string
  readonly nowMs: number
}

/** Returns the alert of a file that was parked; of files that found no room or were refused alike, the first one alone raises one. */
export function alertOfParked(
  row: Pick<UploadRow, 'id' | 'kind' | 'ref' | 'path'>,
  { why, error }: Outcome & { kind: 'park' },
  isFirst: boolean,
  nowMs: number,
): UploadAlert | undefined {
  const what = `The ${row.kind} ${row.ref}`
  switch (why) {
    case 'quota':
      return isFirst
        ? {
            kind: 'upload.no_room',
            subject: 'uploads',
            message: `The storage server has no room for ${what.toLowerCase()}${error.includes(orCannotWrite) ? orCannotWrite : ''}. Make room there, or raise the quota of the account. The uploads then go on by themselves; to try at once, retry upload ${row.id}.`,
            nowMs,
          }
        : undefined
    case 'hash':
      return {
        kind: 'upload.mismatch',
        subject: String(row.id),
        message: `${what} does not match its copy on the storage server: ${error}. Both are kept. Find out who changed ${row.path}, move it away, and retry upload ${row.id}.`,
        nowMs,
      }
    case 'file':
      return {
        kind: 'upload.file',
        subject: String(row.id),
        message: `${what} cannot be uploaded: ${error}. Check the disk, and run "gatehouse ledger verify".`,
        nowMs,
      }
    case 'refused':
      return isFirst
        ? {
            kind: 'upload.refused',
            subject: String(row.id),
            message: `The storage server refuses ${what.toLowerCase()}: ${error}. Check the permissions of the account, and retry upload ${row.id}; uploads that were refused alike follow.`,
            nowMs,
          }
        : undefined
  }
}

/** Returns the alert of a copy that is lost on both sides; `parked`: how many files are parked for that, with this one. */
export function alertOfLost(
  { id, kind, ref, path }: Pick<UploadRow, 'id' | 'kind' | 'ref' | 'path'>,
  error: string,
  parked: number,
  nowMs: number,
): UploadAlert {
  const files = parked === 1 ? '1 file is' : `${parked} files are`
  return {
    kind: 'upload.lost',
    subject: 'uploads',
    message: `The ${kind} ${ref} is lost on the storage server: ${error}. Restore ${path} there, from the trash or a backup of the server; then retry upload ${id}. ${files} parked for this; see GET /api/uploads?status=parked. Further lost copies raise no alert until this one is acknowledged.`,
    nowMs,
  }
}

/** Returns the alert of a copy that is missing on the server and is uploaded again. */
export function alertOfMissing(
  { kind, ref, path }: Pick<UploadRow, 'kind' | 'ref' | 'path'>,
  nowMs: number,
): UploadAlert {
  return {
    kind: 'upload.copy_missing',
    subject: 'uploads',
    message: `The copy of the ${kind} ${ref} is missing on the storage server at ${path}. It is uploaded again. Find out who removed it. Further missing copies raise no alert until this one is acknowledged.`,
    nowMs,
  }
}

/** Returns the alert of a copy with other bytes, beside which the file is uploaded again. */
export function alertOfChanged(
  { kind, ref, path }: Pick<UploadRow, 'kind' | 'ref' | 'path'>,
  beside: string,
  nowMs: number,
): UploadAlert {
  return {
    kind: 'upload.copy_changed',
    subject: 'uploads',
    message: `The copy of the ${kind} ${ref} on the storage server at ${path} has changed. Nothing there is overwritten: the file is uploaded again to ${beside}. Find out who changed the copy. Further changed copies raise no alert until this one is acknowledged.`,
    nowMs,
  }
}
