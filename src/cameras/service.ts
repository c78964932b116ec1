import { join } from 'node:path'
import type { ConfigNames } from '../auth/index.ts'
import type { CameraConfig } from '../config/index.ts'
import { keysOfPage, type ReadTx, type Tx, type UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import {
  type Caller,
  countLimit,
  type FileAnswer,
  type RequestOrigin,
  type TimePlace,
  timeCursor,
} from '../http/index.ts'
import type { AuditTrail, Outbox } from '../journal/index.ts'
import { addMedia, canonicalJson, findMedia, holdClosedClip, type Log, type Media, sha256 } from '../log/index.ts'
import { type Clock, isoTime, type Logger } from '../platform/index.ts'
import type {
  CameraSettings,
  ClipClosed,
  ClipLost,
  DetectionFacts,
  FromCameras,
  MotionFired,
  StoredFile,
  ToCameras,
} from '../video/index.ts'
import { demandControl, maySee } from './access.ts'
import { type CameraHealth, CameraHealthBook } from './camera-health.ts'
import { CameraLog } from './camera-log.ts'
import { clipReason } from './clip-words.ts'
import { detectionFacts } from './detection-leaf.ts'
import { detectionRecorded, motionDetected } from './events.ts'
import { LatestReports } from './latest-reports.ts'
import type { DetectionEvent, MotionAction, MotionSettings } from './schema.ts'
import * as store from './store.ts'
import type { DetectionEventRow } from './tables.ts'

/** Sends messages to the cameras thread. */
export type CamerasLink = { send(message: ToCameras): void }

export type CamerasSettings = {
  readonly cameras: readonly CameraConfig[]
  readonly siteUrl: string
  readonly warehouseId: number
  readonly uploads: boolean
  /** Bytes of the disk that clips leave for the ledger. */
  readonly reserveBytes: number
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

/** Time until a detection that could not be written is tried again. */
const writeAgainMs = 10_000

/** A shorter outage does not count as one: cameras restart. */
const downForMs = 60_000

type Wanted = { readonly running: boolean; readonly settings: MotionSettings }

type CamerasServiceNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly logger: Logger
  readonly log: Log
  readonly outbox: Outbox
  readonly audit: AuditTrail
  readonly makeId: () => string
  readonly clipsDir: string
  readonly site: () => CamerasSettings
  readonly link: CamerasLink
  readonly names: ConfigNames
}

/** Shows cameras to callers, starts and stops their detection, and records the detections that they report. */
export class CamerasService {
  readonly #needs: CamerasServiceNeeds
  readonly #reports = new LatestReports()
  readonly #health: CameraHealthBook
  readonly #cameraLog: CameraLog
  readonly #startedAtMs = new Map<number, number>()
  readonly #sent = new Map<number, string>()

  constructor(needs: CamerasServiceNeeds) {
    this.#needs = needs
    this.#health = new CameraHealthBook(needs.clock.monotonic())
    this.#cameraLog = new CameraLog(needs.logger)
  }

  /**
   * Sends the thread the settings of new and changed cameras, and the ids of removed ones; the thread also reads the
   * passwords again. Call it after every reload, also when the config is the same.
   */
  onReload(): void {
    this.#sendCameras()
  }

  #sendCameras(): void {
    const { cameras, reserveBytes } = this.#needs.site()
    this.#needs.link.send({ type: 'reserve', bytes: reserveBytes })
    for (const id of this.#sent.keys()) {
      if (cameras.some((camera) => camera.id === id)) continue
      this.#sent.delete(id)
      this.#health.unwant(id)
      this.#needs.link.send({ type: 'remove', cameraId: id })
    }
    for (const camera of cameras) this.#tell(camera)
    this.#needs.link.send({ type: 'secrets' })
  }

  /** Sends a new thread all settings. */
  threadStarted(): void {
    this.#sent.clear()
    this.threadEnded()
    this.#sendCameras()
  }

  /** Forgets all reports: the thread has ended, and with it every stream. */
  threadEnded(): void {
    this.#reports.forgetAll()
    this.#health.threadGone(this.#needs.clock.monotonic())
  }

  heard(message: FromCameras): void {
    switch (message.type) {
      case 'idsWanted':
        void this.#give(message.count)
        break
      case 'state':
        this.#health.heard(message, this.#needs.clock.monotonic())
        this.#cameraLog.heard(message, this.#nameOf(message.cameraId))
        this.#reports.heard(message)
        break
      case 'status':
        this.#reports.heard(message)
        break
      case 'motionFired':
        void this.#untilWritten(() => this.#fired(message))
        break
      case 'clipClosed':
      case 'clipLost':
        void this.#untilWritten(() => this.#closed(message))
        break
      case 'leftoversDone':
        void this.#untilWritten(() => this.#giveUp())
        break
      case 'stopped':
        break
    }
  }

  /** Says whether every wanted camera gives pictures, or has been without for less than a minute. */
  areWell(): boolean {
    const now = this.#needs.clock.now()
    return this.cameraHealth().every(({ badSinceMs }) => badSinceMs === null || now - badSinceMs < downForMs)
  }

  /**
   * Lists the wanted cameras, and since when each has given no pictures. `badSinceMs` is computed from the monotonic
   * clock, so a change of the wall clock makes no outage longer or shorter.
   */
  cameraHealth(): CameraHealth[] {
    return this.#needs
      .site()
      .cameras.filter((camera) => this.#wanted(camera).running)
      .map(({ id, name }) => {
        const bad = this.#health.badness(id, this.#needs.clock.monotonic())
        return { id, name, badSinceMs: bad ? this.#needs.clock.now() - bad.forMs : null, problem: bad?.problem ?? null }
      })
  }

  cameras(caller: Caller) {
    return this.#needs
      .site()
      .cameras.filter((camera) => maySee(this.#needs.names, caller, camera))
      .map((camera) => this.#camera(camera))
  }

  /** Says whether the camera exists and the caller may see it. */
  isVisible(cctvId: number, caller: Caller): boolean {
    return this.#visibleIds(caller).includes(cctvId)
  }

  /** Returns the files of a detection that the caller may see; `isClosed` is false while its clip is being recorded. */
  evidenceOf(tx: ReadTx, id: number, caller: Caller): DetectionEvidence | undefined {
    const fired = store.findReservation(tx, id)
    if (!fired || !this.isVisible(fired.cctv_id, caller)) return undefined
    const row = store.findDetection(tx, id)
    const files = [row?.clip_sha256, row?.snapshot_sha256].filter((sha256) => typeof sha256 === 'string')
    return { warehouseId: this.#warehouseOf(fired.cctv_id), files, isClosed: row !== undefined }
  }

  /** Returns the warehouse of a camera by the current config. */
  warehouseOf(cctvId: number): number {
    return this.#warehouseOf(cctvId)
  }

  status(cctvId: number, caller: Caller) {
    const camera = this.#visible(cctvId, caller)
    const { running, settings } = this.#wanted(camera)
    const status = this.#reports.status(cctvId)
    const startedAt = this.#startedAtMs.get(cctvId)
    const { count = 0, percentage = 0, lastScore = 0, maxScore = 0 } = status?.motionFrames ?? {}
    return {
      cctvId,
      running,
      ...this.#stateOf(camera),
      startedAt: running && startedAt !== undefined ? isoTime(startedAt) : null,
      frameCount: status?.frameCount ?? 0,
      motionFrames: { count, percentage, lastScore, maxScore },
      lastFrameAt: timeOf(status?.lastFrameAt),
      fps: status?.fps ?? 0,
      restarts: status?.restarts ?? 0,
      settings,
      pendingUploads: 0,
    }
  }

  /**
   * Starts or stops detection; a repeat changes nothing. Settings that a start leaves out are the config's. Throws
   * NOT_FOUND, PERMISSION_DENIED.
   */
  async control(request: MotionAction, by: RequestOrigin) {
    const camera = this.#visible(request.cctvId, by.caller)
    demandControl(this.#needs.names, by.caller, camera)
    const { cctvId, action } = request
    const before = this.#wanted(camera)
    const settings = action === 'start' ? given(request) : JSON.parse(this.#control(camera)?.settings ?? '{}')
    await this.#needs.work.write((tx) => {
      const kept = { cctv_id: cctvId, action, settings: JSON.stringify(settings), config_sha256: motionHash(camera) }
      store.keepControl(tx, kept, this.#needs.clock.now())
      const changes = { settings }
      this.#needs.audit.write(tx, by, {
        action: `motion.${action === 'start' ? 'started' : 'stopped'}`,
        entity: 'camera',
        entityId: cctvId,
        changes,
      })
    })
    const after = this.#wanted(camera)
    this.#tell(camera)
    if (action === 'start') this.#needs.link.send({ type: 'retry', cameraId: cctvId })
    const changed = canonicalJson(before) !== canonicalJson(after)
    return { cctvId, action, running: after.running, changed, settings: after.settings }
  }

  /**
   * Newest first, with `afterSeq` in the order of the log; only of cameras that the caller may see. Ends early when
   * `signal` says that the client has gone. Throws NOT_FOUND.
   */
  async detections(
    query: { cctvId?: number | undefined; from?: number | undefined; to?: number | undefined },
    page: DetectionPage,
    caller: Caller,
    signal?: AbortSignal,
  ) {
    if (query.cctvId !== undefined) this.#visible(query.cctvId, caller)
    const cameras = query.cctvId === undefined ? this.#visibleIds(caller) : [query.cctvId]
    const filter = { cameras, fromMs: query.from, toMs: query.to }
    return page.afterSeq === undefined
      ? this.#newest(filter, page, signal)
      : this.#followed(filter, { ...page, afterSeq: page.afterSeq }, signal)
  }

  async #newest(filter: store.DetectionFilter, { limit, offset, before }: DetectionPage, signal?: AbortSignal) {
    const page = { limit, offset, before: before && [before.timestampMs, before.id] }
    const listing = store.newestDetections(filter)
    const { keys, hasMore, total } = await keysOfPage(this.#needs.work, listing, page, countLimit, signal)
    const rows = this.#needs.work.read((tx) => keys.flatMap(([, id = 0]) => store.findDetection(tx, id) ?? []))
    const last = rows.at(-1)
    const nextCursor = hasMore && last ? timeCursor({ timestampMs: last.timestamp_ms, id: last.id }) : null
    return { data: rows.map((row) => this.#present(row)), hasMore, total, nextCursor }
  }

  async #followed(
    filter: store.DetectionFilter,
    { limit, offset, before, afterSeq }: DetectionPage & { afterSeq: number },
    signal?: AbortSignal,
  ) {
    const afterRow = this.#needs.work.read((tx) => store.lastRowUpToSeq(tx, afterSeq))
    const listing = store.followedDetections(filter, afterRow, before)
    const { keys, hasMore, total } = await keysOfPage(this.#needs.work, listing, { limit, offset }, countLimit, signal)
    const rows = this.#needs.work.read((tx) => keys.flatMap(([row = 0]) => store.detectionInRow(tx, row) ?? []))
    return { data: rows.map((row) => this.#present(row)), hasMore, total, nextCursor: null }
  }

  /** The newest 500 detections of a camera in a span, `toMs` excluded. Throws NOT_FOUND. */
  detectionsIn(cctvId: number, span: { fromMs: number; toMs: number }, caller: Caller): DetectionEvent[] {
    this.#visible(cctvId, caller)
    return this.#needs.work.read((tx) => store.detectionsIn(tx, cctvId, span)).map((row) => this.#present(row))
  }

  /** Returns the cameras that look at a slot: those that the caller may see, and the number of others. */
  watching(slotCode: string, caller: Caller): { visible: { id: number; name: string }[]; hidden: number } {
    const all = this.#needs.site().cameras.filter((camera) => camera.slots.includes(slotCode))
    const visible = all
      .filter((camera) => maySee(this.#needs.names, caller, camera))
      .map(({ id, name }) => ({ id, name }))
    return { visible, hidden: all.length - visible.length }
  }

  /** Says whether a clip that fired in this time is still being recorded; `toMs` excluded. */
  isRecording(cctvId: number, fromMs: number, toMs: number): boolean {
    return this.#needs.work.read((tx) => store.firedWithoutRow(tx, cctvId, fromMs, toMs))
  }

  /** Returns a detection. Throws NOT_FOUND, also for one of a camera that the caller may not see. */
  detection(id: number | undefined, caller: Caller): DetectionEvent {
    return this.#present(this.#row(id, caller))
  }

  /** Returns the clip of a detection. Throws NOT_FOUND, or CLIP_PENDING while it is being recorded. */
  clip(id: number | undefined, caller: Caller): FileAnswer {
    return this.#file(this.#row(id, caller), 'clip')
  }

  snapshot(id: number | undefined, caller: Caller): FileAnswer {
    return this.#file(this.#row(id, caller), 'snapshot')
  }

  #row(id: number | undefined, caller: Caller): DetectionEventRow {
    const { row, fired } = this.#needs.work.read((tx) => ({
      row: id === undefined ? undefined : store.findDetection(tx, id),
      fired: id === undefined ? undefined : store.findReservation(tx, id),
    }))
    const cctvId = row?.cctv_id ?? fired?.cctv_id
    if (cctvId === undefined || !this.#visibleIds(caller).includes(cctvId)) throw AppError.notFound('Detection')
    if (row) return row
    throw new AppError('CLIP_PENDING', 'The clip is still being recorded', { retryAfterSeconds: 5 })
  }

  #file(row: DetectionEventRow, kind: 'clip' | 'snapshot'): FileAnswer {
    const hash = kind === 'clip' ? row.clip_sha256 : row.snapshot_sha256
    const media = hash === null ? undefined : this.#needs.work.read((tx) => findMedia(tx, hash))
    if (!media) throw new AppError('NOT_FOUND', `The detection has no ${kind}`, { details: row.reason ?? '' })
    const { mediaType, sizeBytes } = media
    return { path: join(this.#needs.clipsDir, fileOf(row.id, kind)), mediaType, sizeBytes, sha256: media.sha256 }
  }

  #camera(camera: CameraConfig) {
    const state = this.#stateOf(camera)
    return {
      id: camera.id,
      name: camera.name,
      warehouseId: camera.warehouseId ?? this.#needs.site().warehouseId,
      zoneId: camera.zoneId,
      slots: [...camera.slots],
      enabled: camera.enabled,
      ...state,
      online: state.state === 'live',
      lastFrameAt: timeOf(this.#reports.status(camera.id)?.lastFrameAt),
      owner: camera.owner,
      motion: this.#wanted(camera),
    }
  }

  #stateOf(camera: CameraConfig) {
    const known = this.#reports.state(camera.id)
    if (!this.#wanted(camera).running) return { state: 'off' as const, problem: null }
    return {
      state: known?.state ?? ('offline' as const),
      problem: known?.words ? `${known.words.what} ${known.words.hint}` : null,
    }
  }

  /** Returns a camera's config. Throws NOT_FOUND, also for a camera that the caller may not see. */
  #visible(cctvId: number, caller: Caller): CameraConfig {
    const camera = this.#needs.site().cameras.find((c) => c.id === cctvId)
    if (!camera || !maySee(this.#needs.names, caller, camera)) throw AppError.notFound('Camera')
    return camera
  }

  #visibleIds(caller: Caller): number[] {
    return this.#needs
      .site()
      .cameras.filter((c) => maySee(this.#needs.names, caller, c))
      .map((c) => c.id)
  }

  /** Returns the start or stop of the API, while the camera's motion block is unchanged since; else undefined. */
  #control(camera: CameraConfig): store.Control | undefined {
    const said = this.#needs.work.read((tx) => store.findControl(tx, camera.id))
    return said?.config_sha256 === motionHash(camera) ? said : undefined
  }

  #wanted(camera: CameraConfig): Wanted {
    const { enabled, masks: _, ...fromConfig } = camera.motion
    const said = this.#control(camera)
    const running = camera.enabled && (said ? said.action === 'start' : enabled)
    return {
      running,
      settings: { ...fromConfig, ...(said ? (JSON.parse(said.settings) as Partial<MotionSettings>) : {}) },
    }
  }

  #tell(camera: CameraConfig): void {
    const { running, settings } = this.#wanted(camera)
    const { uploadToStorage: _, ...motion } = settings
    const message: CameraSettings = {
      cameraId: camera.id,
      url: camera.url,
      detectUrl: camera.detectUrl,
      username: camera.username,
      passwordFile: camera.passwordFile,
      detecting: running,
      streaming: false,
      motion: { ...motion, masks: camera.motion.masks },
    }
    this.#noteStart(camera.id, running)
    const text = JSON.stringify(message)
    if (this.#sent.get(camera.id) === text) return
    this.#sent.set(camera.id, text)
    this.#needs.link.send({ type: 'camera', settings: message })
  }

  #noteStart(cctvId: number, running: boolean): void {
    if (running) this.#health.want(cctvId, this.#needs.clock.monotonic())
    else this.#health.unwant(cctvId)
    if (!running) this.#startedAtMs.delete(cctvId)
    else if (!this.#startedAtMs.has(cctvId)) {
      this.#startedAtMs.set(cctvId, this.#needs.clock.now())
      this.#reports.forgetCounts(cctvId)
    }
  }

  async #give(count: number): Promise<void> {
    await this.#untilWritten(async () => {
      const ids = await this.#needs.work.write((tx) => store.takeIds(tx, count))
      this.#needs.link.send({ type: 'ids', ids })
    })
  }

  /** Repeats a write until the disk takes it. The thread also reports unconfirmed detections at each start. */
  async #untilWritten(write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await write()
        return
      } catch (err) {
        this.#needs.logger.error({ err }, 'a detection could not be written; it is tried again')
        if (err instanceof AppError && err.code === 'NOT_READY') return
        await new Promise<void>((resolve) => this.#needs.clock.after(writeAgainMs, resolve))
      }
    }
  }

  async #fired(message: MotionFired): Promise<void> {
    await this.#needs.work.write((tx) => {
      const fired = this.#reserve(tx, message, message.clip)
      if (message.clip || store.findDetection(tx, fired.id)) return
      this.#append(
        tx,
        fired,
        { clip_status: 'cooldown', reason: 'the camera’s cooldown since its last clip was not over' },
        null,
      )
    })
    if (!message.clip) this.#needs.link.send({ type: 'recorded', detectionId: message.detectionId })
  }

  async #closed(message: ClipClosed | ClipLost): Promise<void> {
    await this.#needs.work.write((tx) => {
      const fired = this.#reserve(tx, message, true)
      if (store.findDetection(tx, fired.id)) return
      if (message.type === 'clipLost') {
        this.#append(tx, fired, { clip_status: 'lost', reason: message.words }, null)
        return
      }
      this.#keep(tx, message, 'clip', 'video/mp4')
      if (message.snapshot) this.#keep(tx, message.snapshot, 'snapshot', 'image/png')
      this.#append(tx, fired, { clip_status: 'recorded', reason: clipReason(message) }, message)
    })
    this.#needs.link.send({ type: 'recorded', detectionId: message.detectionId })
  }

  /**
   * Records as lost what fired and has no result. Called when a new thread has reported all clips that the last one
   * left open, and before any camera starts.
   */
  async #giveUp(): Promise<void> {
    const reason = 'the gateway ended before anything of the clip was on disk'
    await this.#needs.work.write((tx) => {
      for (const fired of store.openReservations(tx)) this.#append(tx, fired, { clip_status: 'lost', reason }, null)
    })
  }

  /** Returns the reservation; writes and publishes it now if the gateway died between firing and writing. */
  #reserve(
    tx: Tx,
    facts: Pick<DetectionFacts, 'detectionId' | 'cameraId' | 'motionAt' | 'score' | 'sceneChange'>,
    clip: boolean,
  ): store.Reservation {
    const known = store.findReservation(tx, facts.detectionId)
    if (known) return known
    const fired: store.Reservation = {
      id: facts.detectionId,
      event_id: this.#needs.makeId(),
      cctv_id: facts.cameraId,
      fired_at_ms: facts.motionAt,
      score: facts.score,
      scene_change: facts.sceneChange ? 1 : 0,
    }
    store.reserve(tx, fired)
    const url = clip ? `${this.#needs.site().siteUrl}${store.clipPath(fired.id)}` : null
    this.#needs.outbox.announce(
      tx,
      motionDetected(fired, url, this.#needs.clock.now(), this.#warehouseOf(fired.cctv_id)),
    )
    return fired
  }

  #keep(tx: Tx, file: StoredFile, kind: Media['kind'], mediaType: string): void {
    const media = {
      sha256: file.sha256,
      kind,
      mediaType,
      sizeBytes: file.sizeBytes,
      receivedAtMs: this.#needs.clock.now(),
    }
    addMedia(tx, media)
  }

  #append(
    tx: Tx,
    fired: store.Reservation,
    outcome: { clip_status: DetectionEventRow['clip_status']; reason: string | null },
    clip: ClipClosed | null,
  ): void {
    const unsealed = {
      row: store.nextRow(tx),
      id: fired.id,
      event_id: fired.event_id,
      cctv_id: fired.cctv_id,
      timestamp_ms: fired.fired_at_ms,
      score: clip?.peakScore ?? fired.score,
      scene_change: fired.scene_change,
      ...outcome,
      clip_sha256: clip?.sha256 ?? null,
      snapshot_sha256: clip?.snapshot?.sha256 ?? null,
      clip_start_ms: clip?.startedAt ?? null,
      clip_end_ms: clip?.endedAt ?? null,
      pre_roll_seconds: clip?.preRollSeconds ?? null,
      duration_seconds: clip?.durationSeconds ?? null,
      asked_pre_roll_seconds: clip?.askedPreRollSeconds ?? null,
      clip_pictures: clip?.pictures ?? null,
      longest_gap_seconds: clip?.longestGapSeconds ?? null,
      clip_original: clip ? Number(clip.original) : null,
      closed_by: clip?.closedBy ?? null,
      recorded_at_ms: this.#needs.clock.now(),
    }
    const leaf = this.#needs.log.append(tx, 'detection', String(unsealed.row), detectionFacts(unsealed))
    const row = { ...unsealed, ...leaf }
    store.append(tx, row)
    holdClosedClip(tx, row.id, [row.clip_sha256, row.snapshot_sha256])
    this.#needs.outbox.created(
      tx,
      detectionRecorded(this.#present(row), this.#needs.clock.now(), this.#warehouseOf(row.cctv_id)),
    )
  }

  #present(row: DetectionEventRow): DetectionEvent {
    const { siteUrl, uploads } = this.#needs.site()
    return store.toDetectionEvent(row, {
      siteUrl,
      uploadStatus: uploads && row.clip_sha256 !== null ? 'pending' : 'not_configured',
    })
  }

  #nameOf(cctvId: number): string {
    return this.#needs.site().cameras.find(({ id }) => id === cctvId)?.name ?? `Camera ${cctvId}`
  }

  #warehouseOf(cctvId: number): number {
    const { cameras, warehouseId } = this.#needs.site()
    return cameras.find((c) => c.id === cctvId)?.warehouseId ?? warehouseId
  }
}

/** Returns the name of a detection's file in the clips folder. */
export function fileOf(id: number, kind: 'clip' | 'snapshot'): string {
  return kind === 'clip' ? `${id}.mp4` : `${id}.png`
}

function motionHash(camera: CameraConfig): string {
  return sha256(JSON.stringify(camera.motion)).toString('hex')
}

function given(request: MotionAction): Partial<MotionSettings> {
  const { cctvId: _, action: __, ...values } = request
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function timeOf(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : isoTime(ms)
}
