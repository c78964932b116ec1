import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../platform/faults.ts'
import { type Logger, ownFile } from '../../platform/index.ts'
import type { KeyFrameDecoder } from '../decoding/picture-decoder.ts'
import type { Codec } from '../format/transport-stream.ts'
import type { ClipClosed, ClipLost, ClipLostReason, ClipWaits, DetectionFacts } from '../messages.ts'
import type { StreamEnd } from '../stream/ring.ts'
import { clipPath, sidecarPath, spoolPath } from './clip-paths.ts'
import type { ClipRoom } from './clip-room.ts'
import { writeDurably } from './durable.ts'

export type ClipTools = {
  /** Path of ffmpeg. */
  readonly ffmpeg: string
  /** Takes the pictures of clips where it can; for the others an ffmpeg is started. */
  readonly pictures: KeyFrameDecoder
  /** Folder of clips, snapshots and unfinished clips. */
  readonly folder: string
  readonly log: Logger
  /** Shares the disk between open clips, without what is reserved for the ledger. */
  readonly room: Pick<ClipRoom, 'take' | 'takeAgain' | 'giveBack'>
  /** Runs a task in turn, so that a box with many cameras does not cut all clips at once. */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>
  /**
   * Waits before a clip is tried again that could not be made; `attempt` counts from 0. Resolves with false when there is no
   * time left: then the next start tries it.
   */
  readonly again: (attempt: number, detectionId: number) => Promise<boolean>
  /** Says why a clip is given up; undefined while it is not. Asked before each further attempt. */
  readonly givenUp: (detectionId: number) => string | undefined
  /** Takes note of a clip that could not be made and is tried again; called after each failure. */
  readonly waits: (clip: ClipWaits) => void
}

/** Facts of a clip once its spool has a beginning. */
export type Beginnings = {
  /** Wall clock of the picture that is to be shown first. */
  readonly startedAt: number
  readonly leadMs: number
  readonly codec: Codec
  /** Absent in the files of an older gatehouse. */
  readonly askedPreRollMs?: number
}

/** Bounds of the finished clip, once its spool is closed. */
export type Bounds = Beginnings & {
  /** Wall clock at which it should end; null: as much as there is. */
  readonly endAt: number | null
}

export type Ending = {
  readonly closedBy: ClipClosed['closedBy']
  readonly peakScore: number | null
  /** From when the motion began, so long it went on before its first pause; absent where that is not known. */
  readonly movedForMs?: number
  /** Named by the camera's analytics until then; absent for nothing. */
  readonly kinds?: DetectionFacts['kinds']
  /** Why the stream did not continue; absent if it did, and in the files of an older gatehouse. */
  readonly streamEnd?: StreamEnd | undefined
}

/** Content of `ID.json`, which exists until the database has the clip. The end is in it once a clip could not be made. */
export type Sidecar = Beginnings & {
  readonly facts: DetectionFacts
  readonly endAt?: number | null
  readonly ending?: Ending
  readonly givenUp?: GivenUp
}

/** Written before the first file of a clip is removed: whatever happens then, it is lost with these words, and not made again. */
type GivenUp = Pick<ClipLost, 'words' | 'endedAt'>

export const notRemoved = 'a clip that is not to be kept could not be removed; it is tried again'

const lostWords: Record<ClipLostReason, string> = {
  'no-video': 'The camera sent no video that could be recorded. Its state says more.',
  'disk-full': 'The disk is full, or all that is left is reserved for events.',
  'disk-too-slow': 'The disk was slower than the camera for too long.',
  'disk-failed': 'The disk refused to write or to read the clip.',
  unreadable: 'The recorded video could not be made into a clip.',
  damaged:
    'The finished clip was damaged on the disk before it was recorded. Its file is still in the folder of the clips.',
  'given-up': 'It could not be made into a clip for too long.',
  'nothing-left': 'The gateway stopped before anything of the clip was on disk.',
  'nothing-kept': 'Nothing was kept of this time: the camera gave no pictures then, or its history begins later.',
  'clock-set-back':
    'The time of the event is still to come: the clock was set back since. The camera shows something else at that time.',
}

type Removing = {
  readonly tools: ClipTools
  readonly facts: DetectionFacts
  readonly firstAttempt: number
  readonly onKept?: () => void
}

/** Removes the files of a clip, again and again. Resolves with undefined when that is left to the next start. */
export async function untilRemoved(
  { tools, facts, firstAttempt, onKept = () => {} }: Removing,
  remove: () => Promise<ClipLost>,
): Promise<ClipLost | undefined> {
  for (let attempt = firstAttempt; ; attempt += 1) {
    try {
      return await remove()
    } catch (err) {
      tools.log.error({ err, ...facts, attempt }, notRemoved)
      tools.waits({ ...(await waiting(tools, facts.detectionId, 'The disk refused to remove it.')), facts })
      onKept()
    }
    if (!(await tools.again(attempt, facts.detectionId))) return undefined
  }
}

/**
 * Notes why a clip is given up, removes its files, and returns the loss. Words of an earlier attempt stay. Rejects while a file
 * cannot be removed.
 */
export async function giveUp(tools: ClipTools, facts: DetectionFacts, wanted: GivenUp): Promise<ClipLost> {
  const path = sidecarPath(tools, facts.detectionId)
  // One that is damaged is written anew.
  const known = await readSidecar(tools, facts.detectionId).catch((): Partial<Sidecar> => ({}))
  const { givenUp = wanted } = known
  const note = () => writeDurably(path, JSON.stringify({ ...known, facts, givenUp }))
  const refusal: unknown = await note().then(
    () => null,
    (err: unknown) => err,
  )
  await removeFiles(tools, facts.detectionId)
  // A full disk takes it now.
  if (refusal !== null)
    await note().catch((err: unknown) => tools.log.error({ err, ...facts }, 'why a clip is lost could not be noted'))
  tools.log.error({ ...facts, ...givenUp }, 'a clip is lost')
  return givenUpLoss(facts, givenUp)
}

/** Removes the files of a clip but for `ID.json`; the video last, because a start looks for it. */
export async function removeFiles(tools: ClipTools, id: number): Promise<void> {
  for (const path of [join(tools.folder, `${id}.png`), spoolPath(tools, id), clipPath(tools, id)])
    await rm(path, { force: true })
}

/** Returns the loss of a clip that was given up. */
export function givenUpLoss(facts: DetectionFacts, givenUp: GivenUp): ClipLost {
  return { ...lostBecause(facts, 'given-up'), ...givenUp }
}

/** Reads `ID.json`. Rejects when it is not there, or damaged. */
export async function readSidecar(tools: Pick<ClipTools, 'folder'>, id: number): Promise<Sidecar> {
  const text = await readFile(sidecarPath(tools, id), { encoding: 'utf8', flag: ownFile.read })
  const known: Partial<Sidecar> = JSON.parse(text)
  // The leaf of the detection needs both times.
  const isTimed = Number.isFinite(known.facts?.motionAt) && Number.isFinite(known.startedAt)
  if (!isTimed && known.givenUp === undefined) throw new Error(`${id}.json has no times`)
  return known as Sidecar
}

/** Describes a clip that waits, and of which no facts are known. */
export async function waiting(
  tools: Pick<ClipTools, 'folder'>,
  detectionId: number,
  words: string,
): Promise<ClipWaits> {
  const sizes = [spoolPath, clipPath].map((pathOf) => sizeOf(pathOf(tools, detectionId)).catch(() => 0))
  const sizeBytes = (await Promise.all(sizes)).reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0)
  return { type: 'clipWaits', detectionId, words, sizeBytes, facts: null }
}

/**
 * Removes the files of a lost clip, because no row would name them, and then returns the loss. Resolves with undefined when a file
 * could not be removed: the next start tries again. `onKept` is called when it could not at first.
 */
export async function lost(
  tools: ClipTools,
  facts: DetectionFacts,
  error: unknown,
  onKept = () => {},
): Promise<ClipLost | undefined> {
  tools.log.error({ err: error, ...facts }, 'a clip is lost')
  const loss = lostBecause(facts, reasonOf(error))
  return untilRemoved({ tools, facts, firstAttempt: 0, onKept }, async () => {
    await removeFiles(tools, facts.detectionId).catch((err: NodeJS.ErrnoException) => {
      // The path of the folder is not a folder, so it holds no files.
      if (err.code !== 'ENOTDIR') throw err
    })
    return loss
  })
}

/** Returns the loss of a finished clip that was refused again and again. Its file stays. */
export function damaged(tools: ClipTools, facts: DetectionFacts, error: unknown): ClipLost {
  tools.log.error({ err: error, ...facts }, 'a clip is lost')
  return lostBecause(facts, 'damaged')
}

/** Returns the loss of a clip of which nothing is on disk. */
export function lostBecause(facts: DetectionFacts, reason: ClipLostReason): ClipLost {
  return { type: 'clipLost', ...facts, reason, words: lostWords[reason] }
}

export function reasonOf(error: unknown): ClipLostReason {
  const { reason, code, message = '' } = error as { reason?: ClipLostReason; code?: string; message?: string }
  if (reason && reason in lostWords) return reason
  if (code === 'ENOSPC' || code === 'EDQUOT' || message.includes('No space left on device')) return 'disk-full'
  return code === undefined ? 'unreadable' : 'disk-failed'
}

/** Returns the bytes of a file; undefined when there is none. */
export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
