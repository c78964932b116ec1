import type { FfmpegOrigin } from '../platform/ffmpeg.ts'
import { type ApplianceImage, type ClockReport, type FreeSpace, type LastUpdate, sizeWords } from '../platform/index.ts'
import type { HeatTroubles } from './box.ts'
import type { Kind, Observation, Trouble } from './troubles.ts'
import { durationWords } from './troubles.ts'

/** A camera that should give pictures. */
type CameraSeen = {
  readonly id: number
  readonly name: string
  /** When it last gave pictures; null while it does. */
  readonly badSinceMs: number | null
  /** What is wrong and what to do, in words. */
  readonly problem: string | null
  /** What it shows as a whole; null while that is not known. */
  readonly scene: { readonly state: string; readonly forSeconds: number } | null
  /** Why motion cannot be found though pictures come; null while it can. */
  readonly impairment: { readonly why: string; readonly forSeconds: number } | null
}

export function cameraObservations(cameras: readonly CameraSeen[], nowMs: number): Observation[] {
  return cameras.map(({ id, name: own, badSinceMs, problem, scene, impairment }) => {
    const name = own === `Camera ${id}` ? own : `Camera ${id} (${own})`
    const forMs = badSinceMs === null ? 0 : nowMs - badSinceMs
    const message = `${name} has given no pictures for ${durationWords(forMs)}. ${problem ?? ''}`.trim()
    const seen = () => sceneTrouble(name, scene) ?? impairedTrouble(name, impairment)
    const wrong = badSinceMs === null ? seen() : { kind: 'camera.offline' as const, forMs, message }
    return { component: 'cameras', subject: String(id), name, wrong }
  })
}

const acceptWords = 'Starting its motion detection through the API accepts the picture as it is.'
const sceneWords = {
  covered: [
    'camera.covered',
    'has shown no detail',
    `Is something in front of the lens, is it dirty, or is it dark? ${acceptWords}`,
  ],
  turned: [
    'camera.turned',
    'has shown another place',
    `Turn it back. A new view is accepted after half an hour. ${acceptWords}`,
  ],
  still: ['camera.still', 'has sent the same picture', 'Restart the camera.'],
} as const

function sceneTrouble(name: string, scene: CameraSeen['scene']): Observation['wrong'] {
  if (scene?.state !== 'covered' && scene?.state !== 'turned' && scene?.state !== 'still') return null
  const [kind, what, hint] = sceneWords[scene.state]
  const forMs = scene.forSeconds * 1000
  return { kind, forMs, message: `${name} ${what} for ${durationWords(forMs)}. ${hint}` }
}

const impairedWords = {
  few_pictures: [
    'camera.few-pictures',
    'has sent fewer than 3 pictures a second',
    'Motion in them cannot be found. Set its frame rate to 10 or more, and look for a night mode or a bandwidth limit that lowers it.',
  ],
  too_busy: [
    'camera.too-busy',
    'has sent more pictures than gatehouse could look at',
    'Motion in them may be missed. Look for what else takes the processor, or give the camera a smaller stream as detectUrl.',
  ],
} as const

function impairedTrouble(name: string, impairment: CameraSeen['impairment']): Observation['wrong'] {
  if (impairment?.why !== 'few_pictures' && impairment?.why !== 'too_busy') return null
  const [kind, what, hint] = impairedWords[impairment.why]
  const forMs = impairment.forSeconds * 1000
  return { kind, forMs, message: `${name} ${what} for ${durationWords(forMs)}. ${hint}` }
}

/** @param seen the clips that could not be made yet; undefined while there is none; 'unknown': what was wrong stays so */
export function clipsObservation(seen: ClipsSeen | 'unknown' | undefined): Observation {
  const observed = { component: 'cameras', subject: 'clips', name: 'The making of clips' } as const
  if (seen === undefined) return { ...observed, wrong: null }
  // Within the grace the earlier state is kept.
  if (seen === 'unknown') return { ...observed, wrong: { kind: 'clips.waiting', forMs: 0, message: '' } }
  const { count, forMs, words } = seen
  const clips = count === 1 ? '1 clip' : `${count} clips`
  const message = `${clips} could not be made yet, the first one for ${durationWords(forMs)}. ${words} The video is kept, and it is tried again until retention gives it up.`
  return { ...observed, wrong: { kind: 'clips.waiting', forMs, message } }
}

/** The clips that could not be made yet, as their room counts them. */
type ClipsSeen = {
  readonly count: number
  readonly forMs: number
  /** Why the newest of them waits. */
  readonly words: string
}

/** A camera, and what it lacks of its pre-roll. */
type PreRollSeen = {
  readonly id: number
  readonly name: string
  readonly wantedSeconds: number
  readonly short:
    | {
        readonly problem: 'memory' | 'key-frames'
        readonly forMs: number
        readonly heldSeconds: number
        readonly keyFrameSeconds: number | null
      }
    | undefined
}

export function preRollObservations(cameras: readonly PreRollSeen[]): Observation[] {
  return cameras.map(({ id, name: own, wantedSeconds, short }) => {
    const name = own === `Camera ${id}` ? own : `Camera ${id} (${own})`
    const wrong = short
      ? {
          kind: 'camera.pre-roll' as const,
          forMs: short.forMs,
          message: `${name} ${preRollWords(short, wantedSeconds)}`,
        }
      : null
    return { component: 'cameras', subject: `pre-roll ${id}`, name: `The beginning of the clips of ${name}`, wrong }
  })
}

function preRollWords(
  { problem, heldSeconds, keyFrameSeconds }: NonNullable<PreRollSeen['short']>,
  wantedSeconds: number,
): string {
  if (problem === 'memory') {
    return `keeps only ${heldSeconds} s of video in memory, and its clips should show ${wantedSeconds} s before the motion. Lower its bit rate or its preRecordSeconds, or raise video.memoryBytes.`
  }
  return `sends a key frame only every ${keyFrameSeconds} s, and its clips should show ${wantedSeconds} s before the motion: after each reconnection they begin later. Set its key frame interval to ${wantedSeconds} s or less.`
}

/**
 * @param origin which ffmpeg reads the cameras; undefined: none does, or it is not known yet, and what was wrong stays so
 */
export function ffmpegObservation(origin: FfmpegOrigin | undefined, before: readonly Trouble[]): Observation {
  const isBundled =
    origin === 'bundled' || (origin === undefined && before.some(({ kind }) => kind === 'ffmpeg.bundled'))
  const message =
    'The cameras are read by the ffmpeg that came with gatehouse. It is of 2018 and gets no security updates. Install ffmpeg from the packages of the system, or set ffmpeg.path, and restart gatehouse.'
  const wrong = isBundled ? { kind: 'ffmpeg.bundled' as const, forMs: 0, message } : null
  return { component: 'cameras', subject: 'ffmpeg', name: 'The ffmpeg that reads the cameras', wrong }
}

/** A storage server of the config. */
type ServerSeen = {
  readonly url: string
  /** Milliseconds since it was last well; null while it answers in time. */
  readonly illForMs: number | null
  /** Whether it answers at all. */
  readonly answers: boolean
  readonly why: string
}

export function storageObservations(servers: readonly ServerSeen[]): Observation[] {
  return servers.map(({ url, illForMs, answers, why }) => {
    const name = `The storage server ${url}`
    if (illForMs === null) return { component: 'storage', subject: url, name, wrong: null }
    const kind: Kind = answers ? 'storage.slow' : 'storage.unreachable'
    const since = durationWords(illForMs)
    const message = answers
      ? `${name} has taken over 2 s for its answers for ${since}. Known users go on; look at its load and at the network.`
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
  readonly refusal: string | null
}

/** Evidence that has waited for this long is a trouble. */
const lateMs = 24 * 3_600_000

export function uploadObservations(seen: UploadsSeen, nowMs: number): Observation[] {
  if (!seen.isConfigured) return []
  const { parked, parkedError, pending, oldestMs, refusal } = seen
  const ageMs = oldestMs === null ? 0 : nowMs - oldestMs
  const one = (kind: Kind, subject: string, name: string, isWrong: boolean, message: string): Observation => {
    const wrong = isWrong ? { kind, forMs: 0, message } : null
    return { component: 'storage', subject, name, wrong }
  }
  const files = parked === 1 ? '1 file is' : `${parked} files are`
  return [
    one(
      'uploads.late',
      'uploads: queue',
      'The queue of uploads',
      ageMs > lateMs,
      `${pending} files wait for their upload, the oldest for ${durationWords(ageMs)}. They are kept on this box; look at the line to the storage server, and at GET /api/uploads for the last errors.`,
    ),
    one(
      'uploads.parked',
      'uploads: parked',
      'The parked uploads',
      parked > 0,
      `${files} not uploaded and not tried again. The newest: ${parkedError ?? 'unknown'}. Look at GET /api/uploads?status=parked, and retry them when the cause is gone.`,
    ),
    one(
      'uploads.refused',
      'uploads: account',
      'The account that uploads',
      refusal !== null,
      `The storage server takes no uploads: ${refusal ?? ''}. Make a new application password, put it into the file of storage.upload.passwordFile, and reload.`,
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
      ? 'No segment is where it belongs yet'
      : `What is new since ${durationWords(ageMs)} is in no segment`
  const good = rehearsedMs === null ? 'never' : `${durationWords(Math.max(0, nowMs - rehearsedMs))} ago`
  return [
    one(
      'backup.failed',
      'segments: last',
      'The segments',
      fault !== null,
      `What is new could not be written to the segments: ${fault}. It is tried again every minute.`,
    ),
    one(
      'backup.late',
      'segments: age',
      'The age of the segments',
      ageMs > everyMs + segmentGraceMs,
      `${since}: if this box is lost, so is that. Look at backup.segments.to, at the uploads (GET /api/uploads) and at the log.`,
    ),
    one(
      'backup.unrestorable',
      'segments: rehearsal',
      'The rehearsal of the segments',
      rehearsalFault !== null,
      `The newest segments did not come back when their restore was rehearsed: ${rehearsalFault}. They last came back ${good}. When they are damaged, a new series with everything begins by itself.`,
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
      `The last backup could not be made: ${makeFault}. It is tried again every 15 minutes.`,
    ),
    one(
      'backup.late',
      'backup: age',
      'The age of the newest backup',
      ageMs > 2 * everyMs,
      `${age}, and one should be made every ${durationWords(everyMs)}. Look at backup.file.to and at the log.`,
    ),
    one(
      'backup.unrestorable',
      'backup: rehearsal',
      'The rehearsal of the restore',
      rehearsalFault !== null,
      `The newest backup did not come back when its restore was rehearsed: ${rehearsalFault}. A backup last came back ${good}. Keep the older ones, and run gatehouse ledger verify.`,
    ),
  ]
}

export type DiskSeen = {
  /** Undefined: the file system did not answer. */
  readonly free: FreeSpace | undefined
  /** Why the last write was not stored, while none is. */
  readonly fault: { readonly isFull: boolean; readonly details: string } | undefined
  readonly limits: { readonly minFreeBytes: number; readonly ledgerReserveBytes: number }
  /**
   * What retention left because something holds it, when it could not free enough; null while it can; undefined while
   * nothing is removed.
   */
  readonly shortfall?: { readonly heldClips: number; readonly heldBytes: number } | null | undefined
}

/** A commit may need more than this. */
const nothingBytes = 64 * 1024
/** The disk counts as well again at this multiple of the limit, so that a disk near it does not flicker. */
const slack = 1.1

export function diskObservation({ free, fault, limits, shortfall }: DiskSeen, before: readonly Trouble[]): Observation {
  const was = before[0]?.kind
  const limit = (bytes: number, kind: Kind) => (was === kind ? bytes * slack : bytes)
  const kind = ((): Kind | null => {
    if (!free || (fault && !fault.isFull)) return 'disk.failing'
    if (fault || free.bytes < nothingBytes || free.files === 0) return 'disk.full'
    if (free.bytes < limit(limits.ledgerReserveBytes, 'disk.reserve')) return 'disk.reserve'
    const low = shortfall?.heldClips ? 'disk.held' : 'disk.low'
    const isLow = free.bytes < limit(limits.minFreeBytes, was === 'disk.held' ? was : 'disk.low')
    return isLow && shortfall !== null ? low : null
  })()
  const name = 'The disk of the ledger'
  const wrong = kind && { kind, forMs: 0, message: diskWords(kind, { free, fault, shortfall }) }
  return { component: 'disk', subject: 'disk', name, wrong }
}

function diskWords(kind: Kind, { free, fault, shortfall }: Omit<DiskSeen, 'limits'>): string {
  if (kind === 'disk.failing') {
    return `The disk of the ledger takes no writes (${fault?.details ?? 'it does not answer'}). Nothing is recorded; what is recorded can be read. Look at the disk and its mount; the gateway goes on by itself when it takes writes again.`
  }
  const left = free ? `${sizeWords(free.bytes)} left` : 'nothing left'
  if (kind === 'disk.full') {
    const why = free?.files === 0 ? 'no further file can be made' : left
    return `The disk of the ledger is full (${why}). Nothing is recorded; what is recorded can be read. Free space; the gateway goes on by itself.`
  }
  if (kind === 'disk.held' && shortfall) {
    const { heldClips, heldBytes } = shortfall
    return `The disk of the ledger is nearly full (${left}), and nothing more can be removed: incidents, disputes or uploads hold all clips that are left (${heldClips}, ${sizeWords(heldBytes)}). Resolve what holds them, or use a larger disk.`
  }
  return kind === 'disk.reserve'
    ? `The disk of the ledger is full but for the reserve of the ledger (${left}). Events are recorded; photos, clips, lists and reports are refused. Free space or use a larger disk.`
    : `The disk of the ledger is nearly full (${left}). Free space before photos and clips are refused.`
}

/** What is known about the clock of the gateway. */
type ClockSeen = Pick<ClockReport, 'state' | 'source' | 'forMs'>

/** A clock of which nothing is known is no trouble: most likely no time service runs here, and events count as synchronized. */
export function clockObservation({ state, source, forMs }: ClockSeen): Observation {
  const name = 'The clock of the gateway'
  const why = source === null ? 'it shows a time before 2026' : `${source} says so`
  const message = `${name} has not been synchronized for ${durationWords(forMs)}: ${why}. Events are recorded and say that their time is not sure. Check the network and the time servers.`
  const wrong = state === 'unsynchronized' ? { kind: 'clock.unsynced' as const, forMs, message } : null
  return { component: 'clock', subject: 'clock', name, wrong }
}

/** A witness that is asked. */
type WitnessSeen = {
  readonly name: string
  readonly trouble: { readonly finding: string; readonly words: string } | undefined
  readonly forMs: number
}

export function witnessObservations(witnesses: readonly WitnessSeen[]): Observation[] {
  return witnesses.map(({ name: own, trouble, forMs }) => {
    const name = `The witness ${own}`
    const wrong = trouble && {
      kind: witnessKind(trouble.finding),
      forMs,
      message: `${name} has not cosigned for ${durationWords(forMs)}: ${trouble.words}.`,
    }
    return { component: 'evidence', subject: own, name, wrong: wrong ?? null }
  })
}

/** How the feed to the head office is doing. */
type FeedSeen = {
  readonly url: string
  readonly trouble: { readonly finding: string; readonly words: string } | undefined
  readonly forMs: number
}

/** @param feed undefined without a head office */
export function hubObservations(feed: FeedSeen | undefined): Observation[] {
  if (!feed) return []
  const { url, trouble, forMs } = feed
  const name = `The head office ${url}`
  const message = `${name} has taken no part of the log for ${durationWords(forMs)}: ${trouble?.words}.`
  const wrong = trouble ? { kind: hubKind(trouble.finding), forMs, message } : null
  return [{ component: 'hub', subject: 'hub', name, wrong }]
}

function hubKind(finding: string): Kind {
  if (finding === 'ahead' || finding === 'forked') return 'hub.ahead'
  return finding === 'unreachable' || finding === 'unavailable' ? 'hub.unreachable' : 'hub.refuses'
}

function witnessKind(finding: string): Kind {
  if (finding === 'ahead' || finding === 'other-root') return 'witness.ahead'
  return finding === 'unreachable' || finding === 'unavailable' ? 'witness.unreachable' : 'witness.refuses'
}

/** @param authorities the configured time stamp authorities */
export function stampObservations(
  authorities: readonly { url: string; trouble: string | undefined; forMs: number }[],
): Observation[] {
  return authorities.map(({ url, trouble, forMs }) => {
    const name = `The time stamp authority ${url}`
    const message = `${name} has stamped nothing for ${durationWords(forMs)}: ${trouble}. Check evidence.timestamps; the next stamp covers what was missed.`
    const wrong = trouble === undefined ? null : { kind: 'timestamps.failing' as const, forMs, message }
    return { component: 'evidence', subject: url, name, wrong }
  })
}

/** @param logs those that have shown two roots for one size, with the size */
export function conflictObservations(logs: readonly { origin: string; size: number }[]): Observation[] {
  return logs.map(({ origin, size }) => {
    const name = `The log ${origin}`
    const message = `${name} has signed two different histories of ${size} leaves. Both checkpoints are kept in witness_conflict. Call its admin; the alert ends when its key is taken out of witness.logs.`
    return { component: 'evidence', subject: origin, name, wrong: { kind: 'witness.conflict', forMs: 0, message } }
  })
}

/** Whether the log is signed. `stopped`: why it is not. */
export function signingObservation(
  stopped: 'not-verified' | 'not-a-continuation' | 'other-keys' | undefined,
): Observation {
  const found = {
    'not-verified':
      'The ledger does not verify, so its log was never signed. Run "gatehouse ledger verify", keep the files as they are, and restore a backup.',
    'not-a-continuation':
      'The log no longer gives the root that was signed last. Run "gatehouse ledger verify", keep the files as they are, and restore a backup.',
    'other-keys':
      'The log was handed over to keys that are not in keys/. Stop the gateway and put the folder back from a backup that was made after the last rotation; if there is none, run "gatehouse restore --accept-fork".',
  }
  const message = `${stopped && found[stopped]} Events are recorded; proofs of new ones cannot be made.`
  const wrong = stopped === undefined ? null : { kind: 'log.unsigned' as const, forMs: 0, message }
  return { component: 'database', subject: 'log', name: 'The log', wrong }
}

/** @param failure the error message of reading the database; null when it answered */
export function databaseObservation(failure: string | null): Observation {
  const message = `The database cannot be read: ${failure}. Stop the gateway, look at the disk, and run "gatehouse ledger verify".`
  const wrong = failure === null ? null : { kind: 'database.failing' as const, forMs: 0, message }
  return { component: 'database', subject: 'database', name: 'The database', wrong }
}

/** @param refused the last reload, when it was refused; `problems`: a heading and one problem a line */
export function configObservation(
  refused: { readonly atMs: number; readonly problems: string } | null,
  nowMs: number,
): Observation {
  const name = 'The config on disk'
  const observed = { component: 'config', subject: 'config', name } as const
  if (refused === null) return { ...observed, wrong: null }
  const [heading = '', first = heading, ...others] = refused.problems.split('\n')
  const rest = others.length === 0 ? '' : ` and ${others.length} more`
  const message = `${name} was refused at a reload, and the one before it stays in use: ${first}${rest}. Run gatehouse config check, correct it, and reload.`
  return { ...observed, wrong: { kind: 'config.refused', forMs: nowMs - refused.atMs, message } }
}

/** Says what is wrong with heat and power of the box. */
export function boxObservations({ celsius, hotForMs, throttledForMs, underVoltageForMs }: HeatTroubles): Observation[] {
  const degrees = celsius === undefined ? '' : ` (${Math.round(celsius)} °C)`
  const cool = 'Cool the box: a fan, another place, or fewer cameras. GET /api/metrics has its temperature.'
  const heat = ((): Observation['wrong'] => {
    if (throttledForMs !== null) {
      const message = `The processor has been slowed down for ${durationWords(throttledForMs)}${degrees}. Cameras may lose frames. ${cool}`
      return { kind: 'box.throttled', forMs: throttledForMs, message }
    }
    if (hotForMs === null) return null
    return {
      kind: 'box.hot',
      forMs: hotForMs,
      message: `The processor has been hot for ${durationWords(hotForMs)}${degrees}. ${cool}`,
    }
  })()
  const power =
    underVoltageForMs === null
      ? null
      : {
          kind: 'box.voltage' as const,
          forMs: underVoltageForMs,
          message: `The voltage of the box has been too low for ${durationWords(underVoltageForMs)}. Files can be damaged when it drops further. Use the power supply that its maker names, and a short cable.`,
        }
  return [
    { component: 'box', subject: 'box: heat', name: 'The processor', wrong: heat },
    { component: 'box', subject: 'box: power', name: 'The power supply of the box', wrong: power },
  ]
}

/** Says whether the system image of an appliance is kept up to date. Nothing is observed where there is none. */
export function imageObservations(image: ApplianceImage | undefined, nowMs: number): Observation[] {
  if (!image) return []
  return [{ component: 'box', subject: 'box: image', name: 'The system image', wrong: imageTrouble(image, nowMs) }]
}

function imageTrouble({ version, lastUpdate, openUpdate }: ApplianceImage, nowMs: number): Observation['wrong'] {
  if (openUpdate) return openTrouble(openUpdate, version, nowMs)
  if (!lastUpdate) return null
  const { result, reason, atMs } = lastUpdate
  const forMs = nowMs - atMs
  if (result === 'failed') {
    const message = `The image ${version} could not be renewed: ${reason}. The box tries it again another night; journalctl -u gatehouse-update has more.`
    return { kind: 'update.failed', forMs, message }
  }
  if (result !== 'unreachable') return null
  const message = `No newer image than ${version} could be looked for in ${durationWords(forMs)}: ${reason}. Check the network and updates= of first-boot.txt.`
  return { kind: 'update.unreachable', forMs, message }
}

function openTrouble(open: LastUpdate, version: string, nowMs: number): NonNullable<Observation['wrong']> {
  const { result, version: newer, reason, reasons, acceptBy, atMs } = open
  const forMs = nowMs - atMs
  if (result === 'installed') {
    const message = `Image ${newer} was installed ${durationWords(forMs)} ago, and the box runs ${version}: the newer one did not become healthy or did not start. journalctl -u gatehouse-slot says why. Publish a corrected image.`
    return { kind: 'update.fell_back', forMs, message }
  }
  const accept = acceptBy === null ? '' : ` Or take it for these reasons: update --accept ${acceptBy}.`
  const refused = reasons.length > 0 ? 'did not pass its rehearsal' : 'was refused'
  const message = `Image ${newer} ${refused}, and ${version} stays: ${reasons.join('; ') || reason}. Publish a corrected image.${accept}`
  return { kind: 'update.refused', forMs, message }
}
