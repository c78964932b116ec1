import type { CameraConfig } from '../config/index.ts'
import { type Clock, toNextMinute } from '../platform/index.ts'
import type { CameraSettings } from '../video/index.ts'
import type { CameraHealthBook } from './camera-health.ts'
import type { ConfiguredCameras } from './configured.ts'
import type { LatestReports } from './detections/latest-reports.ts'
import type { CamerasLink } from './detections/recorder.ts'
import type { CameraDuties } from './duties.ts'
import { filmSeconds } from './films/plan.ts'
import type { GapKeeper } from './gaps/keeper.ts'
import type { WantedCameras } from './wanted.ts'
import type { Watched } from './watched.ts'

type ThreadSettingsNeeds = {
  readonly clock: Clock
  readonly configured: ConfiguredCameras
  readonly wanted: WantedCameras
  readonly duties: CameraDuties
  readonly link: CamerasLink
  readonly gaps: GapKeeper
  readonly watched: Watched
  readonly reports: LatestReports
  readonly health: CameraHealthBook
  /** Whether the wall clock is right as far as is known. */
  readonly clockIsTrusted: () => boolean
}

/** Tells the cameras thread what each camera is to do, whenever that changes, and takes note of it here. */
export class ThreadSettings {
  readonly #needs: ThreadSettingsNeeds
  readonly #sent = new Map<number, string>()
  readonly #startedAtMs = new Map<number, number>()
  #cancelMinute = () => {}

  constructor(needs: ThreadSettingsNeeds) {
    this.#needs = needs
    needs.watched.onChange((cctvId) => this.#watchedChanged(cctvId))
  }

  /**
   * Notes the gaps of the cameras while the gateway was down, also when their thread cannot start. From then on it checks at every
   * full minute which recording hours have begun or ended.
   */
  start(): void {
    this.#setDuties()
    this.#everyMinute()
  }

  stop(): void {
    this.#cancelMinute()
  }

  /** A new thread knows nothing yet. */
  forget(): void {
    this.#sent.clear()
  }

  /** Returns when detection of a camera was started, by the wall clock; undefined while it is off. */
  startedAtMs(cctvId: number): number | undefined {
    return this.#startedAtMs.get(cctvId)
  }

  /** Sends the settings of new and changed cameras, and the ids of removed ones; the thread also reads the passwords again. */
  sendAll(): void {
    const { configured, health, link, wanted } = this.#needs
    const { cameras, reserveBytes, minFreeBytes, memoryBytes, cells } = configured.site
    link.send({ type: 'reserve', bytes: reserveBytes, minFreeBytes })
    link.send({ type: 'memory', bytes: memoryBytes })
    link.send({ type: 'cells', ...cells })
    this.#sendClock()
    for (const id of this.#sent.keys()) {
      if (cameras.some((camera) => camera.id === id)) continue
      this.#sent.delete(id)
      wanted.setOn(id, false)
      health.unwant(id)
      link.send({ type: 'remove', cameraId: id })
    }
    this.#setDuties()
    for (const camera of cameras) this.send(camera)
    link.send({ type: 'secrets' })
  }

  /** Sends the settings of one camera, if they have changed. */
  send(camera: CameraConfig): void {
    const { duties, link, watched } = this.#needs
    const { settings } = this.#needs.wanted.of(camera)
    const duty = duties.of(camera)
    const keepsHistory = duties.keepsHistory(camera)
    this.#needs.gaps.setDuty(camera.id, duty)
    const { uploadToStorage: _, ...motion } = settings
    const message: CameraSettings = {
      cameraId: camera.id,
      url: camera.url,
      detectUrl: camera.detectUrl,
      username: camera.username,
      passwordFile: camera.passwordFile,
      detecting: duty.watches,
      streaming: camera.enabled && watched.has(camera.id),
      history: { ...camera.history, isOn: keepsHistory },
      filmSeconds: camera.slots.length > 0 ? filmSeconds.before : 0,
      motion: { ...motion, masks: camera.motion.masks, zones: camera.motion.zones },
      ...eventsOf(camera),
    }
    this.#noteStart(camera.id, duty.watches, duty.watches || keepsHistory)
    const text = JSON.stringify(message)
    if (this.#sent.get(camera.id) === text) return
    this.#sent.set(camera.id, text)
    link.send({ type: 'camera', settings: message })
  }

  #everyMinute(): void {
    const { clock, configured } = this.#needs
    this.#cancelMinute = clock.after(toNextMinute(clock.now()), () => {
      this.#sendClock()
      for (const camera of configured.site.cameras)
        if (camera.recordingHours && this.#sent.has(camera.id)) this.send(camera)
      this.#everyMinute()
    })
  }

  #sendClock(): void {
    this.#needs.link.send({ type: 'clock', isTrusted: this.#needs.clockIsTrusted() })
  }

  #setDuties(): void {
    this.#needs.gaps.setDuties(this.#needs.duties.all())
  }

  #watchedChanged(cctvId: number): void {
    const camera = this.#needs.configured.site.cameras.find(({ id }) => id === cctvId)
    if (camera) this.send(camera)
  }

  #noteStart(cctvId: number, running: boolean, isNeeded: boolean): void {
    const { clock, health, reports, wanted } = this.#needs
    if (isNeeded) health.want(cctvId, clock.monotonic())
    else health.unwant(cctvId)
    wanted.setOn(cctvId, isNeeded)
    if (!running) this.#startedAtMs.delete(cctvId)
    else if (!this.#startedAtMs.has(cctvId)) {
      this.#startedAtMs.set(cctvId, clock.now())
      reports.forgetCounts(cctvId)
    }
  }
}

function eventsOf({ motion: { source }, analytics: { url, rules } }: CameraConfig): Pick<CameraSettings, 'events'> {
  return source === 'pictures' ? {} : { events: { source, url, rules } }
}
