import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Logger } from '../../platform/index.ts'
import type { Ring } from '../stream/ring.ts'
import { type FilmSpan, HistoryIndex, readSegmentName, type Segment, segmentName } from './history-index.ts'
import { HistoryWriter } from './history-writer.ts'

export type HistoryOptions = {
  /** Folder of the segments; made with the first one. */
  readonly folder: string
  readonly clock: Clock
  readonly log: Logger
  /** Free bytes of the disk. Throws when the disk does not answer. */
  readonly freeBytes: () => number
}

const tidyEveryMs = 60_000
/** Segments that one tidying removes, so that a long list is no long work. */
const mostRemoved = 64
const hourMs = 3_600_000
/** No segment lasts longer, also of a camera with few key frames. */
const longestMs = 600_000
/** History is removed this much before clips are: it is kept in case, they are evidence. */
const beforeClips = 1.125

/**
 * Stores continuous video of cameras in segments on disk. Removes the oldest ones that are over their hours or for which the disk
 * has no room. It reads the names in its folder at the start and needs no database.
 */
export class History {
  readonly #needs: HistoryOptions
  readonly #index = new HistoryIndex()
  readonly #writers = new Map<number, { readonly ring: Ring; readonly writer: HistoryWriter }>()
  readonly #hours = new Map<number, number>()
  /** Writers of streams whose recording has ended, until their last bytes are in the file. */
  readonly #ending = new Set<Promise<void>>()
  #minFreeBytes = 0
  /** Unknown at first: until it is, nothing is removed for its age. */
  #clockIsTrusted = false
  #cancelTidying = () => {}
  readonly #loaded: Promise<void>

  constructor(needs: HistoryOptions) {
    this.#needs = needs
    this.#loaded = this.#load().catch((err: unknown) =>
      needs.log.error({ err }, 'continuous video could not be listed'),
    )
  }

  /** Free disk space that history leaves for everything else. */
  set minFreeBytes(bytes: number) {
    this.#minFreeBytes = bytes
  }

  /** Whether the wall clock is right as far as is known. By a wrong one nothing is old. */
  set clockIsTrusted(isTrusted: boolean) {
    this.#clockIsTrusted = isTrusted
  }

  /**
   * Stores the video of a ring from now on; undefined: stores none. Segments older than `hours` are removed, so 0 removes all of
   * them.
   */
  keep(cameraId: number, hours: number, ring: Ring | undefined): void {
    this.#hours.set(cameraId, hours)
    const known = this.#writers.get(cameraId)
    if (known?.ring === ring) return
    this.#writers.delete(cameraId)
    if (known) this.#end(known.writer)
    if (ring) this.#writers.set(cameraId, { ring, writer: this.#writer(cameraId, ring) })
  }

  #writer(cameraId: number, ring: Ring): HistoryWriter {
    const { folder, clock, log } = this.#needs
    const shelf = {
      folder,
      hasRoom: () => this.#hasRoom(),
      add: (segment: Segment, endMs: number) => this.#index.add(segment, endMs),
      rename: (segment: Segment, as: Segment) => this.#index.rename(segment, as),
      extend: (segment: Segment, endMs: number) => this.#index.extend(segment, endMs),
    }
    return new HistoryWriter({ cameraId, ring, shelf, clock, log: log.child({ cameraId }) })
  }

  /** Bytes of a camera that wait for the disk. */
  pendingBytes(cameraId: number): number {
    return this.#writers.get(cameraId)?.writer.pendingBytes ?? 0
  }

  /** Gives up continuous video of a camera that waits for the disk. Returns false when none does. */
  shed(cameraId: number): boolean {
    return this.#writers.get(cameraId)?.writer.shed() ?? false
  }

  /** Returns the run that shows the moment, up to the newest video; undefined when none does. */
  async runOf(cameraId: number, span: FilmSpan): Promise<number | undefined> {
    await this.#loaded
    await this.#writers.get(cameraId)?.writer.flush()
    return this.#index.runOf(cameraId, span)
  }

  /** Returns the files of a run that overlap the span, oldest first, up to the newest video. */
  async find(cameraId: number, span: FilmSpan, runMs: number): Promise<{ path: string; startMs: number }[]> {
    await this.#loaded
    await this.#writers.get(cameraId)?.writer.flush()
    const segments = this.#index.segmentsOf(cameraId, span, runMs)
    return segments.map((one) => ({ path: join(this.#needs.folder, segmentName(one)), startMs: one.startMs }))
  }

  /** Ends all segments. Resolves when they are in their files. */
  async stop(): Promise<void> {
    this.#cancelTidying()
    for (const { writer } of this.#writers.values()) this.#end(writer)
    this.#writers.clear()
    await Promise.all(this.#ending)
  }

  #end(writer: HistoryWriter): void {
    const ended = writer.stop().finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
  }

  async #load(): Promise<void> {
    const { folder } = this.#needs
    // The folder is made with the first segment.
    const names = await readdir(folder).catch((err: NodeJS.ErrnoException) =>
      err.code === 'ENOENT' ? [] : throwIt(err),
    )
    const segments = names.flatMap((name) => readSegmentName(name) ?? [])
    segments.sort((a, b) => a.startMs - b.startMs)
    for (const { segments: ofRun, writtenMs } of await this.#runsOf(segments)) {
      for (const segment of ofRun) this.#index.add(segment, segment.startMs)
      const last = ofRun.at(-1)
      // Only the last file of a run does not know its end from the next one's start. A copied file has a later time.
      if (last) this.#index.extend(last, Math.min(writtenMs, last.startMs + longestMs))
    }
    this.#tidyLater()
  }

  /** Returns the segments by run, in the order in which the runs were written. */
  async #runsOf(segments: readonly Segment[]): Promise<{ segments: Segment[]; writtenMs: number }[]> {
    const runs = []
    for (const ofRun of Map.groupBy(segments, (one) => `${one.cameraId} ${one.runMs}`).values()) {
      const path = join(this.#needs.folder, segmentName(ofRun.at(-1) as Segment))
      const written = await stat(path).catch(() => undefined)
      runs.push({ segments: ofRun, writtenMs: Math.round(written?.mtimeMs ?? 0) })
    }
    return runs.sort((a, b) => a.writtenMs - b.writtenMs)
  }

  #tidyLater(): void {
    this.#cancelTidying = this.#needs.clock.after(tidyEveryMs, () => {
      this.tidy()
        .catch((err: unknown) => this.#needs.log.error({ err }, 'old continuous video could not be removed'))
        .finally(() => this.#tidyLater())
    })
  }

  /**
   * Removes the oldest segments that are over age or, while the disk is short of room, the oldest of all: a bounded number each
   * time.
   */
  async tidy(): Promise<void> {
    await this.#loaded
    const nowMs = this.#needs.clock.now()
    const olderThanMs = (cameraId: number) => {
      const hours = this.#hours.get(cameraId) ?? 0
      if (hours === 0) return Number.POSITIVE_INFINITY
      return this.#clockIsTrusted ? nowMs - hours * hourMs : Number.NEGATIVE_INFINITY
    }
    const expired = this.#index.expired(olderThanMs, mostRemoved)
    for (const segment of expired) if (!this.#isOpen(segment)) await this.#remove(segment)
    for (const segment of this.#index.oldest(mostRemoved - expired.length)) {
      if (this.#needs.freeBytes() >= this.#minFreeBytes * beforeClips) return
      if (!this.#isOpen(segment)) await this.#remove(segment)
    }
  }

  #isOpen({ cameraId, startMs }: Segment): boolean {
    return this.#writers.get(cameraId)?.writer.segment?.startMs === startMs
  }

  async #remove(segment: Segment): Promise<void> {
    await rm(join(this.#needs.folder, segmentName(segment)), { force: true })
    this.#index.remove(segment)
  }

  #hasRoom(): boolean {
    return this.#needs.freeBytes() >= this.#minFreeBytes
  }
}

function throwIt(err: unknown): never {
  throw err
}
