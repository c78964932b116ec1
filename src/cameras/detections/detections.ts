import { join } from 'node:path'
import { keysOfPage, type ReadTx, type UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Caller, countLimit, type FileAnswer, type TimePlace, timeCursor } from '../../http/index.ts'
import {
  type Evidence,
  type EvidenceStates,
  findMedia,
  type MediaRemovalRow,
  mediaRemoval,
  type Provable,
  type ProvableFile,
} from '../../log/index.ts'
import { clockAt } from '../clock-store.ts'
import type { ConfiguredCameras } from '../configured.ts'
import type { CopyState, DetectionCopies } from '../copies.ts'
import { filmsOf } from '../films/store.ts'
import type { DetectionEvent, ListedDetection } from '../schema.ts'
import * as store from '../store.ts'
import type { DetectionEventRow } from '../tables.ts'
import { expiryOf, fileOf } from './clip-files.ts'
import { expiryWords } from './clip-words.ts'

type DetectionQuery = {
  readonly cctvId?: number | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly trigger: store.DetectionFilter['trigger']
  readonly kind?: store.DetectionFilter['kind']
}

type DetectionPage = {
  readonly limit: number
  readonly offset: number
  /** Only leaves after this one, in the order of the log. */
  readonly afterSeq?: number | undefined
  /** The detection after which the page begins, newest first. */
  readonly before?: TimePlace | undefined
}

export type DetectionEvidence = {
  readonly warehouseId: number
  /** Hashes of clip and snapshot. */
  readonly files: readonly string[]
  readonly isClosed: boolean
}

type DetectionsNeeds = {
  readonly work: UnitOfWork
  readonly cameras: ConfiguredCameras
  readonly copies: DetectionCopies
  readonly clipsDir: string
  readonly evidenceStates: EvidenceStates
}

/** Shows the recorded detections, with their clips and snapshots, to callers who may see the camera. */
export class Detections {
  readonly #needs: DetectionsNeeds

  constructor(needs: DetectionsNeeds) {
    this.#needs = needs
  }

  /**
   * Newest first, with `afterSeq` in the order of the log; only of cameras that the caller may see. Ends early when `signal`
   * reports that the client has gone. Throws NOT_FOUND.
   */
  async list(query: DetectionQuery, page: DetectionPage, caller: Caller, signal?: AbortSignal) {
    if (query.cctvId !== undefined) this.#needs.cameras.visible(query.cctvId, caller)
    const cameras = query.cctvId === undefined ? this.#needs.cameras.visibleIds(caller) : [query.cctvId]
    const { trigger, kind, from: fromMs, to: toMs } = query
    const filter = { cameras, trigger, kind, fromMs, toMs }
    return page.afterSeq === undefined
      ? this.#newest(filter, page, signal)
      : this.#followed(filter, { ...page, afterSeq: page.afterSeq }, signal)
  }

  async #newest(filter: store.DetectionFilter, { limit, offset, before }: DetectionPage, signal?: AbortSignal) {
    const page = { limit, offset, before: before && [before.timestampMs, before.id] }
    const listing = store.newestDetections(filter)
    const { keys, hasMore, total } = await keysOfPage(this.#needs.work, listing, page, countLimit, signal)
    const data = this.#needs.work.read((tx) =>
      this.#listed(
        tx,
        keys.map(([, id = 0]) => store.findDetection(tx, id)),
      ),
    )
    const [timestampMs, id] = keys.at(-1) ?? []
    const last = timestampMs === undefined || id === undefined ? undefined : { timestampMs, id }
    return { data, hasMore, total, nextCursor: hasMore && last ? timeCursor(last) : null }
  }

  async #followed(
    filter: store.DetectionFilter,
    { limit, offset, before, afterSeq }: DetectionPage & { afterSeq: number },
    signal?: AbortSignal,
  ) {
    const afterRow = this.#needs.work.read((tx) => store.lastRowUpToSeq(tx, afterSeq))
    const listing = store.followedDetections(filter, afterRow, before)
    const { keys, hasMore, total } = await keysOfPage(this.#needs.work, listing, { limit, offset }, countLimit, signal)
    const data = this.#needs.work.read((tx) =>
      this.#listed(
        tx,
        keys.map(([row = 0]) => store.detectionInRow(tx, row)),
      ),
    )
    return { data, hasMore, total, nextCursor: null }
  }

  /** Returns the newest 500 detections of a camera in a span, `toMs` excluded. Throws NOT_FOUND. */
  during(cctvId: number, span: { fromMs: number; toMs: number }, caller: Caller): DetectionEvent[] {
    this.#needs.cameras.visible(cctvId, caller)
    return this.#needs.work.read((tx) =>
      store.detectionsIn(tx, cctvId, span).flatMap((row) => this.#present(tx, row) ?? []),
    )
  }

  /** Says whether a clip that fired in this time is still being recorded; `toMs` excluded. */
  isRecording(cctvId: number, fromMs: number, toMs: number): boolean {
    return this.#needs.work.read((tx) => store.firedWithoutRow(tx, cctvId, fromMs, toMs))
  }

  /** Returns the films of an event that are not there yet; their addresses answer CLIP_PENDING until then. */
  filmsToCome(eventId: number): { detectionId: number; cctvId: number; url: string }[] {
    const { siteUrl } = this.#needs.cameras.site
    return this.#needs.work
      .read((tx) => filmsOf(tx, eventId))
      .filter(({ state }) => state === 'wanted')
      .map(({ id, cctv_id }) => ({ detectionId: id, cctvId: cctv_id, url: `${siteUrl}${store.clipPath(id)}` }))
  }

  /** Returns a detection. Throws NOT_FOUND, also for one of a camera that the caller may not see. */
  one(id: number | undefined, caller: Caller): DetectionEvent & { evidence: Evidence } {
    const row = this.#row(id, caller)
    return this.#needs.work.read((tx) => ({
      ...this.#shown(tx, row),
      evidence: this.#needs.evidenceStates.of(tx, row),
    }))
  }

  /** Returns the clip to play it. Throws as `clip`, and SECOND_PERSON_NEEDED. */
  play(id: number | undefined, caller: Caller): FileAnswer {
    this.#needs.cameras.demandPlay(this.#row(id, caller).cctv_id, caller)
    return this.clip(id, caller)
  }

  /** Returns the clip of a detection. Throws NOT_FOUND, or CLIP_PENDING while it is being recorded. */
  clip(id: number | undefined, caller: Caller): FileAnswer {
    return this.#file(this.#row(id, caller), 'clip')
  }

  /** Seconds from the first picture of a clip to the motion; 0 when there is no clip. */
  preRollSeconds(tx: ReadTx, id: number): number {
    return store.findDetection(tx, id)?.pre_roll_seconds ?? 0
  }

  snapshot(id: number | undefined, caller: Caller): FileAnswer {
    return this.#file(this.#row(id, caller), 'snapshot')
  }

  /** Returns what is needed to prove a detection. Throws as `one`. Without a caller, a person at the box asks. */
  provable(id: number | undefined, caller: Caller | undefined): Provable {
    const row = this.#row(id, caller)
    return this.#needs.work.read((tx) => ({
      log: row.log_id,
      seq: row.leaf_seq,
      openings: [],
      files: (['clip', 'snapshot'] as const).flatMap((kind) => this.#provableFile(tx, row, kind)),
    }))
  }

  #provableFile(tx: ReadTx, row: DetectionEventRow, kind: 'clip' | 'snapshot'): ProvableFile[] {
    const sha256 = kind === 'clip' ? row.clip_sha256 : row.snapshot_sha256
    const media = sha256 === null ? undefined : findMedia(tx, sha256)
    if (!media) return []
    const name = kind === 'clip' ? 'clip.mp4' : 'snapshot.png'
    const path = expiryOf(tx, row.id) ? null : join(this.#needs.clipsDir, fileOf(row.id, kind))
    return [{ sha256: media.sha256, kind, contentType: media.mediaType, sizeBytes: media.sizeBytes, name, path }]
  }

  #listed(tx: ReadTx, found: readonly (DetectionEventRow | undefined)[]): ListedDetection[] {
    const rows = found.filter((row) => row !== undefined)
    const stateOf = this.#needs.evidenceStates.ofPage(tx, rows)
    return rows.map((row) => ({ ...this.#shown(tx, row), evidence: stateOf(row) }))
  }

  #present(tx: ReadTx, row: DetectionEventRow | undefined): DetectionEvent | undefined {
    return row && this.#shown(tx, row)
  }

  #shown(tx: ReadTx, row: DetectionEventRow): DetectionEvent {
    const { cameras, copies } = this.#needs
    return presentDetection(tx, row, cameras.site.siteUrl, copies.stateOf(tx, row), expiryOf(tx, row.id))
  }

  #row(id: number | undefined, caller: Caller | undefined): DetectionEventRow {
    const { row, fired } = this.#needs.work.read((tx) => ({
      row: id === undefined ? undefined : store.findShown(tx, id),
      fired: id === undefined ? undefined : store.findReservation(tx, id),
    }))
    const cctvId = row?.cctv_id ?? fired?.cctv_id
    const isSeen = cctvId !== undefined && (!caller || this.#needs.cameras.isVisible(cctvId, caller))
    if (!isSeen) throw AppError.notFound('Detection')
    if (row) return row
    throw new AppError('CLIP_PENDING', 'The clip is still being recorded', { retryAfterSeconds: 5 })
  }

  #file(row: DetectionEventRow, kind: 'clip' | 'snapshot'): FileAnswer {
    const hash = kind === 'clip' ? row.clip_sha256 : row.snapshot_sha256
    const { media, expiry } = this.#needs.work.read((tx) => ({
      media: hash === null ? undefined : findMedia(tx, hash),
      expiry: expiryOf(tx, row.id),
    }))
    if (expiry) {
      const removal = mediaRemoval(expiry)
      throw new AppError('NOT_FOUND', `The ${kind} was removed`, { details: expiryWords(expiry), removal })
    }
    if (!media) throw new AppError('NOT_FOUND', `The detection has no ${kind}`, { details: row.reason ?? '' })
    const { mediaType, sizeBytes } = media
    return { path: join(this.#needs.clipsDir, fileOf(row.id, kind)), mediaType, sizeBytes, sha256: media.sha256 }
  }

  /** Returns the files of a detection that the caller may see; `isClosed` is false while its clip is being recorded. */
  evidenceOf(tx: ReadTx, id: number, caller: Caller): DetectionEvidence | undefined {
    const fired = store.findReservation(tx, id)
    if (!fired || !this.#needs.cameras.isVisible(fired.cctv_id, caller)) return undefined
    const row = store.findShown(tx, id)
    const files = [row?.clip_sha256, row?.snapshot_sha256].filter((sha256) => typeof sha256 === 'string')
    return { warehouseId: this.#needs.cameras.warehouseOf(fired.cctv_id), files, isClosed: row !== undefined }
  }
}

/** Returns a detection as the API and notifications show it. `expiry`: the removal of its clip from this box. */
export function presentDetection(
  tx: ReadTx,
  row: DetectionEventRow,
  siteUrl: string,
  copy: CopyState,
  expiry?: MediaRemovalRow,
): DetectionEvent {
  const detection = store.toDetectionEvent(row, {
    ...{ siteUrl, copy },
    cameraClock: clockAt(tx, row.cctv_id, row.timestamp_ms),
  })
  if (!expiry) return detection
  const reason = [detection.reason, expiryWords(expiry)].filter((part) => part !== null).join('; ')
  const clipUrls = { playback: null, storage: copy.url, snapshot: null }
  return { ...detection, clipStatus: 'expired', reason, removal: mediaRemoval(expiry), clipUrls }
}
