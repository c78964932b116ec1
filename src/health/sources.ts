import type { FfmpegOrigin } from '../platform/ffmpeg.ts'
import { type ClockReport, type FreeSpace, sizeWords } from '../platform/index.ts'
import type { Kind } from './kinds.ts'
import type { Observation, Trouble } from './troubles.ts'
import { durationWords } from './troubles.ts'

/** A camera that should give pictures. */
type CameraSeen = {
  readonly id: number
  readonly name: string
  /** When it last gave pictures; null while it does. */
  readonly badSinceMs: number | null
  /** The problem and its remedy, in words. */
  readonly problem: string | null
  /** Scene as a whole; null while it is not known. */
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
    'Motion in them may be missed. Find the other work that loads the processor, or give the camera a smaller stream as detectUrl.',
  ],
  no_events: [
    'camera.no-events',
    'has sent no events of its analytics',
    'It alone is to find motion (motion.source), so there are no detections. Its entry in GET /api/iot/cctv says why.',
  ],
} as const

function impairedTrouble(name: string, impairment: CameraSeen['impairment']): Observation['wrong'] {
  // The others are said of its scene.
  if (!impairment || !isImpairedAlone(impairment.why)) return null
  const [kind, what, hint] = impairedWords[impairment.why]
  const forMs = impairment.forSeconds * 1000
  return { kind, forMs, message: `${name} ${what} for ${durationWords(forMs)}. ${hint}` }
}

function isImpairedAlone(why: string): why is keyof typeof impairedWords {
  return why in impairedWords
}

/** @param seen the clips that could not be made yet; undefined while there is none; 'unknown': the earlier trouble stays */
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

/** So many are named in an alert. */
const mostNamed = 10

/**
 * @param refused the detections that the database refuses, with the name of the clip of each that has one; 'unknown': the earlier
 * trouble stays
 */
export function refusedObservation(
  refused: readonly { readonly detectionId: number; readonly file: string | null }[] | 'unknown',
  before: readonly Trouble[],
): Observation {
  const kind = 'clips.refused'
  const observed = { component: 'cameras', subject: 'refused clips', name: 'The recording of clips' } as const
  if (refused === 'unknown') {
    const was = before.find((trouble) => trouble.kind === kind)
    return { ...observed, wrong: was ? { kind, forMs: 0, message: was.message } : null }
  }
  if (refused.length === 0) return { ...observed, wrong: null }
  const names = refused.map(({ detectionId, file }) => (file ? `clips/${file}` : `detection ${detectionId} (no clip)`))
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''
  const count = names.length === 1 ? '1 detection' : `${names.length} detections`
  const message = `The database refuses to record ${count}: ${names.slice(0, mostNamed).join(', ')}${more}. The files stay where they are as long as clips are kept, and each start tries again. The log of gatehouse says why. Keep the files, and run "gatehouse ledger verify".`
  return { ...observed, wrong: { kind, forMs: 0, message } }
}

/** A camera with the missing part of its pre-roll. */
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

/** @param origin the ffmpeg that reads the cameras; undefined: none does, or it is not known yet, and the earlier trouble stays */
export function ffmpegObservation(origin: FfmpegOrigin | undefined, before: readonly Trouble[]): Observation {
  const isBundled =
    origin === 'bundled' || (origin === undefined && before.some(({ kind }) => kind === 'ffmpeg.bundled'))
  const message =
    'The cameras are read by the ffmpeg that came with gatehouse. It is of 2018 and gets no security updates. Install ffmpeg from the packages of the system, or set ffmpeg.path, and restart gatehouse.'
  const wrong = isBundled ? { kind: 'ffmpeg.bundled' as const, forMs: 0, message } : null
  return { component: 'cameras', subject: 'ffmpeg', name: 'The ffmpeg that reads the cameras', wrong }
}

export type DiskSeen = {
  /** Undefined: the file system did not answer. */
  readonly free: FreeSpace | undefined
  /** The data folder, or a file of the database, that is not in its place. */
  readonly misplaced?: { readonly path: string; readonly isFolder: boolean } | undefined
  /** Why the last write was not stored, while none is. */
  readonly fault: { readonly isFull: boolean; readonly details: string } | undefined
  readonly limits: { readonly minFreeBytes: number; readonly ledgerReserveBytes: number }
  /** Held clips that retention left when it could not free enough. Null while it can; undefined while nothing is removed. */
  readonly shortfall?: { readonly heldClips: number; readonly heldBytes: number } | null | undefined
}

/** A commit may need more than this. */
const nothingBytes = 64 * 1024
/** The disk counts as well again at this multiple of the limit, so that a disk near it does not flicker. */
const slack = 1.1

export function diskObservation(seen: DiskSeen, before: readonly Trouble[]): Observation {
  const { free, misplaced, fault, limits, shortfall } = seen
  const was = before.find(({ subject }) => subject === 'disk')?.kind
  const limit = (bytes: number, kind: Kind) => (was === kind ? bytes * slack : bytes)
  const kind = ((): Kind | null => {
    if (misplaced) return 'disk.gone'
    if (!free || (fault && !fault.isFull)) return 'disk.failing'
    if (fault || free.bytes < nothingBytes || free.files === 0) return 'disk.full'
    if (free.bytes < limit(limits.ledgerReserveBytes, 'disk.reserve')) return 'disk.reserve'
    const low = shortfall?.heldClips ? 'disk.held' : 'disk.low'
    const isLow = free.bytes < limit(limits.minFreeBytes, was === 'disk.held' ? was : 'disk.low')
    return isLow && shortfall !== null ? low : null
  })()
  const name = 'The disk of the ledger'
  const wrong = kind && { kind, forMs: 0, message: diskWords(kind, seen) }
  return { component: 'disk', subject: 'disk', name, wrong }
}

/** @param commitMs duration of the last commit while several in a row were slow; undefined else */
export function commitsObservation(commitMs: number | undefined): Observation {
  const name = 'The commits of the database'
  const message = `A commit of the database took ${durationWords(commitMs ?? 0)}, as did those before it. Scanners and the console wait for each. Look for a program that keeps the disk busy (iotop); a card or disk that stays slow is probably dying.`
  const wrong = commitMs === undefined ? null : { kind: 'disk.slow' as const, forMs: 0, message }
  return { component: 'disk', subject: 'commits', name, wrong }
}

/** @param errno why the disk refuses photos; undefined while it takes them, or takes nothing */
export function photosObservation(errno: string | undefined): Observation {
  const name = 'The store of photos'
  const message = `Photos cannot be stored (${errno}). Events are recorded. Check the owner and mode of the folder photos/ in the data folder, and the disk; the gateway goes on by itself.`
  const wrong = errno === undefined ? null : { kind: 'photos.failing' as const, forMs: 0, message }
  return { component: 'disk', subject: 'photos', name, wrong }
}

function diskWords(kind: Kind, { free, misplaced, fault, shortfall }: Omit<DiskSeen, 'limits'>): string {
  if (misplaced) {
    const remedy = misplaced.isFolder
      ? 'Put it back or mount it again; the gateway goes on by itself. Do not start the gateway without it.'
      : 'Stop the gateway, which writes the recorded events into gatehouse.db. Copy the data folder before the next start.'
    return `${misplaced.path} is not in its place: it was moved, removed, replaced or unmounted. Nothing is recorded. ${remedy}`
  }
  if (kind === 'disk.failing') {
    return `The disk of the ledger takes no writes (${fault?.details ?? 'it does not answer'}). Nothing is recorded. Reading works. Check the disk and its mount; the gateway goes on by itself when it takes writes again.`
  }
  const left = free ? `${sizeWords(free.bytes)} left` : 'nothing left'
  if (kind === 'disk.full') {
    const why = free?.files === 0 ? 'no further file can be made' : left
    return `The disk of the ledger is full (${why}). Nothing is recorded. Reading works. Free space; the gateway goes on by itself.`
  }
  if (kind === 'disk.held' && shortfall) {
    const { heldClips, heldBytes } = shortfall
    return `The disk of the ledger is nearly full (${left}), and nothing more can be removed: incidents, disputes or uploads hold all clips that are left (${heldClips}, ${sizeWords(heldBytes)}). Resolve those, or use a larger disk.`
  }
  return kind === 'disk.reserve'
    ? `The disk of the ledger is full but for the reserve of the ledger (${left}). Events are recorded; photos, clips, lists and reports are refused. Free space or use a larger disk.`
    : `The disk of the ledger is nearly full (${left}). Free space before photos and clips are refused.`
}

/** State of the gateway's clock. */
type ClockSeen = Pick<ClockReport, 'state' | 'source' | 'forMs'>

/** A clock of which nothing is known is no trouble: most likely no time service runs here, and events count as synchronized. */
export function clockObservation({ state, source, forMs }: ClockSeen): Observation {
  const name = 'The clock of the gateway'
  const why = source === null ? 'it shows a time before 2026' : `${source} says so`
  const message = `${name} has not been synchronized for ${durationWords(forMs)}: ${why}. Events are recorded, and marked: their time is not certain. Check the network and the time servers.`
  const wrong = state === 'unsynchronized' ? { kind: 'clock.unsynced' as const, forMs, message } : null
  return { component: 'clock', subject: 'clock', name, wrong }
}

/** @param failure the error message of reading the database; null when it answered */
export function databaseObservation(failure: string | null): Observation {
  const message = `The database cannot be read: ${failure}. Stop the gateway, check the disk, and run "gatehouse ledger verify".`
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
  const message = `${name} was refused at a reload, and the earlier one stays in use: ${first}${rest}. Run gatehouse config check, correct it, and reload.`
  return { ...observed, wrong: { kind: 'config.refused', forMs: nowMs - refused.atMs, message } }
}
