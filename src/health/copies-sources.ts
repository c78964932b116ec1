import type { Kind } from './kinds.ts'
import type { Observation } from './troubles.ts'
import { durationWords } from './troubles.ts'

/** A storage server of the config. */
type ServerSeen = {
  readonly url: string
  /** Milliseconds since it was last well; null while it answers in time. */
  readonly illForMs: number | null
  /** Whether it answers at all. */
  readonly answers: boolean
  readonly why: string
}

export function storageObservations(servers: readonly ServerSeen[], what = 'storage server'): Observation[] {
  return servers.map(({ url, illForMs, answers, why }) => {
    const name = `The ${what} ${url}`
    if (illForMs === null) return { component: 'storage', subject: url, name, wrong: null }
    const kind: Kind = answers ? 'storage.slow' : 'storage.unreachable'
    const since = durationWords(illForMs)
    const message = answers
      ? `${name} has taken over 2 s for its answers for ${since}. Known users go on. Check its load and the network.`
      : `${name} has not answered for ${since}: ${why}. Known users go on for a while; new ones cannot sign in.`
    return { component: 'storage', subject: url, name, wrong: { kind, forMs: illForMs, message } }
  })
}

/** The queue of uploads, as its room counts it. */
type UploadsSeen = {
  readonly isConfigured: boolean
  readonly parked: number
  readonly parkedError: string | null
  readonly pending: number
  readonly oldestMs: number | null
  readonly oldestError: string | null
  readonly refusal: { readonly error: string; readonly remedy: string } | null
  readonly lineError: string | null
}

export function uploadObservations(seen: UploadsSeen, nowMs: number): Observation[] {
  if (!seen.isConfigured) return []
  const { parked, parkedError, pending, oldestMs, oldestError, refusal, lineError } = seen
  const ageMs = oldestMs === null ? 0 : nowMs - oldestMs
  const why = lineError ?? oldestError
  const one = (
    kind: Kind,
    subject: string,
    name: string,
    isWrong: boolean,
    message: string,
    forMs = 0,
  ): Observation => {
    const wrong = isWrong ? { kind, forMs, message } : null
    return { component: 'storage', subject, name, wrong }
  }
  const files = parked === 1 ? '1 file is' : `${parked} files are`
  return [
    one(
      'uploads.late',
      'uploads: queue',
      'The queue of uploads',
      oldestMs !== null,
      `${pending === 1 ? '1 file waits for its' : `${pending} files wait for their`} upload, the oldest for ${durationWords(ageMs)}. ${why === null ? 'No attempt has failed: the line may be too slow' : `The last error: ${why}`}. The files are kept on this box. Check the network to the storage server, and GET /api/uploads.`,
      ageMs,
    ),
    one(
      'uploads.parked',
      'uploads: parked',
      'The parked uploads',
      parked > 0,
      `${files} not uploaded and not tried again. The newest: ${parkedError ?? 'unknown'}. Read GET /api/uploads?status=parked, and retry them when the cause is gone.`,
    ),
    one(
      'uploads.refused',
      'uploads: account',
      'The account that uploads',
      refusal !== null,
      `The storage server takes no uploads: ${refusal?.error}. ${refusal?.remedy}`,
    ),
  ]
}

/** The scheduled backups, as their room counts them. */
type BackupsSeen = {
  readonly everyMs: number | null
  readonly newestMs: number | null
  readonly rehearsedMs: number | null
  readonly sinceMs: number
  readonly makeFault: string | null
  readonly rehearsalFault: string | null
}

/** The segments, as their room counts them. */
type SegmentsSeen = {
  readonly everyMs: number | null
  readonly currentMs: number | null
  readonly sinceMs: number
  readonly fault: string | null
  readonly rehearsedMs: number | null
  readonly rehearsalFault: string | null
}

/** Segments are late when what is new waits for ten minutes longer than it should. */
const segmentGraceMs = 600_000

/** Says what is wrong with the segments: not written, late, or not coming back. */
export function segmentObservations(seen: SegmentsSeen, nowMs: number): Observation[] {
  const { everyMs, currentMs, sinceMs, fault, rehearsedMs, rehearsalFault } = seen
  if (everyMs === null) return []
  const one = (kind: Kind, subject: string, name: string, isWrong: boolean, message: string): Observation => {
    const wrong = isWrong ? { kind, forMs: 0, message } : null
    return { component: 'backup', subject, name, wrong }
  }
  const ageMs = nowMs - (currentMs ?? sinceMs)
  const since =
    currentMs === null
      ? 'No segment has reached its target yet'
      : `No segment has the changes of the last ${durationWords(ageMs)}`
  const good = rehearsedMs === null ? 'never' : `${durationWords(Math.max(0, nowMs - rehearsedMs))} ago`
  return [
    one(
      'backup.failed',
      'segments: last',
      'The segments',
      fault !== null,
      `New changes could not be written to the segments: ${fault}. The gateway tries again every minute.`,
    ),
    one(
      'backup.late',
      'segments: age',
      'The age of the segments',
      ageMs > everyMs + segmentGraceMs,
      `${since}: a broken disk would lose them. Check backup.segments.to, the uploads (GET /api/uploads) and the log.`,
    ),
    one(
      'backup.unrestorable',
      'segments: rehearsal',
      'The rehearsal of the segments',
      rehearsalFault !== null,
      `The newest segments could not be restored in a rehearsal: ${rehearsalFault}. Last good rehearsal: ${good}. If they are damaged, the gateway begins a new series by itself.`,
    ),
  ]
}

/** A backup is late at twice the time from one to the next. */
export function backupObservations(seen: BackupsSeen, nowMs: number): Observation[] {
  const { everyMs, newestMs, rehearsedMs, sinceMs, makeFault, rehearsalFault } = seen
  if (everyMs === null) return []
  const one = (kind: Kind, subject: string, name: string, isWrong: boolean, message: string): Observation => {
    const wrong = isWrong ? { kind, forMs: 0, message } : null
    return { component: 'backup', subject, name, wrong }
  }
  const ageMs = nowMs - (newestMs ?? sinceMs)
  const age = newestMs === null ? 'There is no backup yet' : `The newest backup is ${durationWords(ageMs)} old`
  const good = rehearsedMs === null ? 'never' : `${durationWords(Math.max(0, nowMs - rehearsedMs))} ago`
  return [
    one(
      'backup.failed',
      'backup: last',
      'The scheduled backup',
      makeFault !== null,
      `The last backup failed: ${makeFault}. The gateway tries again every 15 minutes.`,
    ),
    one(
      'backup.late',
      'backup: age',
      'The age of the newest backup',
      ageMs > 2 * everyMs,
      `${age}, and one should be made every ${durationWords(everyMs)}. Check backup.file.to and the log.`,
    ),
    one(
      'backup.unrestorable',
      'backup: rehearsal',
      'The rehearsal of the restore',
      rehearsalFault !== null,
      `The newest backup could not be restored in a rehearsal: ${rehearsalFault}. Last good rehearsal: ${good}. Keep the older ones, and run gatehouse ledger verify.`,
    ),
  ]
}
