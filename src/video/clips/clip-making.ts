import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../platform/faults.ts'
import { type Logger, ownFile } from '../../platform/index.ts'
import type { Moment } from '../decoding/clip-picture.ts'
import type { KeyFrameDecoder } from '../decoding/picture-decoder.ts'
import { CuttingError } from '../ffmpeg/ffmpeg-run.ts'
import type { Shown } from '../format/shown.ts'
import type { Codec } from '../format/transport-stream.ts'
import type { ClipClosed, ClipLost, ClipLostReason, ClipWaits, DetectionFacts } from '../messages.ts'
import type { StreamEnd } from '../stream/ring.ts'
import { clipPath, sidecarPath, spoolPath } from './clip-paths.ts'
import type { ClipRoom } from './clip-room.ts'
import { probe, remux, remuxJpeg, stored, takePicture } from './cutting.ts'
import { writeDurably } from './durable.ts'
import { SpoolError } from './spool.ts'
import { showsPicture } from './spooled-pictures.ts'

export type ClipResult = ClipClosed | ClipLost

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

export type MakingOptions = {
  /** Called after the first failure: nothing should wait for this clip any longer. */
  readonly onKept?: () => void
  /** Whether the spool reserved the disk's room for the first attempt. */
  readonly hasRoom?: boolean
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

/** A clip whose spool is closed. */
export type ClipPlan = { readonly facts: DetectionFacts; readonly bounds: Bounds; readonly ending: Ending }

/**
 * The hidden part is this much shorter than the lead, because rounding would otherwise hide the first picture too.
 * Readers of the file (ffmpeg, and browsers with its demuxer) put zero at the first picture that is not hidden.
 */
const marginMs = 1
/** Pictures that end this much (and three picture intervals) before the clip should mean that the stream had ended. */
const endedEarlyMs = 1000

/**
 * A finished clip is damaged when it was refused so often: a disk or memory may give something else the next time. And it goes without
 * a picture when ffmpeg could not be run so often.
 */
const patientAttempts = 3

export const notRemoved = 'a clip that is not to be kept could not be removed; it is tried again'

/** The snapshot is taken this long after motion begins: there is more of it to see. */
const snapshotDelayMs = 400

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

/**
 * Makes the clip from its spool, or describes it when it is made already. Never rejects. Resolves with undefined when the clip is
 * left to the next start. A clip is lost only when its spool shows no picture, or when the spool is gone and the finished clip is
 * damaged. After any other failure the spool stays, and the clip is tried again.
 */
export async function makeClip(
  tools: ClipTools,
  plan: ClipPlan,
  { onKept = () => {}, hasRoom = false }: MakingOptions = {},
): Promise<ClipResult | undefined> {
  const { facts, bounds } = plan
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await tools.inTurn(() => attemptOf(tools, plan, attempt, hasRoom && attempt === 0))
    } catch (error) {
      const verdict = await verdictOf(tools, plan, error, attempt)
      if (verdict) {
        const loss = verdict === 'empty' ? await lost(tools, facts, error, onKept) : damaged(tools, facts, error)
        return loss && { ...loss, ...endOf(bounds) }
      }
      const words = 'a clip could not be made; its video is kept, and it is tried again'
      tools.log.error({ err: error, ...facts, attempt }, words)
      if (attempt === 0) {
        await noteEnding(tools, plan)
        onKept()
      }
      tools.waits({ ...(await waiting(tools, facts.detectionId, waitWords(error))), facts })
    }
    if (!(await tools.again(attempt, facts.detectionId))) return undefined
    const words = tools.givenUp(facts.detectionId)
    if (words !== undefined)
      return untilRemoved({ tools, facts, firstAttempt: attempt + 1 }, () =>
        giveUp(tools, facts, { words, ...endOf(bounds) }),
      )
  }
}

type Removing = {
  readonly tools: ClipTools
  readonly facts: DetectionFacts
  readonly firstAttempt: number
  readonly onKept?: () => void
}

/** Removes the files of a clip, again and again. Resolves with undefined when that is left to the next start. */
async function untilRemoved(
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
  return JSON.parse(await readFile(sidecarPath(tools, id), { encoding: 'utf8', flag: ownFile.read })) as Sidecar
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
 * Describes a clip that waits because its facts cannot be read: how old it is, only its files say. Where the disk does not say that
 * either, the clip has no age, and stays.
 */
export async function unreadable(tools: Pick<ClipTools, 'folder'>, detectionId: number): Promise<ClipWaits> {
  const words = 'Its file ID.json is damaged and cannot be read.'
  const files = await Promise.allSettled([spoolPath, clipPath].map((pathOf) => stat(pathOf(tools, detectionId))))
  const times = files.flatMap((file) => (file.status === 'fulfilled' ? [file.value.mtimeMs] : []))
  const age = times.length > 0 ? { writtenAt: Math.round(Math.max(...times)) } : {}
  return { ...(await waiting(tools, detectionId, words)), ...age }
}

/** Returns the end of a lost clip, when that is known. */
export function endOf({ endAt }: Pick<Bounds, 'endAt'>): Pick<ClipLost, 'endedAt'> {
  return endAt === null ? {} : { endedAt: Math.round(endAt) }
}

/** The spool is removed last, when the clip is on disk under its name and can be read. */
async function attemptOf(tools: ClipTools, plan: ClipPlan, attempt: number, hasRoom: boolean): Promise<ClipResult> {
  const { facts, bounds } = plan
  const [spool, clip] = [spoolPath(tools, facts.detectionId), clipPath(tools, facts.detectionId)]
  const spoolBytes = await sizeOf(spool)
  if (spoolBytes === undefined) {
    return (await sizeOf(clip)) === undefined
      ? { ...lostBecause(facts, 'nothing-left'), ...endOf(bounds) }
      : describe(tools, plan, attempt)
  }
  // Room that was reserved before is used even if the disk has become short since.
  if (!hasRoom && !tools.room.takeAgain(spoolBytes)) throw new SpoolError('disk-full')
  try {
    const { leadMs, codec } = bounds
    if (codec === 'mjpeg') await remuxJpeg(tools.ffmpeg, spool, clip)
    else await remux(tools.ffmpeg, spool, clip, { hiddenMs: Math.max(leadMs - marginMs, 0), codec })
    const closed = await describe(tools, plan, attempt)
    await rm(spool, { force: true })
    return closed
  } finally {
    if (!hasRoom) tools.room.giveBack(spoolBytes)
  }
}

/** Says that there is no clip: the spool shows nothing, or it is gone and the finished file is damaged. Undefined while there may be one. */
async function verdictOf(
  tools: ClipTools,
  { facts, bounds }: ClipPlan,
  error: unknown,
  attempt: number,
): Promise<'empty' | 'damaged' | undefined> {
  if (!(error instanceof CuttingError) || !error.isVerdict) return undefined
  try {
    const shows = await showsPicture(spoolPath(tools, facts.detectionId), bounds.leadMs - marginMs)
    return shows ? undefined : 'empty'
  } catch (reading) {
    // A file that cannot be read says nothing of the video. One that is gone leaves the finished clip, which ffmpeg refused.
    if (errorCode(reading) !== 'ENOENT') return undefined
    if ((await sizeOf(clipPath(tools, facts.detectionId)).catch(() => undefined)) === undefined) return undefined
    return attempt + 1 < patientAttempts ? undefined : 'damaged'
  }
}

/** Says why a clip waits, and which event ends the wait. */
function waitWords(error: unknown): string {
  const reason = reasonOf(error)
  if (reason === 'disk-full') return 'The disk has no room for the finished clip.'
  if (!(error instanceof CuttingError)) return 'The disk refused to read or to write it.'
  return error.isVerdict
    ? 'ffmpeg cannot make a clip of the recorded video. Another version of ffmpeg may.'
    : 'ffmpeg could not be run to its end. Check that it is installed, and that the box has memory and room on its disk.'
}

/** Writes down how the clip ended, so that the next start can say it. On a full disk it stays as it was. */
async function noteEnding(tools: ClipTools, { facts, bounds, ending }: ClipPlan): Promise<void> {
  const sidecar: Sidecar = { facts, ...bounds, ending }
  await writeDurably(sidecarPath(tools, facts.detectionId), JSON.stringify(sidecar)).catch((err: unknown) =>
    tools.log.warn({ err, detectionId: facts.detectionId }, 'the end of a clip could not be noted'),
  )
}

/** Returns the bytes of a file; undefined when there is none. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Describes a clip by reading the finished file; `startedAt` adds the wall clock of its zero. */
async function describe(
  tools: ClipTools,
  { facts, bounds, ending: { closedBy, peakScore, movedForMs = 0, streamEnd = 'stream-ended' } }: ClipPlan,
  attempt: number,
): Promise<ClipClosed> {
  const path = clipPath(tools, facts.detectionId)
  const reading = [probe(tools.ffmpeg, path), stored(path, `${facts.detectionId}.mp4`)] as const
  const [{ width, height, codec, ...shown }, file] = await Promise.all(reading)
  const original = bounds.codec !== 'mjpeg' || codec === 'mjpeg'
  const startedAt = Math.round(bounds.startedAt + shown.firstMs)
  const endedAt = Math.round(bounds.startedAt + shown.lastMs)
  const preRollMs = Math.min(Math.max(facts.motionAt - startedAt, 0), endedAt - startedAt)
  const { askedPreRollMs } = bounds
  const motionMs = shown.firstMs + preRollMs
  const moment = {
    atMs: Math.min(motionMs + snapshotDelayMs, shown.lastMs - 1),
    movesUntilMs: motionMs + movedForMs,
  }
  return {
    type: 'clipClosed',
    ...facts,
    ...file,
    ...{ startedAt, endedAt, width, height, peakScore, pictures: shown.pictures, original },
    preRollSeconds: preRollMs / 1000,
    askedPreRollSeconds: askedPreRollMs === undefined ? null : askedPreRollMs / 1000,
    durationSeconds: (endedAt - startedAt) / 1000,
    longestGapSeconds: Math.round(shown.longestGapMs) / 1000,
    closedBy:
      closedBy === 'stream-ended' || (mayEndEarly(closedBy) && endedEarly(shown, bounds)) ? streamEnd : closedBy,
    snapshot: await snapshot(tools, facts.detectionId, moment, attempt),
  }
}

/** A clip that was stopped or cut short already has a reason for its end. */
const mayEndEarly = (closedBy: ClipClosed['closedBy']) => closedBy === 'post-roll' || closedBy === 'longest'

function endedEarly({ firstMs, lastMs, pictures }: Shown, bounds: Bounds): boolean {
  if (bounds.endAt === null) return false
  const distanceMs = (lastMs - firstMs) / Math.max(pictures - 1, 1)
  return bounds.endAt - (bounds.startedAt + lastMs) > Math.max(endedEarlyMs, 3 * distanceMs)
}

/**
 * Takes the snapshot; null when there is none, since the clip is complete without it. Rejects when ffmpeg could not be run,
 * so that the clip is tried again.
 */
async function snapshot(
  tools: ClipTools,
  id: number,
  moment: Moment,
  attempt: number,
): Promise<ClipClosed['snapshot']> {
  const name = `${id}.png`
  const file = join(tools.folder, name)
  try {
    await takePicture(tools.ffmpeg, clipPath(tools, id), moment, file, tools.pictures)
    return await stored(file, name)
  } catch (err) {
    // One of an earlier run, whose result was not confirmed.
    const earlier = await stored(file, name).catch(() => null)
    const couldNotRun = err instanceof CuttingError && err.obstacle === 'program'
    if (!earlier && couldNotRun && attempt + 1 < patientAttempts) throw err
    tools.log.warn({ err, detectionId: id }, 'no picture could be taken from a clip')
    return earlier
  }
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
function damaged(tools: ClipTools, facts: DetectionFacts, error: unknown): ClipLost {
  tools.log.error({ err: error, ...facts }, 'a clip is lost')
  return lostBecause(facts, 'damaged')
}

/** Returns the loss of a clip of which nothing is on disk. */
export function lostBecause(facts: DetectionFacts, reason: ClipLostReason): ClipLost {
  return { type: 'clipLost', ...facts, reason, words: lostWords[reason] }
}

function reasonOf(error: unknown): ClipLostReason {
  const { reason, code, message = '' } = error as { reason?: ClipLostReason; code?: string; message?: string }
  if (reason && reason in lostWords) return reason
  if (code === 'ENOSPC' || code === 'EDQUOT' || message.includes('No space left on device')) return 'disk-full'
  return code === undefined ? 'unreadable' : 'disk-failed'
}
