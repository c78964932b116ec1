import { join } from 'node:path'
import {
  CameraClocks,
  CamerasService,
  ConfiguredCameras,
  DetectionRecorder,
  Detections,
  EventFilms,
  GapKeeper,
  GapLedger,
  Gaps,
  LiveViews,
  Scores,
  Snapshots,
  ViewBook,
  WantedCameras,
  Watched,
} from '../../cameras/index.ts'
import type { Config } from '../../config/index.ts'
import { Traces } from '../../floor/index.ts'
import { memoryOfBox } from '../../platform/machine/memory.ts'
import { ClipCopies, type UploadQueue } from '../../upload/index.ts'
import { hasLeftovers } from '../../video/index.ts'
import type { Outside } from '../outside.ts'
import { askCameraClock } from '../threads/camera-clock.ts'
import { CamerasThread } from '../threads/cameras-thread.ts'
import { Jobs } from '../threads/jobs.ts'
import type { ComposedCallers } from './callers.ts'
import type { ComposedStorage } from './storage.ts'
import type { ComposedWarehouse } from './warehouse.ts'

/** On the smallest box: the pre-roll of a few cameras. */
const leastMemoryBytes = 64 * 1024 * 1024

export type ComposedVideo = ReturnType<typeof composeVideo>

/** Builds the cameras thread, the views of cameras for callers, and the footage of events in slots. */
export function composeVideo(
  live: { config: Config },
  outside: Outside,
  storage: ComposedStorage,
  callers: ComposedCallers,
  { warehouse, assets }: ComposedWarehouse,
  uploadQueue: UploadQueue,
) {
  const { config } = live
  const { log, clock } = outside
  const { work, outbox, audit, makeId } = storage
  const clipsFolder = join(config.dataDir, 'clips')
  const cellsFolder = join(config.dataDir, 'scores')
  const camerasThread = new CamerasThread({
    ...{ clipsFolder, historyFolder: join(config.dataDir, 'history'), ffmpeg: config.ffmpeg.path, log, clock },
    cellsFolder,
    logFormat: outside.logFormat ?? 'json',
    isWanted: (): boolean => cameras.needsThread,
  })
  const configured = new ConfiguredCameras({ site: siteOf(live), names: callers.names })
  const wanted = new WantedCameras({ work, configured })
  const isWanted = (cctvId: number) => wanted.uploadsClips(cctvId)
  const copies = new ClipCopies({ queue: uploadQueue, siteId: config.site.id, isWanted })
  const detections = new Detections({
    ...{ work, cameras: configured, copies, clipsDir: clipsFolder },
    evidenceStates: storage.evidenceStates,
  })
  const gapLedger = new GapLedger({ clock, log: storage.logRoom, outbox, makeId, cameras: configured })
  const recorder = new DetectionRecorder({
    ...{ work, clock, logger: log, log: storage.logRoom, outbox, makeId, cameras: configured, link: camerasThread },
    ...{ gaps: gapLedger, copies },
  })
  const watched = new Watched({ clock })
  const zoneOf = (warehouseId: number) => work.read((tx) => warehouse.timezoneOf(tx, warehouseId))
  const films = new EventFilms({
    ...{ work, clock, logger: log, makeId, cameras: configured, link: camerasThread, wanted, zoneOf },
  })
  const cameras = new CamerasService({
    ...{ work, clock, logger: log, audit, configured, wanted, recorder, copies, films, link: camerasThread, watched },
    clockIsTrusted: () => storage.clockSync.isTrusted(),
    hasLeftovers: () => hasLeftovers(clipsFolder),
    gaps: new GapKeeper({ work, clock, logger: log, ledger: gapLedger }),
    ...{ zoneOf, seesWarehouse: (caller, warehouseId) => warehouse.isVisible(caller, warehouseId) },
  })
  const cameraClocks = new CameraClocks({
    ...{ work, clock, logger: log, configured },
    measure: async ({ url }, signal) =>
      (await askCameraClock({ url, username: null, password: null }, { clock, signal })).measured,
  })
  const gaps = new Gaps({ work, clock, cameras: configured })
  const troubleOf = (cctvId: number) => cameras.troubleOf(cctvId)
  const viewBook = new ViewBook({ work, audit, clock, log })
  const liveViews = new LiveViews({ clock, log, configured, link: camerasThread, watched, book: viewBook, troubleOf })
  const snapshots = new Snapshots({ clock, link: camerasThread, watched, troubleOf })
  const replays = new Jobs({ log, clock })
  const scores = new Scores({
    ...{ work, clock, cameras: configured, link: camerasThread, replays, folder: cellsFolder },
    isThreadRunning: () => camerasThread.isRunning,
    settingsOf: (camera) => cameras.settingsOf(camera),
  })
  for (const ear of [cameras, liveViews, snapshots, scores]) camerasThread.listen(ear)
  const traces = new Traces({ work, warehouse, assets, cameras: configured, detections, gaps })
  return {
    camerasThread,
    configured,
    wanted,
    copies,
    detections,
    films,
    cameraClocks,
    cameras,
    liveViews,
    viewBook,
    snapshots,
    gaps,
    scores,
    replays,
    traces,
  }
}

/** Returns what the cameras follow of the config, as of each call. */
function siteOf(live: { config: Config }): ConstructorParameters<typeof ConfiguredCameras>[0]['site'] {
  // Read once, because it reads files of the control group (45 µs), and every event reads the settings.
  const usualMemoryBytes = Math.max(memoryOfBox() / 8, leastMemoryBytes)
  return () => {
    const { cameras, site, retention, privacy, video } = live.config
    return {
      cameras,
      siteUrl: site.url,
      warehouseId: site.warehouseId,
      reserveBytes: retention.ledgerReserveBytes,
      minFreeBytes: retention.minFreeBytes,
      cells: { days: retention.scores.maxAgeDays, mostBytes: retention.scores.maxBytes },
      fourEyesForExport: privacy.fourEyesForExport,
      memoryBytes: video.memoryBytes ?? usualMemoryBytes,
    }
  }
}
