import type { CameraConfig } from '../config/index.ts'
import type { UnitOfWork } from '../database/index.ts'
import type { Caller, RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { canonicalJson } from '../log/index.ts'
import type { Clock, Logger } from '../platform/index.ts'
import type { FromCameras } from '../video/index.ts'
import { demandControl } from './access.ts'
import { type CameraHealth, CameraHealthBook, noFfmpeg, noThread } from './camera-health.ts'
import { CameraLog } from './camera-log.ts'
import type { ConfiguredCameras } from './configured.ts'
import type { DetectionCopies } from './copies.ts'
import type { EventFilms } from './detections/event-films.ts'
import { LatestReports } from './detections/latest-reports.ts'
import type { CamerasLink, DetectionRecorder, RefusedDetection } from './detections/recorder.ts'
import { givingUp, isUnknownHeld, WaitingClips, type WaitingSeen } from './detections/waiting-clips.ts'
import { CameraDuties } from './duties.ts'
import type { GapKeeper } from './gaps/keeper.ts'
import { CameraViews } from './live/camera-views.ts'
import { PreRollBook } from './pre-roll-book.ts'
import type { MotionAction, MotionSettings } from './schema.ts'
import * as store from './store.ts'
import { ThreadSettings } from './thread-settings.ts'
import { motionHash, type WantedCameras } from './wanted.ts'
import type { Watched } from './watched.ts'

/** A shorter outage does not count as one: cameras restart. */
const downForMs = 60_000

type CamerasServiceNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly logger: Logger
  readonly audit: AuditTrail
  readonly configured: ConfiguredCameras
  readonly wanted: WantedCameras
  readonly recorder: DetectionRecorder
  readonly films: EventFilms
  readonly link: CamerasLink
  readonly gaps: GapKeeper
  /** Whether the caller may see a warehouse. */
  readonly seesWarehouse: (caller: Caller, warehouseId: number) => boolean
  /** Time zone of a warehouse; UTC for one that is not there. */
  readonly zoneOf: (warehouseId: number) => string
  /** Whether the wall clock is right as far as is known. */
  readonly clockIsTrusted: () => boolean
  readonly watched: Watched
  readonly copies: DetectionCopies
  /** Whether an earlier run left a clip in the folder of the clips. */
  readonly hasLeftovers: () => boolean
}

/** Shows cameras to callers, starts and stops their detection, and takes the reports of the cameras thread. */
export class CamerasService {
  readonly #needs: CamerasServiceNeeds
  readonly #reports = new LatestReports()
  readonly #health: CameraHealthBook
  readonly #cameraLog: CameraLog
  readonly #preRolls = new PreRollBook()
  readonly #waiting = new WaitingClips()
  readonly #settings: ThreadSettings
  readonly #duties: CameraDuties
  readonly #views: CameraViews
  #clipWaits = () => {}
  #threadRuns = false
  /** Why the last thread ended, in words; undefined while one runs, and before the first. */
  #noThread: typeof noThread | undefined
  readonly #startedMs: number
  #leftAtStart: { readonly count: number; readonly hasFiles: boolean } | undefined
  #threadNumber = 0
  /** Whether everything that an earlier run left was written, or refused. */
  #areLeftoversTried = false

  constructor(needs: CamerasServiceNeeds) {
    this.#needs = needs
    this.#startedMs = needs.clock.monotonic()
    this.#health = new CameraHealthBook(this.#startedMs)
    this.#cameraLog = new CameraLog(needs.logger)
    this.#duties = new CameraDuties(needs)
    const parts = { ...needs, duties: this.#duties, reports: this.#reports, health: this.#health }
    const settings = new ThreadSettings(parts)
    this.#settings = settings
    this.#views = new CameraViews({
      ...parts,
      startedAtMs: (cctvId) => settings.startedAtMs(cctvId),
      noThread: () => this.#noThread,
    })
  }

  /** Lists the wanted cameras with the missing part of their pre-roll; `short` is undefined while they lack nothing. */
  preRolls() {
    return this.#needs.configured.site.cameras
      .map((camera) => ({ camera, wanted: this.#needs.wanted.of(camera) }))
      .filter(({ wanted }) => wanted.running)
      .map(({ camera: { id, name }, wanted: { settings } }) => ({
        ...{ id, name, wantedSeconds: settings.preRecordSeconds },
        short: this.#preRolls.of(id, this.#needs.clock.monotonic()),
      }))
  }

  /**
   * Sends the thread the settings of new and changed cameras, and the ids of removed ones; the thread also reads the
   * passwords again. Call it after every reload, also when the config is the same.
   */
  onReload(): void {
    this.#settings.sendAll()
  }

  /**
   * Notes the gaps of the cameras while the gateway was down, also when their thread cannot start. From then on it checks at every
   * full minute which recording hours have begun or ended.
   */
  start(): void {
    this.#settings.start()
  }

  /** Stops the clock and the gaps; the cameras thread has stopped before. */
  async stop(): Promise<void> {
    this.#settings.stop()
    await this.#needs.gaps.stop()
  }

  /** Sends a new thread all settings. */
  threadStarted(): void {
    this.#settings.forget()
    this.#needs.recorder.threadStarted()
    this.#noThread = undefined
    this.#forgetReports()
    this.#threadRuns = true
    this.#settings.sendAll()
    void this.#orderFilms()
  }

  /**
   * Orders films once what an earlier thread reported is written: a film that it made must not be made again. The thread has read
   * the files of the earlier thread before it takes an order.
   */
  async #orderFilms(): Promise<void> {
    this.#threadNumber += 1
    const thread = this.#threadNumber
    await this.#needs.recorder.written()
    if (this.#threadRuns && thread === this.#threadNumber) this.#needs.films.threadReady()
  }

  /** Forgets all reports: the thread has ended, and with it every stream. */
  threadEnded(why: 'failed' | 'no-ffmpeg' = 'failed'): void {
    this.#threadRuns = false
    this.#noThread = why === 'no-ffmpeg' ? noFfmpeg : noThread
    this.#waiting.threadEnded()
    this.#forgetReports()
    this.#needs.gaps.threadEnded()
    this.#needs.films.threadEnded()
  }

  #forgetReports(): void {
    this.#reports.forgetAll()
    this.#health.threadGone(this.#needs.clock.monotonic(), (this.#noThread ?? noThread).words)
  }

  /** From now on streams end because the gateway stops. */
  threadStopping(): void {
    this.#needs.gaps.threadStopping()
  }

  heard(message: FromCameras): void {
    switch (message.type) {
      case 'idsWanted':
        void this.#needs.recorder.giveIds(message.count)
        break
      case 'state':
        this.#health.heard(message, this.#needs.clock.monotonic())
        if (message.state !== 'live') this.#preRolls.forget(message.cameraId)
        this.#cameraLog.heard(message, this.#needs.configured.nameOf(message.cameraId))
        this.#reports.heard(message)
        this.#needs.gaps.heard(message)
        break
      case 'status':
        this.#reports.heard(message)
        this.#needs.gaps.heard(message)
        this.#preRolls.heard(message, this.#needs.clock.monotonic())
        break
      case 'picturesMissing':
        this.#needs.gaps.missed(message)
        break
      case 'motionFired':
        this.#needs.gaps.cooled(message)
        void this.#needs.recorder.fired(message)
        break
      case 'sceneChanged':
        void this.#needs.recorder.sceneChanged(message)
        break
      case 'clipClosed':
      case 'clipLost':
        this.#waiting.done(message.detectionId)
        void this.#needs.recorder.closed(message).then((isWritten) => this.#ended(message.detectionId, isWritten))
        break
      case 'clipWaits':
        this.#clipStillWaits(message)
        break
      case 'clipRemoved':
        void this.#removed(message)
        break
      case 'filmCovered':
        void this.#needs.recorder.covered(message).then((isWritten) => this.#ended(message.detectionId, isWritten))
        break
      case 'leftoversDone':
        void this.#giveUp(message.kept)
        break
      // Heard by LiveViews, Snapshots and Scores.
      case 'cellsWritten':
      case 'livePicture':
      case 'liveEnded':
      case 'snapshotTaken':
      case 'snapshotFailed':
      case 'redacted':
      case 'redactionFailed':
      case 'stopped':
        break
    }
  }

  #clipStillWaits(message: Extract<FromCameras, { type: 'clipWaits' }>): void {
    // Then a kill came between the row and the removal of a file that was damaged since.
    if (message.writtenAt !== undefined && this.#isRecorded(message.detectionId)) {
      this.#needs.link.send({ type: 'recorded', detectionId: message.detectionId })
      return
    }
    this.#waiting.heard(message, this.#needs.clock.monotonic())
    this.#needs.films.waits(message.detectionId)
    void this.#needs.recorder.waits(message).then(() => this.#clipWaits())
  }

  /** A film that is left to the next start takes no turn of the others, and is not ordered again. */
  #ended(filmId: number, isWritten: boolean): void {
    if (isWritten) this.#needs.films.done(filmId)
    else this.#needs.films.waits(filmId)
  }

  /** Says whether the cameras thread has something to do: a camera, or clips that an earlier run left. */
  get needsThread(): boolean {
    return this.#needs.configured.site.cameras.length > 0 || this.#left.count > 0 || this.#left.hasFiles
  }

  /**
   * Returns the clips that could not be made yet; undefined while there is none. Returns 'unknown' until the thread has read the
   * files of an earlier run.
   */
  clipsWaiting(): WaitingSeen | 'unknown' | undefined {
    const nowMs = this.#needs.clock.monotonic()
    const seen = this.#waiting.seen(nowMs)
    if (this.#threadRuns || seen !== 'unknown') return seen
    if (!this.needsThread) return undefined
    const { count } = this.#left
    return count === 0 ? seen : { count, forMs: nowMs - this.#startedMs, words: (this.#noThread ?? noThread).words }
  }

  /** Lists detections that the database refuses; 'unknown' while none is known and files of earlier runs were not tried. */
  clipsRefused(): readonly RefusedDetection[] | 'unknown' {
    const { refused } = this.#needs.recorder
    return refused.length === 0 && !this.#areLeftoversTried && this.needsThread ? 'unknown' : refused
  }

  /** Returns what the last run left. It is read once, because only a thread changes it. */
  get #left(): { readonly count: number; readonly hasFiles: boolean } {
    this.#leftAtStart ??= {
      count: this.#needs.work.read(store.countOpenReservations),
      hasFiles: this.#mayHaveFiles(),
    }
    return this.#leftAtStart
  }

  /** Calls the listener each time a clip could not be made, when `waitingClips` has it. */
  onClipWaits(listener: () => void): void {
    this.#clipWaits = listener
  }

  /** An unreadable folder is left to the thread, which reports it and makes the clips that it can. */
  #mayHaveFiles(): boolean {
    try {
      return this.#needs.hasLeftovers()
    } catch (err) {
      this.#needs.logger.error({ err }, 'the folder of the clips cannot be read')
      return true
    }
  }

  /** Lists the clips that could not be made yet, and those that the database refuses, the oldest first. */
  waitingClips() {
    return this.#needs.work.read((tx) => this.#waiting.list(tx, this.#needs.recorder.refused))
  }

  /** Lets a clip that could not be made or recorded yet go, unless it is held: it will be recorded as lost, with these words. */
  giveUpClip(id: number, words: string): void {
    const message = this.#needs.work.read((tx) => {
      if (!this.#waiting.isUnknown(tx, id)) return givingUp(tx, id, words, this.#needs.recorder.refused)
      if (isUnknownHeld(tx, id)) return undefined
      return { type: 'removeClip' as const, detectionId: id, words }
    })
    if (message) this.#needs.link.send(message)
  }

  #isRecorded(detectionId: number): boolean {
    return this.#needs.work.read((tx) => store.findDetection(tx, detectionId) !== undefined)
  }

  /** No detection exists that could state it, so the audit trail does. */
  async #removed({ detectionId, words }: Extract<FromCameras, { type: 'clipRemoved' }>): Promise<void> {
    this.#waiting.done(detectionId)
    try {
      await this.#needs.work.write((tx) =>
        this.#needs.audit.write(tx, undefined, {
          action: 'media.removed',
          entity: 'detection_event',
          entityId: detectionId,
          changes: { reason: words },
        }),
      )
    } catch (err) {
      this.#needs.logger.error(
        { err, detectionId, words },
        'the removal of an unknown clip could not be written into the audit trail',
      )
    }
  }

  /** Null: the thread does not know what an earlier one left, so nothing is known to be lost. */
  async #giveUp(kept: readonly number[] | null): Promise<void> {
    if (kept === null) return
    this.#waiting.leftoversDone(kept)
    await this.#needs.recorder.giveUp(kept)
    this.#areLeftoversTried = true
  }

  /** Says why a connected camera gives no pictures; undefined while it gives some, or is being connected. */
  troubleOf(cctvId: number): string | undefined {
    if (!this.#threadRuns) return (this.#noThread ?? noThread).words
    const known = this.#reports.state(cctvId)
    if (known?.state !== 'backing-off' && known?.state !== 'stalled') return undefined
    return known.words ? `${known.words.what} ${known.words.hint}` : 'The camera gives no pictures now.'
  }

  /** Says whether every wanted camera gives pictures, or has been without for less than a minute. */
  areWell(): boolean {
    const now = this.#needs.clock.now()
    return this.cameraHealth().every(({ badSinceMs }) => badSinceMs === null || now - badSinceMs < downForMs)
  }

  /** Lists the wanted cameras, and since when each has given no pictures. */
  cameraHealth(): CameraHealth[] {
    return this.#views.health()
  }

  cameras(caller: Caller) {
    return this.#views.visibleTo(caller)
  }

  /** Returns how every camera is now, for the gateway itself. */
  states() {
    return this.#views.states()
  }

  /** Returns the motion settings of a camera as they are now. */
  settingsOf(camera: CameraConfig): MotionSettings {
    return this.#needs.wanted.of(camera).settings
  }

  status(cctvId: number, caller: Caller) {
    return this.#views.motion(this.#needs.configured.visible(cctvId, caller))
  }

  /**
   * Starts or stops detection; a repeat changes nothing. Settings that a start leaves out are the config's. Throws
   * NOT_FOUND, PERMISSION_DENIED.
   */
  async control(request: MotionAction, by: RequestOrigin) {
    const camera = this.#needs.configured.visible(request.cctvId, by.caller)
    demandControl(this.#needs.configured.names, by.caller, camera)
    const { cctvId, action } = request
    const before = this.#needs.wanted.of(camera)
    const settings =
      action === 'start' ? given(request) : JSON.parse(this.#needs.wanted.controlOf(camera)?.settings ?? '{}')
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
    const after = this.#needs.wanted.of(camera)
    this.#settings.send(camera)
    if (action === 'start') this.#needs.link.send({ type: 'retry', cameraId: cctvId })
    const changed = canonicalJson(before) !== canonicalJson(after)
    const duty = this.#duties.of(camera)
    const reason = duty.watches ? null : duty.detail
    return { cctvId, action, running: after.running, reason, changed, settings: after.settings }
  }
}

function given(request: MotionAction): Partial<MotionSettings> {
  const { cctvId: _, action: __, ...values } = request
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
