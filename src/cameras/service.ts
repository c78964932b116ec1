import type { CameraConfig } from '../config/index.ts'
import type { UnitOfWork } from '../database/index.ts'
import type { Caller, RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import { canonicalJson } from '../log/index.ts'
import { type Clock, isoTime, isWithinHours, type Logger, parseWeeklyHours, toNextMinute } from '../platform/index.ts'
import type { CameraSettings, FromCameras } from '../video/index.ts'
import { demandControl, mayControl } from './access.ts'
import { type CameraHealth, CameraHealthBook, noThread } from './camera-health.ts'
import { CameraLog } from './camera-log.ts'
import { newestClock } from './clock-store.ts'
import type { ConfiguredCameras } from './configured.ts'
import type { DetectionCopies } from './copies.ts'
import type { CamerasLink, DetectionRecorder, RefusedDetection } from './detection-recorder.ts'
import type { EventFilms } from './event-films.ts'
import { filmSeconds } from './film-plan.ts'
import type { Duty, GapKeeper } from './gap-keeper.ts'
import { LatestReports } from './latest-reports.ts'
import { PreRollBook } from './pre-roll-book.ts'
import type { MotionAction, MotionSettings } from './schema.ts'
import * as store from './store.ts'
import { givingUp, WaitingClips, type WaitingSeen } from './waiting-clips.ts'
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
  readonly #startedAtMs = new Map<number, number>()
  readonly #sent = new Map<number, string>()
  #cancelMinute = () => {}
  #clipWaits = () => {}
  #threadRuns = false
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
    needs.watched.onChange((cctvId) => this.#watchedChanged(cctvId))
  }

  /** Lists the wanted cameras with what they lack of their pre-roll; `short` is undefined while they lack nothing. */
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
    this.#sendCameras()
  }

  #sendCameras(): void {
    const { cameras, reserveBytes, minFreeBytes, memoryBytes, cells } = this.#needs.configured.site
    this.#needs.link.send({ type: 'reserve', bytes: reserveBytes, minFreeBytes })
    this.#needs.link.send({ type: 'memory', bytes: memoryBytes })
    this.#needs.link.send({ type: 'cells', ...cells })
    this.#tellClock()
    for (const id of this.#sent.keys()) {
      if (cameras.some((camera) => camera.id === id)) continue
      this.#sent.delete(id)
      this.#needs.wanted.setOn(id, false)
      this.#health.unwant(id)
      this.#needs.link.send({ type: 'remove', cameraId: id })
    }
    this.#setDuties()
    for (const camera of cameras) this.#tell(camera)
    this.#needs.link.send({ type: 'secrets' })
  }

  /**
   * Notes what the cameras missed while the gateway was down, also when their thread cannot start. From then on it looks at
   * every full minute which recording hours have begun or ended.
   */
  start(): void {
    this.#setDuties()
    this.#everyMinute()
  }

  #tellClock(): void {
    this.#needs.link.send({ type: 'clock', isTrusted: this.#needs.clockIsTrusted() })
  }

  #setDuties(): void {
    const { cameras } = this.#needs.configured.site
    this.#needs.gaps.setDuties(new Map(cameras.map((camera) => [camera.id, this.#duty(camera)])))
  }

  #everyMinute(): void {
    const { clock, configured } = this.#needs
    this.#cancelMinute = clock.after(toNextMinute(clock.now()), () => {
      this.#tellClock()
      for (const camera of configured.site.cameras)
        if (camera.recordingHours && this.#isInThread(camera)) this.#tell(camera)
      this.#everyMinute()
    })
  }

  /** Stops the clock and the gaps; the cameras thread has stopped before. */
  async stop(): Promise<void> {
    this.#cancelMinute()
    await this.#needs.gaps.stop()
  }

  /** Sends a new thread all settings. */
  threadStarted(): void {
    this.#sent.clear()
    this.#needs.recorder.threadStarted()
    this.#forgetReports()
    this.#threadRuns = true
    this.#sendCameras()
    void this.#orderFilms()
  }

  /**
   * Orders films once what an earlier thread reported is written: a film that it made must not be made again. The thread knows
   * what that one left before it takes an order.
   */
  async #orderFilms(): Promise<void> {
    this.#threadNumber += 1
    const thread = this.#threadNumber
    await this.#needs.recorder.written()
    if (this.#threadRuns && thread === this.#threadNumber) this.#needs.films.threadReady()
  }

  /** Forgets all reports: the thread has ended, and with it every stream. */
  threadEnded(): void {
    this.#threadRuns = false
    this.#waiting.threadEnded()
    this.#forgetReports()
    this.#needs.gaps.threadEnded()
    this.#needs.films.threadEnded()
  }

  #forgetReports(): void {
    this.#reports.forgetAll()
    this.#health.threadGone(this.#needs.clock.monotonic())
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
      case 'clipClosed':
      case 'clipLost':
        this.#waiting.done(message.detectionId)
        void this.#needs.recorder.closed(message).then((isWritten) => this.#ended(message.detectionId, isWritten))
        break
      case 'clipWaits':
        this.#waiting.heard(message, this.#needs.clock.monotonic())
        this.#needs.films.waits(message.detectionId)
        void this.#needs.recorder.waits(message).then(() => this.#clipWaits())
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
   * Returns what is known of the clips that could not be made yet; undefined while there is none, 'unknown' until the thread
   * has looked at what an earlier run left.
   */
  clipsWaiting(): WaitingSeen | 'unknown' | undefined {
    const nowMs = this.#needs.clock.monotonic()
    const seen = this.#waiting.seen(nowMs)
    if (this.#threadRuns || seen !== 'unknown') return seen
    if (!this.needsThread) return undefined
    const { count } = this.#left
    return count === 0 ? seen : { count, forMs: nowMs - this.#startedMs, words: noThread }
  }

  /** Lists what the database refuses; 'unknown' while none is known, and what earlier runs left was not tried. */
  clipsRefused(): readonly RefusedDetection[] | 'unknown' {
    const { refused } = this.#needs.recorder
    return refused.length === 0 && !this.#areLeftoversTried && this.needsThread ? 'unknown' : refused
  }

  /** Returns what the last run left: it is looked for once, because only a thread changes it. */
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

  /** A folder that cannot be read is left to the thread, which says so and makes what it can. */
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
    const message = this.#needs.work.read((tx) => givingUp(tx, id, words, this.#needs.recorder.refused))
    if (message) this.#needs.link.send(message)
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
    if (!this.#threadRuns) return noThread
    const known = this.#reports.state(cctvId)
    if (known?.state !== 'backing-off' && known?.state !== 'stalled') return undefined
    return known.words ? `${known.words.what} ${known.words.hint}` : 'The camera gives no pictures now.'
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
    return this.#needs.configured.site.cameras
      .filter((camera) => this.#duty(camera).watches || this.#keepsHistory(camera))
      .map((camera) => {
        const { id, name } = camera
        const bad = this.#health.badness(id, this.#needs.clock.monotonic())
        const badSinceMs = bad ? this.#needs.clock.now() - bad.forMs : null
        const { scene = null } = this.#reports.status(id) ?? {}
        // A camera that only keeps history needs no pictures in which motion can be found.
        const impairment = this.#needs.wanted.of(camera).running ? this.#impairmentOf(id) : null
        return { id, name, badSinceMs, problem: bad?.problem ?? null, scene, impairment }
      })
  }

  cameras(caller: Caller) {
    return this.#needs.configured.visibleTo(caller).map((camera) => this.#camera(camera, caller))
  }

  /** Returns how every camera is now, for the gateway itself. */
  states() {
    return this.#needs.configured.site.cameras.map((camera) => {
      const state = this.#stateOf(camera)
      return { id: camera.id, name: camera.name, enabled: camera.enabled, ...state, online: state.state === 'live' }
    })
  }

  /** Returns the motion settings of a camera as they are now. */
  settingsOf(camera: CameraConfig): MotionSettings {
    return this.#needs.wanted.of(camera).settings
  }

  status(cctvId: number, caller: Caller) {
    const camera = this.#needs.configured.visible(cctvId, caller)
    const { running, settings } = this.#needs.wanted.of(camera)
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
      scene: this.#sceneOf(camera),
      impairment: running ? this.#impairmentOf(cctvId) : null,
      restarts: status?.restarts ?? 0,
      settings,
      pendingUploads: this.#needs.work.read((tx) => this.#needs.copies.pendingOf(tx, cctvId)),
    }
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
    this.#tell(camera)
    if (action === 'start') this.#needs.link.send({ type: 'retry', cameraId: cctvId })
    const changed = canonicalJson(before) !== canonicalJson(after)
    return { cctvId, action, running: after.running, changed, settings: after.settings }
  }

  #camera(camera: CameraConfig, caller: Caller) {
    const { masks, zones } = camera.motion
    const area = mayControl(this.#needs.configured.names, caller, camera)
      ? { masks: copied(masks), zones: copied(zones) }
      : null
    const state = this.#stateOf(camera)
    const wanted = this.#needs.wanted.of(camera)
    return {
      id: camera.id,
      name: camera.name,
      purpose: camera.purpose,
      warehouseId: camera.warehouseId ?? this.#needs.configured.site.warehouseId,
      zoneId: camera.zoneId,
      slots: [...camera.slots],
      enabled: camera.enabled,
      ...state,
      online: state.state === 'live',
      scene: this.#sceneOf(camera),
      impairment: wanted.running ? this.#impairmentOf(camera.id) : null,
      lastFrameAt: timeOf(this.#reports.status(camera.id)?.lastFrameAt),
      owner: camera.owner,
      cameraClock: this.#needs.work.read((tx) => newestClock(tx, camera.id)),
      motion: { ...wanted, area },
    }
  }

  /** Says why motion of a connected camera cannot be found, and for how long. */
  #impairmentOf(cctvId: number) {
    const { why = null, agoMs = 0 } = this.#reports.status(cctvId)?.impairment ?? {}
    if (why === null || this.#reports.state(cctvId)?.state !== 'live') return null
    return { why, forSeconds: Math.round(agoMs / 1000) }
  }

  #sceneOf(camera: CameraConfig) {
    const isLive = this.#stateOf(camera).state === 'live'
    return (isLive && this.#reports.status(camera.id)?.scene) || null
  }

  #stateOf(camera: CameraConfig) {
    const known = this.#reports.state(camera.id)
    const duty = this.#duty(camera)
    if (!duty.watches && !this.#keepsHistory(camera)) {
      return { state: 'off' as const, problem: duty.cause === 'outside_hours' ? duty.detail : null }
    }
    return {
      state: known?.state ?? ('offline' as const),
      problem: known?.words ? `${known.words.what} ${known.words.hint}` : null,
    }
  }

  /** Says whether a camera is to watch now. In the eyes of the gap ledger it always should. */
  #duty(camera: CameraConfig): Duty {
    if (!camera.enabled)
      return { watches: false, cause: 'disarmed', detail: 'The camera is switched off in the config.' }
    if (!this.#needs.wanted.of(camera).running) {
      const isStopped = this.#needs.wanted.controlOf(camera)?.action === 'stop'
      const detail = isStopped ? 'Detection was stopped through the API.' : 'Detection is switched off in the config.'
      return { watches: false, cause: 'disarmed', detail }
    }
    const detail = this.#outsideHours(camera)
    return detail === undefined ? { watches: true } : { watches: false, cause: 'outside_hours', detail }
  }

  /** Says that it is outside the camera's recording hours, in words; undefined within them. */
  #outsideHours(camera: CameraConfig): string | undefined {
    const { recordingHours } = camera
    if (recordingHours === null) return undefined
    const zone = this.#needs.zoneOf(this.#needs.configured.warehouseOf(camera.id))
    const hours = recordingHours.map(parseWeeklyHours).filter((one) => one !== undefined)
    if (isWithinHours(hours, zone, this.#needs.clock.now())) return undefined
    return `It is outside the recording hours (${recordingHours.join(', ')} in ${zone}). It records again when they begin.`
  }

  #isInThread({ id }: CameraConfig): boolean {
    return this.#sent.has(id)
  }

  /** Says whether continuous video is kept now: also while detection is stopped, but not outside the recording hours. */
  #keepsHistory(camera: CameraConfig): boolean {
    return camera.enabled && camera.history.hours > 0 && this.#outsideHours(camera) === undefined
  }

  #tell(camera: CameraConfig): void {
    const { settings } = this.#needs.wanted.of(camera)
    const duty = this.#duty(camera)
    const running = duty.watches
    const keepsHistory = this.#keepsHistory(camera)
    this.#needs.gaps.setDuty(camera.id, duty)
    const { uploadToStorage: _, ...motion } = settings
    const message: CameraSettings = {
      cameraId: camera.id,
      url: camera.url,
      detectUrl: camera.detectUrl,
      username: camera.username,
      passwordFile: camera.passwordFile,
      detecting: running,
      streaming: camera.enabled && this.#needs.watched.has(camera.id),
      history: { ...camera.history, isOn: keepsHistory },
      filmSeconds: camera.slots.length > 0 ? filmSeconds.before : 0,
      motion: { ...motion, masks: camera.motion.masks, zones: camera.motion.zones },
    }
    this.#noteStart(camera.id, running, running || keepsHistory)
    const text = JSON.stringify(message)
    if (this.#sent.get(camera.id) === text) return
    this.#sent.set(camera.id, text)
    this.#needs.link.send({ type: 'camera', settings: message })
  }

  #watchedChanged(cctvId: number): void {
    const camera = this.#needs.configured.site.cameras.find(({ id }) => id === cctvId)
    if (camera) this.#tell(camera)
  }

  #noteStart(cctvId: number, running: boolean, isNeeded: boolean): void {
    if (isNeeded) this.#health.want(cctvId, this.#needs.clock.monotonic())
    else this.#health.unwant(cctvId)
    this.#needs.wanted.setOn(cctvId, isNeeded)
    if (!running) this.#startedAtMs.delete(cctvId)
    else if (!this.#startedAtMs.has(cctvId)) {
      this.#startedAtMs.set(cctvId, this.#needs.clock.now())
      this.#reports.forgetCounts(cctvId)
    }
  }
}

function given(request: MotionAction): Partial<MotionSettings> {
  const { cctvId: _, action: __, ...values } = request
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function timeOf(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : isoTime(ms)
}

const copied = (polygons: CameraConfig['motion']['masks']) =>
  polygons.map((corners) => corners.map(({ x, y }) => ({ x, y })))
