import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../platform/faults.ts'
import { ownFile } from '../../platform/index.ts'
import type { Moment } from '../decoding/clip-picture.ts'
import { CuttingError } from '../ffmpeg/ffmpeg-run.ts'
import type { Shown } from '../format/shown.ts'
import { packetBytes, UnitSplitter } from '../format/transport-stream.ts'
import { giveBack } from '../format/video-blocks.ts'
import type { ClipClosed, ClipLost, ClipWaits, DetectionFacts } from '../messages.ts'
import {
  type Bounds,
  type ClipTools,
  damaged,
  type Ending,
  giveUp,
  lost,
  lostBecause,
  reasonOf,
  type Sidecar,
  sizeOf,
  untilRemoved,
  waiting,
} from './clip-loss.ts'
import { clipPath, sidecarPath, spoolPath } from './clip-paths.ts'
import { probe, remux, remuxJpeg, stored, takePicture } from './cutting.ts'
import { writeDurably } from './durable.ts'
import { SpoolError } from './spool.ts'

/** Bytes that are read at once. */
const partBytes = 174 * packetBytes

/**
 * Says whether a spool has a whole picture this long after its first one. The finished clip must show it. Reads up to it. Rejects
 * when the file cannot be read.
 */
async function showsPicture(spool: string, leadMs: number): Promise<boolean> {
  const file = await open(spool, ownFile.read)
  const splitter = new UnitSplitter({ timesAreKnown: true })
  let firstMs: number | undefined
  for await (const bytes of file.createReadStream({ highWaterMark: partBytes }) as AsyncIterable<Buffer>) {
    const units = splitter.push(bytes, 0)
    for (const unit of units) giveBack(unit.bytes)
    firstMs ??= units[0]?.ptsMs
    if (units.some(({ ptsMs }) => ptsMs >= (firstMs ?? 0) + leadMs)) return true
  }
  return false
}

export type ClipResult = ClipClosed | ClipLost

export type MakingOptions = {
  /** Called after the first failure: nothing should wait for this clip any longer. */
  readonly onKept?: () => void
  /** Whether the spool reserved the disk's room for the first attempt. */
  readonly hasRoom?: boolean
}

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

/** The snapshot is taken this long after motion begins: there is more of it to see. */
const snapshotDelayMs = 400

/**
 * Makes the clip from its spool, or describes it when it is made already. Never rejects. Resolves with undefined when the clip is
 * left to the next start. A clip is lost only when its spool shows no picture, or when the spool is gone and the finished clip is
 * damaged. After any other failure the spool stays, and the clip is tried again.
 */
export async function makeClip(
  tools: ClipTools,
  { facts: begun, bounds, ending }: ClipPlan,
  { onKept = () => {}, hasRoom = false }: MakingOptions = {},
): Promise<ClipResult | undefined> {
  const facts = ending.kinds === undefined ? begun : { ...begun, kinds: ending.kinds }
  const plan = { facts, bounds, ending }
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
