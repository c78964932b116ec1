import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Clock, type Logger, makeFolder, ownFile } from '../../platform/index.ts'
import type { Unit } from '../format/transport-stream.ts'
import { giveBack, keep } from '../format/video-blocks.ts'
import { writeParts } from '../format/write-parts.ts'
import type { Ring } from '../stream/ring.ts'
import { type Segment, segmentName } from './history-index.ts'

/** Where the segments go. */
export type SegmentShelf = {
  readonly folder: string
  /** Says whether the disk has room for history. */
  readonly hasRoom: () => boolean
  readonly add: (segment: Segment, endMs: number) => void
  readonly extend: (segment: Segment, endMs: number) => void
  readonly rename: (segment: Segment, as: Segment) => void
}

type HistoryWriterNeeds = {
  readonly cameraId: number
  readonly ring: Ring
  readonly shelf: SegmentShelf
  readonly clock: Clock
  readonly log: Logger
}

/** A segment begins with the first key frame after this. Short ones lose little at a crash and are removed in small steps. */
const segmentMs = 120_000
/**
 * Video is written about once a second, with one reading of it. A crash loses the video that waits to be read and the picture that
 * is incomplete.
 */
const writeEveryMs = 900
/** Bytes waiting for the disk at which a run is given up; it begins again when they are written. */
const mostPendingBytes = 16 * 1024 * 1024
/** Time until the disk is tried again after it refused a segment. */
const tryAgainMs = 10_000

/** A wall clock that moves more than this against the monotonic one was set, and another run begins. */
const clockSetMs = 1000

/** The start of a run is known better after some seconds; corrections below and above this are none. */
const correctionMs = { least: 50, most: 5000 } as const

/** The segment being written. `startPtsMs` is the stream's time of its first picture. */
type Open = {
  segment: Segment
  readonly startPtsMs: number
  file?: FileHandle
  hasHole?: boolean
}

/** Pictures that are written together. */
type Batch = { readonly open: Open; readonly parts: readonly Buffer[]; readonly bytes: number }

/**
 * Writes the video of a ring to segments on disk, each from a key frame on and with the program tables before it. It takes the
 * bytes as they are, so it costs no decoding and no second connection. Taking never waits for the disk.
 */
export class HistoryWriter {
  readonly #needs: HistoryWriterNeeds
  readonly #unsubscribe: () => void
  #open: Open | undefined
  #runMs: number | undefined
  #batch: Buffer[] = []
  #lastWriteMs = 0
  /** Wall clock minus monotonic clock, as this run counts it. */
  #clockMs = 0
  /** From the stream's time to the wall clock, and the newest picture: kept, because the ring forgets them at a break. */
  #wallOffsetMs = 0
  #newestPtsMs = 0
  /** Batches that wait for the disk, without the one that is being written. */
  readonly #queued = new Set<Batch>()
  #pendingBytes = 0
  #notBeforeMs = -Infinity
  #isRefused = false
  /** A run was given up: the next one begins when the waiting video is written. */
  #isBehind = false
  #writing: Promise<void> = Promise.resolve()

  constructor(needs: HistoryWriterNeeds) {
    this.#needs = needs
    this.#unsubscribe = needs.ring.subscribe({
      unit: (unit) => this.#take(unit),
      read: () => this.#writeIfDue(),
      broken: () => this.#endRun(),
    })
  }

  /** Bytes that wait for the disk. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** Ends the run and gives up its video that waits for the disk, because memory is short. Returns false when nothing waits. */
  shed(): boolean {
    const newest = [...this.#queued].at(-1)
    if (!newest) return false
    newest.open.hasHole = true
    for (const batch of [...this.#queued]) if (batch.open === newest.open) this.#drop(batch)
    this.#giveUp('memory is short')
    return true
  }

  /** Returns the segment that is being written. */
  get segment(): Segment | undefined {
    return this.#open?.segment
  }

  /** Writes the video that has come; resolves when it is in the file. */
  async flush(): Promise<void> {
    this.#write()
    await this.#writing
  }

  /** Ends the segment. Resolves when everything is in its file. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#endRun()
    await this.#writing
  }

  #take(unit: Unit): void {
    const { clock, ring } = this.#needs
    const nowMs = clock.monotonic()
    this.#followClock(clock.now() - nowMs, unit.key)
    this.#wallOffsetMs = ring.arrivalOf(0) + this.#clockMs
    this.#newestPtsMs = unit.ptsMs
    if (unit.key && (!this.#open || unit.ptsMs - this.#open.startPtsMs >= segmentMs)) this.#begin(unit, nowMs)
    if (!this.#open) return
    keep(unit.bytes)
    this.#batch.push(unit.bytes)
  }

  #writeIfDue(): void {
    if (this.#needs.clock.monotonic() - this.#lastWriteMs >= writeEveryMs) this.#write()
  }

  /** A clock that was set ends the run at the next key frame; until then the run counts as before, and has no hole. */
  #followClock(clockMs: number, isKey: boolean): void {
    const wasSet = this.#open !== undefined && Math.abs(clockMs - this.#clockMs) > clockSetMs
    if (wasSet && !isKey) return
    if (wasSet) this.#endRun()
    this.#clockMs = clockMs
  }

  #begin(unit: Unit, nowMs: number): void {
    this.#close()
    if (this.#isBehind && this.#pendingBytes > 0) return
    this.#isBehind = false
    if (nowMs < this.#notBeforeMs) return
    const { cameraId, ring, shelf } = this.#needs
    const startMs = Math.round(unit.ptsMs + this.#wallOffsetMs)
    this.#runMs ??= startMs
    const segment = { cameraId, runMs: this.#runMs, startMs }
    this.#open = { segment, startPtsMs: unit.ptsMs }
    this.#batch = [ring.tables]
    this.#lastWriteMs = nowMs
    shelf.add(segment, startMs)
  }

  #endRun(): void {
    this.#close()
    this.#runMs = undefined
  }

  #close(): void {
    const open = this.#open
    if (!open) return
    this.#write()
    this.#open = undefined
    this.#writing = this.#writing.then(() => open.file?.close()).catch((err: unknown) => this.#refuse(err))
  }

  #write(): void {
    const open = this.#open
    if (!open || this.#batch.length === 0) return
    const { shelf, clock } = this.#needs
    const parts = this.#batch
    const bytes = parts.reduce((sum, part) => sum + part.length, 0)
    const batch: Batch = { open, parts, bytes }
    this.#batch = []
    this.#lastWriteMs = clock.monotonic()
    this.#queued.add(batch)
    this.#pendingBytes += bytes
    const startMs = Math.round(open.startPtsMs + this.#wallOffsetMs)
    const endMs = this.#newestPtsMs + this.#wallOffsetMs
    const write = async () => {
      if (!this.#queued.delete(batch)) return
      try {
        await this.#append(open, parts)
        await this.#correct(open, startMs)
        shelf.extend(open.segment, endMs)
      } catch (err) {
        this.#refuse(err)
      } finally {
        this.#release(batch)
      }
    }
    this.#writing = this.#writing.then(write)
    if (this.#pendingBytes > mostPendingBytes) this.#giveUp('the disk is slower than the camera')
  }

  #drop(batch: Batch): void {
    this.#queued.delete(batch)
    this.#release(batch)
  }

  #release({ parts, bytes }: Batch): void {
    parts.forEach(giveBack)
    this.#pendingBytes -= bytes
  }

  async #append(open: Open, batch: readonly Buffer[]): Promise<void> {
    // A later part without an earlier one could not be played.
    if (open.hasHole) return
    open.hasHole = true
    if (!this.#needs.shelf.hasRoom()) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' })
    open.file ??= await openSegment(this.#pathOf(open.segment))
    await writeParts(open.file, batch)
    open.hasHole = false
    this.#isRefused = false
  }

  /** Gives a segment an earlier start: the first pictures of a connection come late, which shows only afterwards. */
  async #correct(open: Open, startMs: number): Promise<void> {
    const early = open.segment.startMs - startMs
    if (early < correctionMs.least || early > correctionMs.most || open.hasHole) return
    const before = open.segment
    open.segment = { ...before, startMs }
    await rename(this.#pathOf(before), this.#pathOf(open.segment))
    this.#needs.shelf.rename(before, open.segment)
  }

  #pathOf(segment: Segment): string {
    return join(this.#needs.shelf.folder, segmentName(segment))
  }

  #refuse(err: unknown): void {
    this.#notBeforeMs = this.#needs.clock.monotonic() + tryAgainMs
    this.#giveUp('the disk refused it', err)
  }

  /** Ends the run: a part of the video will be missing, and no film may run over the break. */
  #giveUp(why: string, err?: unknown): void {
    if (!this.#isRefused) this.#needs.log.warn({ err, why }, 'continuous video has a gap')
    this.#isRefused = true
    this.#isBehind = true
    const open = this.#open
    this.#open = undefined
    this.#runMs = undefined
    this.#batch = []
    if (open) this.#writing = this.#writing.then(() => open.file?.close()).catch(() => {})
  }
}

/** Opens a new file; one of the same name is of the same millisecond and is replaced. */
async function openSegment(path: string): Promise<FileHandle> {
  await makeFolder(dirname(path), 0o750)
  return open(path, ownFile.write, 0o640)
}
