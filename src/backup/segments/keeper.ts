import type { UnitOfWork } from '../../database/index.ts'
import type { Checkpoints } from '../../evidence/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import { DavFolder } from '../../upload/index.ts'
import type { SegmentsRehearsal, SegmentsRehearsed } from '../rehearse.ts'
import { isLogFolder, isSeries, type SeriesName, seriesBegunMs, seriesFolder, siteFolder } from './names.ts'
import { Rehearsals } from './rehearsals.ts'
import { folderSource, type SegmentSource } from './source.ts'
import { acceptState, readState } from './state.ts'
import type { SegmentUploads } from './uploads.ts'
import type { SegmentsMade, SegmentsOrder } from './write.ts'

/** Where segments go: a folder, or the uploads of a storage server, distinguished from others by `id`. */
export type SegmentTarget =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'storage'; readonly id: string }

export type SegmentSettings = {
  readonly target: SegmentTarget
  readonly everyMs: number
  readonly leaves: number
  readonly keepMs: number
}

export type SegmentKeeperNeeds = {
  readonly clock: Clock
  readonly log: Logger
  readonly work: Pick<UnitOfWork, 'onCommit'>
  readonly checkpoints: Pick<Checkpoints, 'make'>
  readonly uploads: SegmentUploads
  readonly dataDir: string
  readonly siteId: string
  readonly version: string
  /** Null: no segments are written. */
  readonly settings: () => SegmentSettings | null
  /** Leaves of the growing log. */
  readonly logSize: () => number
  readonly configFiles: () => readonly string[]
  readonly reserveBytes: () => number
  /** Makes the recovery key when there is none yet. */
  readonly makeKey: () => void
  /** Whether the restore of segments is rehearsed every day: nothing else is. */
  readonly isRehearsed: () => boolean
  /** Rehearses in another thread; see `rehearseSegments`. */
  readonly rehearse: (order: SegmentsRehearsal) => Promise<SegmentsRehearsed>
  /** Writes in another thread; see `writeSegments`. */
  readonly run: (order: SegmentsOrder) => Promise<SegmentsMade | undefined>
}

/** State of the segments. */
export type SegmentsSeen = {
  /** Null: none are written. */
  readonly everyMs: number | null
  /** When everything that was new was last where it belongs; null: not yet. */
  readonly currentMs: number | null
  /** Since when it is waited for. */
  readonly sinceMs: number
  /** Leaves that are in the series. */
  readonly size: number
  readonly fault: string | null
  /** When the segments last came back in a rehearsal; null: not yet. */
  readonly rehearsedMs: number | null
  /** Why they did not come back; null while all is well. */
  readonly rehearsalFault: string | null
}

const shortestMs = 1000
const retryMs = 60_000
const dayMs = 24 * 3_600_000
/** While as many files wait, no segment is written. Later changes then need fewer files. */
const mostWaiting = 8

/** Writes what is new to the segments' target: on a timer, and after a number of leaves. */
export class SegmentKeeper {
  readonly #needs: SegmentKeeperNeeds
  #cancel: (() => void) | undefined
  #looking: Promise<void> | undefined
  #sinceMs: number
  #currentMs: number | null = null
  #writtenMs: number | null = null
  #retryAtMs = Number.NEGATIVE_INFINITY
  #cleanedMs = Number.NEGATIVE_INFINITY
  #size = 0
  #fault: string | null = null
  readonly #rehearsals: Rehearsals
  #rehearsing: Promise<void> | undefined
  #beginsSeries = false

  constructor(needs: SegmentKeeperNeeds) {
    this.#needs = needs
    this.#sinceMs = needs.clock.now()
    this.#rehearsals = new Rehearsals(needs.dataDir)
    needs.work.onCommit(() => {
      const settings = this.#cancel && needs.settings()
      if (settings && !this.#looking && needs.logSize() - this.#size >= settings.leaves) void this.look()
    })
  }

  start(): void {
    this.#sinceMs = this.#needs.clock.now()
    this.#schedule()
  }

  /** Ends the timer, and writes what is new for the last time. */
  async stop(): Promise<void> {
    const isStarted = this.#cancel !== undefined
    this.#cancel?.()
    this.#cancel = undefined
    await this.#looking
    if (isStarted) await this.look()
  }

  /** Writes what is new, if anything is. Calls at the same time share one look. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  seen(): SegmentsSeen {
    const settings = this.#needs.settings()
    return {
      everyMs: settings?.everyMs ?? null,
      currentMs: settings ? this.#currentMs : null,
      sinceMs: this.#sinceMs,
      size: settings ? this.#size : 0,
      fault: settings ? this.#fault : null,
      rehearsedMs: settings ? this.#rehearsals.goodMs : null,
      rehearsalFault: settings ? this.#rehearsals.fault : null,
    }
  }

  /** Resolves when no rehearsal is under way. */
  async rehearsed(): Promise<void> {
    await this.#rehearsing
  }

  #schedule(): void {
    const everyMs = Math.max(this.#needs.settings()?.everyMs ?? retryMs, shortestMs)
    this.#cancel = this.#needs.clock.after(everyMs, () => {
      void this.look().finally(() => {
        if (this.#cancel) this.#schedule()
      })
    })
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#needs
    const settings = this.#needs.settings()
    if (!settings || clock.monotonic() < this.#retryAtMs) return
    try {
      await this.#write(settings)
      this.#fault = null
      this.#retryAtMs = Number.NEGATIVE_INFINITY
    } catch (error) {
      this.#fault = errorMessage(error)
      this.#retryAtMs = clock.monotonic() + Math.min(retryMs, settings.everyMs)
      log.error({ err: error }, 'new changes could not be written to the segments; trying again')
    }
  }

  async #write({ target, keepMs }: SegmentSettings): Promise<void> {
    const { clock, log, checkpoints, dataDir, siteId, version, configFiles, reserveBytes } = this.#needs
    const waiting = target.kind === 'storage' ? await this.#needs.uploads.sweep(clock.now()) : 0
    if (waiting === 0 && this.#writtenMs !== null) this.#currentMs = this.#writtenMs
    if (waiting >= mostWaiting) return
    this.#needs.makeKey()
    const { size } = await checkpoints.make()
    const nowMs = clock.now()
    const before = readState(dataDir)
    const made = await this.#needs.run({
      dataDir,
      siteId,
      version,
      nowMs,
      ...(await this.#place(target)),
      settings: configFiles(),
      reserveBytes: reserveBytes(),
      evenIfSame: nowMs - Date.parse(before?.madeAt ?? '') >= dayMs,
      beginsSeries: this.#beginsSeries,
    })
    if (made) {
      this.#beginsSeries = false
      if (target.kind === 'storage') await this.#needs.uploads.put(made.files, made.isNewSeries)
      acceptState(dataDir)
      if (made.isNewSeries) log.info({ logId: made.logId, series: made.series }, 'a new series of segments has begun')
    }
    this.#size = made?.size ?? Math.max(this.#size, size)
    this.#writtenMs = nowMs
    if (target.kind === 'folder' || (waiting === 0 && !made)) this.#currentMs = nowMs
    // On a server the files of this look may not all be there yet; a single one is there or not.
    const isAllThere =
      target.kind === 'folder' || (waiting === 0 && !made?.isNewSeries && (made?.files.length ?? 0) <= 1)
    if (isAllThere) this.#rehearseAside(target)
    // An older series stays until all of this one was at the target once: waiting files may be its beginning.
    const isSeriesThere = target.kind === 'folder' || (waiting === 0 && !made?.isNewSeries)
    if (made?.isNewSeries) this.#cleanedMs = Number.NEGATIVE_INFINITY
    if (!isSeriesThere || nowMs - this.#cleanedMs < dayMs) return
    await this.#clean(target, keepMs, nowMs)
    this.#cleanedMs = nowMs
  }

  async #place(target: SegmentTarget): Promise<Pick<SegmentsOrder, 'root' | 'target'>> {
    if (target.kind === 'folder') return { root: target.folder, target: `folder:${target.folder}` }
    return { root: await this.#needs.uploads.folder(), target: `storage:${target.id}` }
  }

  /** Once a day, and again an hour after one that failed. A series that does not come back is followed by another one. */
  #rehearseAside(target: SegmentTarget): void {
    const { clock, log, isRehearsed } = this.#needs
    if (this.#rehearsing || !isRehearsed() || !this.#rehearsals.isDue(clock.now())) return
    this.#rehearsing = this.#rehearse(target)
      .then(({ fault, isDamaged }) => {
        this.#rehearsals.note(clock.now(), fault)
        this.#beginsSeries ||= isDamaged
        if (fault !== null) log.error({ fault }, 'the newest segments could not be restored in a rehearsal')
      })
      .catch((err: unknown) => log.error({ err }, 'the segments could not be rehearsed; it is tried again'))
      .finally(() => {
        this.#rehearsing = undefined
      })
  }

  async #rehearse(target: SegmentTarget): Promise<SegmentsRehearsed> {
    const { clock, dataDir, siteId, uploads, rehearse } = this.#needs
    const source = target.kind === 'folder' ? target.folder : await uploads.access().catch((error: Error) => error)
    if (source instanceof Error) return { fault: source.message, isDamaged: false }
    return rehearse({ source, siteId, dataDir, nowMs: clock.now() })
  }

  /** Removes series that another one has followed for long enough. A target that does not allow it keeps them. */
  async #clean(target: SegmentTarget, keepMs: number, nowMs: number): Promise<void> {
    const { dataDir, siteId, log } = this.#needs
    const state = readState(dataDir)
    if (!state) return
    try {
      const place =
        target.kind === 'folder' ? folderSource(target.folder) : new DavFolder(await this.#needs.uploads.access())
      for (const name of await standingSeries(place, siteId)) {
        if (name.series >= state.series) continue
        const ended = state.earlier.find(({ series }) => series === name.series)?.endedAt
        const endedMs = ended === undefined ? seriesBegunMs(state.series) : Date.parse(ended)
        if (nowMs - endedMs < keepMs) continue
        await place.remove(seriesFolder(siteId, name))
        log.info({ ...name }, 'a series of segments that another one has followed was removed')
      }
    } catch (err) {
      log.warn({ err }, 'older series of segments could not be read or removed; trying again in a day')
    }
  }
}

/** Returns the series of a site at a target. Folders of other names are not ours. */
async function standingSeries(source: Pick<SegmentSource, 'list'>, siteId: string): Promise<SeriesName[]> {
  const names = async (path: string) => (await source.list(path)).map((name) => name.replace(/\/$/, ''))
  const found: SeriesName[] = []
  for (const logId of (await names(siteFolder(siteId))).filter(isLogFolder)) {
    for (const series of await names(`${siteFolder(siteId)}/${logId}`))
      if (isSeries(series)) found.push({ logId, series })
  }
  return found
}
