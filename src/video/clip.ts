import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Logger, ownFile } from '../platform/index.ts'
import type { ClipRoom } from './clip-room.ts'
import { probe, remux, remuxJpeg, stored, takePicture } from './cutting.ts'
import { writeDurably } from './durable.ts'
import type { ClipClosed, ClipLost, ClipLostReason, DetectionFacts } from './messages.ts'
import type { Ring } from './ring.ts'
import type { Shown } from './shown.ts'
import { type Beginning, Spool } from './spool.ts'
import type { Codec } from './transport-stream.ts'

export type ClipResult = ClipClosed | ClipLost

export type ClipTools = {
  /** Path of ffmpeg. */
  readonly ffmpeg: string
  /** Folder of clips, snapshots and unfinished clips. */
  readonly folder: string
  readonly log: Logger
  /** Shares the disk between open clips, without what is reserved for the ledger. */
  readonly room: Pick<ClipRoom, 'take' | 'giveBack'>
  /** Runs a task in turn, so that a box with many cameras does not cut all clips at once. */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>
}

/** All times monotonic, but for `wallOffsetMs`, which turns them into labels. */
export type ClipRequest = {
  readonly facts: DetectionFacts
  readonly ring: Ring
  readonly fromMs: number
  /** End of the cooldown of the last clip. */
  readonly notBeforeMs: number
  /** Pre-roll of the settings; a cooldown or a young ring may give less. */
  readonly askedPreRollMs: number
  /** Wall clock minus monotonic clock at the moment of motion. One for the whole clip, so that its labels fit together. */
  readonly wallOffsetMs: number
}

/** Content of `ID.json`, which exists until the database has the clip. */
type Sidecar = Beginnings & { readonly facts: DetectionFacts }

/** What is known of a clip once its spool has a beginning. */
type Beginnings = {
  /** Wall clock of the picture that is to be shown first. */
  readonly startedAt: number
  readonly leadMs: number
  readonly codec: Codec
  /** Absent in what an older gatehouse left. */
  readonly askedPreRollMs?: number
}

/** What the finished clip should show, once its spool is closed. */
type Bounds = Beginnings & {
  /** Wall clock at which it should end; null: as much as there is. */
  readonly endAt: number | null
}

type Ending = { readonly closedBy: ClipClosed['closedBy']; readonly peakScore: number | null }

/**
 * The hidden part is this much shorter than the lead, because rounding would otherwise hide the first picture too.
 * Readers of the file (ffmpeg, and browsers with its demuxer) put zero at the first picture that is not hidden.
 */
const marginMs = 1
/** Pictures that end this much (and three picture intervals) before the clip should mean that the stream had ended. */
const endedEarlyMs = 1000

/** The snapshot is taken this long after motion begins: there is more of it to see. */
const snapshotDelayMs = 400

const lostWords: Record<ClipLostReason, string> = {
  'no-video': 'The camera sent no video that could be recorded. Its state says more.',
  'disk-full': 'The disk is full, or all that is left is reserved for events.',
  'disk-too-slow': 'The disk was slower than the camera for too long.',
  'disk-failed': 'The disk refused to write or to read the clip.',
  unreadable: 'What was recorded could not be made into a clip.',
  'nothing-left': 'The gateway stopped before anything of the clip was on disk.',
  'nothing-kept':
    'Nothing was kept of this time: the camera gave no pictures then, or its history does not reach back so far.',
}

/** Records one clip, from the moment motion fires to the file on disk. */
export class Recording {
  readonly #tools: ClipTools
  readonly #request: ClipRequest
  readonly #spool: Spool

  /** Takes the pre-roll from the ring at once. */
  constructor(tools: ClipTools, request: ClipRequest) {
    this.#tools = tools
    this.#request = request
    const { facts, ring, fromMs, notBeforeMs } = request
    const path = spoolPath(tools, facts.detectionId)
    this.#spool = new Spool({
      path,
      ring,
      fromMs,
      notBeforeMs,
      room: tools.room,
      prepare: (beginning) => this.#note(beginning),
    })
  }

  /** Resolves when everything that was taken so far is in the spool, or when the spool has failed. */
  get drained(): Promise<void> {
    return this.#spool.drained
  }

  /** Ends the clip at `endMs` (monotonic), or earlier if the video does. Never rejects. */
  async close(endMs: number, ending: Ending): Promise<ClipResult> {
    return (await this.end(endMs))(ending)
  }

  /** Takes no more video. Returns the function that makes the clip. Neither rejects. */
  async end(endMs: number): Promise<(ending: Ending) => Promise<ClipResult>> {
    const { facts, wallOffsetMs } = this.#request
    try {
      const spooled = await this.#spool.close(endMs)
      const bounds = { ...this.#beginnings(spooled), endAt: endMs + wallOffsetMs }
      return ({ closedBy, peakScore }) =>
        finish(this.#tools, facts, bounds, { closedBy: spooled.cutShort ?? closedBy, peakScore })
          .catch((error) => lost(this.#tools, facts, error))
          .finally(() => this.#spool.release())
    } catch (error) {
      this.#spool.release()
      return async () => ({ ...(await lost(this.#tools, facts, error)), endedAt: Math.round(endMs + wallOffsetMs) })
    }
  }

  /** Removes the spool, because another clip shows the same. After `end`. */
  async drop(): Promise<void> {
    const { detectionId } = this.#request.facts
    for (const path of [spoolPath, sidecarPath]) await rm(path(this.#tools, detectionId), { force: true })
    this.#spool.release()
  }

  /** Bytes of this clip that wait for the disk. */
  get pendingBytes(): number {
    return this.#spool.pendingBytes
  }

  /** Ends the clip with what is on the disk, to free the memory of what waits for it. */
  giveUp(): void {
    this.#spool.giveUp()
  }

  /** Writes the facts before the first byte of video, so that no video is without them. */
  async #note(beginning: Beginning): Promise<void> {
    const { facts } = this.#request
    const sidecar: Sidecar = { facts, ...this.#beginnings(beginning) }
    await mkdir(this.#tools.folder, { recursive: true })
    await writeDurably(sidecarPath(this.#tools, facts.detectionId), JSON.stringify(sidecar))
  }

  #beginnings({ startMs, leadMs, codec }: Beginning): Beginnings {
    const { wallOffsetMs, askedPreRollMs } = this.#request
    return { startedAt: startMs + wallOffsetMs, leadMs, codec, askedPreRollMs }
  }
}

/** Removes `ID.json` of a clip that the database has as recorded or lost. */
export async function forget(folder: string, detectionId: number): Promise<void> {
  await rm(sidecarPath({ folder }, detectionId), { force: true })
}

/**
 * Finishes the clips that a killed daemon left in the folder, and returns again those that the database has not
 * confirmed. Call it before any camera starts. A complete clip keeps its bytes.
 */
export async function* finishLeftovers(tools: ClipTools): AsyncGenerator<ClipResult> {
  await mkdir(tools.folder, { recursive: true })
  const names = await readdir(tools.folder)
  for (const name of names.filter((n) => /^\d+(\.redacted-\d+)?\.(mp4|png|json)\.part$/.test(n)))
    await rm(join(tools.folder, name))
  for (const name of names) {
    const id = /^(\d+)\.json$/.exec(name)?.[1]
    if (id) yield await finishLeftover(tools, Number(id), names)
  }
}

async function finishLeftover(tools: ClipTools, id: number, names: readonly string[]): Promise<ClipResult> {
  const sidecar = JSON.parse(
    await readFile(sidecarPath(tools, id), { encoding: 'utf8', flag: ownFile.read }),
  ) as Sidecar
  const { facts, ...rest } = sidecar
  const bounds = { ...rest, endAt: null }
  const ending = { closedBy: 'restart', peakScore: null } as const
  try {
    if (names.includes(`${id}.ts.part`)) return await finish(tools, facts, bounds, ending)
    if (names.includes(`${id}.mp4`)) return await describe(tools, facts, bounds, ending)
    return lostBecause(facts, 'nothing-left')
  } catch (error) {
    return lost(tools, facts, error)
  }
}

/**
 * Makes the clip from its spool. The spool is removed last, when the clip is on disk under its name and can be read.
 */
async function finish(tools: ClipTools, facts: DetectionFacts, bounds: Bounds, ending: Ending): Promise<ClipResult> {
  const { detectionId } = facts
  return tools.inTurn(async () => {
    const [spool, clip] = [spoolPath(tools, detectionId), clipPath(tools, detectionId)]
    const { leadMs, codec } = bounds
    if (codec === 'mjpeg') await remuxJpeg(tools.ffmpeg, spool, clip)
    else await remux(tools.ffmpeg, spool, clip, { hiddenMs: Math.max(leadMs - marginMs, 0), codec })
    const closed = await describe(tools, facts, bounds, ending)
    await rm(spoolPath(tools, detectionId), { force: true })
    return closed
  })
}

/** Describes a clip by reading the finished file; `startedAt` adds the wall clock of its zero. */
async function describe(
  tools: ClipTools,
  facts: DetectionFacts,
  bounds: Bounds,
  { closedBy, peakScore }: Ending,
): Promise<ClipClosed> {
  const path = clipPath(tools, facts.detectionId)
  const reading = [probe(tools.ffmpeg, path), stored(path, `${facts.detectionId}.mp4`)] as const
  const [{ width, height, codec, ...shown }, file] = await Promise.all(reading)
  const original = bounds.codec !== 'mjpeg' || codec === 'mjpeg'
  const startedAt = Math.round(bounds.startedAt + shown.firstMs)
  const endedAt = Math.round(bounds.startedAt + shown.lastMs)
  const preRollMs = Math.min(Math.max(facts.motionAt - startedAt, 0), endedAt - startedAt)
  const { askedPreRollMs } = bounds
  const snapshotMs = Math.min(shown.firstMs + preRollMs + snapshotDelayMs, shown.lastMs - 1)
  return {
    type: 'clipClosed',
    ...facts,
    ...file,
    ...{ startedAt, endedAt, width, height, peakScore, pictures: shown.pictures, original },
    preRollSeconds: preRollMs / 1000,
    askedPreRollSeconds: askedPreRollMs === undefined ? null : askedPreRollMs / 1000,
    durationSeconds: (endedAt - startedAt) / 1000,
    longestGapSeconds: Math.round(shown.longestGapMs) / 1000,
    closedBy: mayEndEarly(closedBy) && endedEarly(shown, bounds) ? 'stream-ended' : closedBy,
    snapshot: await snapshot(tools, facts.detectionId, snapshotMs),
  }
}

/** Of a clip that was stopped or cut short it is known why it ends. */
const mayEndEarly = (closedBy: ClipClosed['closedBy']) => closedBy === 'post-roll' || closedBy === 'longest'

function endedEarly({ firstMs, lastMs, pictures }: Shown, bounds: Bounds): boolean {
  if (bounds.endAt === null) return false
  const distanceMs = (lastMs - firstMs) / Math.max(pictures - 1, 1)
  return bounds.endAt - (bounds.startedAt + lastMs) > Math.max(endedEarlyMs, 3 * distanceMs)
}

/** Takes the snapshot; null when that fails, since the clip is complete without it. */
async function snapshot(tools: ClipTools, id: number, atMs: number): Promise<ClipClosed['snapshot']> {
  const name = `${id}.png`
  try {
    await takePicture(tools.ffmpeg, clipPath(tools, id), atMs, join(tools.folder, name))
    return await stored(join(tools.folder, name), name)
  } catch (err) {
    tools.log.warn({ err, detectionId: id }, 'no picture could be taken from a clip')
    return null
  }
}

/** Removes what cannot become a clip, because no row would name it, and returns the loss. */
async function lost(tools: ClipTools, facts: DetectionFacts, error: unknown): Promise<ClipLost> {
  tools.log.error({ err: error, ...facts }, 'a clip is lost')
  for (const path of [spoolPath, clipPath]) await rm(path(tools, facts.detectionId), { force: true }).catch(() => {})
  return lostBecause(facts, reasonOf(error))
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

type Folder = Pick<ClipTools, 'folder'>
const clipPath = ({ folder }: Folder, id: number) => join(folder, `${id}.mp4`)
const spoolPath = ({ folder }: Folder, id: number) => join(folder, `${id}.ts.part`)
const sidecarPath = ({ folder }: Folder, id: number) => join(folder, `${id}.json`)
