import type { CameraConfig } from '../../config/index.ts'
import type { UnitOfWork } from '../../database/index.ts'
import type { Caller } from '../../http/index.ts'
import { type Clock, isoTime } from '../../platform/index.ts'
import { mayControl } from '../access.ts'
import type { CameraHealth, CameraHealthBook } from '../camera-health.ts'
import { newestClock } from '../clock-store.ts'
import type { ConfiguredCameras } from '../configured.ts'
import type { DetectionCopies } from '../copies.ts'
import type { LatestReports } from '../detections/latest-reports.ts'
import type { CameraDuties } from '../duties.ts'
import type { WantedCameras } from '../wanted.ts'

type CameraViewsNeeds = {
  readonly work: UnitOfWork
  readonly clock: Clock
  readonly configured: ConfiguredCameras
  readonly wanted: WantedCameras
  readonly duties: CameraDuties
  readonly reports: LatestReports
  readonly health: CameraHealthBook
  readonly copies: DetectionCopies
  /** Whether the caller may see a warehouse. */
  readonly seesWarehouse: (caller: Caller, warehouseId: number) => boolean
  /** When detection of a camera was started, by the wall clock; undefined while it is off. */
  readonly startedAtMs: (cctvId: number) => number | undefined
  /** Why the thread that reads the cameras does not run; undefined while it does. */
  readonly noThread: () => { readonly code: string; readonly words: string } | undefined
}

/** Shows the present state of cameras to callers and to the gateway itself. */
export class CameraViews {
  readonly #needs: CameraViewsNeeds

  constructor(needs: CameraViewsNeeds) {
    this.#needs = needs
  }

  visibleTo(caller: Caller) {
    return this.#needs.configured.visibleTo(caller).map((camera) => this.#camera(camera, caller))
  }

  /** Returns how every camera is now, for the gateway itself. */
  states() {
    return this.#needs.configured.site.cameras.map((camera) => {
      const state = this.#stateOf(camera)
      return { id: camera.id, name: camera.name, enabled: camera.enabled, ...state, online: state.state === 'live' }
    })
  }

  /**
   * Lists the wanted cameras, each with the start of its outage. The monotonic clock gives `badSinceMs`, so a step of the wall
   * clock changes no outage.
   */
  health(): CameraHealth[] {
    const { clock, configured, duties } = this.#needs
    return configured.site.cameras
      .filter((camera) => duties.of(camera).watches || duties.keepsHistory(camera))
      .map((camera) => {
        const { id, name } = camera
        const bad = this.#needs.health.badness(id, clock.monotonic())
        const badSinceMs = bad ? clock.now() - bad.forMs : null
        const { scene = null } = this.#needs.reports.status(id) ?? {}
        // A camera that only keeps history needs no pictures in which motion can be found.
        const impairment = this.#needs.wanted.of(camera).running ? this.#impairmentOf(id) : null
        return { id, name, badSinceMs, problem: bad?.problem ?? null, scene, impairment }
      })
  }

  /** Returns state and counts of the motion detection of a camera. */
  motion(camera: CameraConfig) {
    const { id: cctvId } = camera
    const { running, settings } = this.#needs.wanted.of(camera)
    const status = this.#needs.reports.status(cctvId)
    const startedAt = this.#needs.startedAtMs(cctvId)
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
      decoder: running ? this.#decoderOf(cctvId) : null,
      restarts: status?.restarts ?? 0,
      settings,
      pendingUploads: this.#needs.work.read((tx) => this.#needs.copies.pendingOf(tx, cctvId)),
    }
  }

  #camera(camera: CameraConfig, caller: Caller) {
    const { configured, reports, work } = this.#needs
    const { masks, zones } = camera.motion
    const area = mayControl(configured.names, caller, camera) ? { masks: copied(masks), zones: copied(zones) } : null
    const state = this.#stateOf(camera)
    const wanted = this.#needs.wanted.of(camera)
    const warehouseId = camera.warehouseId ?? configured.site.warehouseId
    // A viewer of the camera need not know of its warehouse.
    const isPlaced = this.#needs.seesWarehouse(caller, warehouseId)
    return {
      id: camera.id,
      name: camera.name,
      purpose: camera.purpose,
      warehouseId: isPlaced ? warehouseId : null,
      zoneId: isPlaced ? camera.zoneId : null,
      slots: isPlaced ? [...camera.slots] : [],
      enabled: camera.enabled,
      ...state,
      online: state.state === 'live',
      scene: this.#sceneOf(camera),
      impairment: wanted.running ? this.#impairmentOf(camera.id) : null,
      analytics: this.#analyticsOf(camera),
      lastFrameAt: timeOf(reports.status(camera.id)?.lastFrameAt),
      owner: camera.owner,
      cameraClock: work.read((tx) => newestClock(tx, camera.id)),
      motion: { ...wanted, area },
    }
  }

  /** Says which pictures of a connected camera are decoded for motion detection. */
  #decoderOf(cctvId: number) {
    const decoder = this.#needs.reports.status(cctvId)?.decoder
    return decoder && this.#needs.reports.state(cctvId)?.state === 'live' ? decoder : null
  }

  /** Says why motion of a connected camera cannot be found, and for how long. */
  #impairmentOf(cctvId: number) {
    const { why = null, agoMs = 0 } = this.#needs.reports.status(cctvId)?.impairment ?? {}
    if (why === null || this.#needs.reports.state(cctvId)?.state !== 'live') return null
    return { why, forSeconds: Math.round(agoMs / 1000) }
  }

  #analyticsOf(camera: CameraConfig) {
    const { source } = camera.motion
    const events = this.#needs.reports.status(camera.id)?.events
    if (source === 'pictures' || !events || !this.#needs.duties.of(camera).watches || this.#needs.noThread())
      return null
    const { isUp, words, problem, rules } = events
    return { source, listening: isUp, problem: words, problemCode: problem, rules: rules.map((rule) => ({ ...rule })) }
  }

  #sceneOf(camera: CameraConfig) {
    const isLive = this.#stateOf(camera).state === 'live'
    return (isLive && this.#needs.reports.status(camera.id)?.scene) || null
  }

  #stateOf(camera: CameraConfig) {
    const known = this.#needs.reports.state(camera.id)
    const duty = this.#needs.duties.of(camera)
    if (!duty.watches && !this.#needs.duties.keepsHistory(camera)) {
      return { state: 'off' as const, problem: duty.cause === 'outside_hours' ? duty.detail : null, problemCode: null }
    }
    const none = this.#needs.noThread()
    return {
      state: known?.state ?? ('offline' as const),
      problem: known?.words ? `${known.words.what} ${known.words.hint}` : (none?.words ?? null),
      problemCode: known?.problem ?? none?.code ?? null,
    }
  }
}

function timeOf(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : isoTime(ms)
}

const copied = (polygons: CameraConfig['motion']['masks']) =>
  polygons.map((corners) => corners.map(({ x, y }) => ({ x, y })))
