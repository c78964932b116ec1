export { demandExport } from './access.ts'
export { CameraClocks, type MeasuredClock } from './camera-clocks.ts'
export {
  type ClipFile,
  type ClipPlace,
  camerasWithClips,
  clipsAfter,
  clipsOfCamera,
  fileOf,
  holdsOnClip,
  takeClipOff,
} from './clip-files.ts'
export { ConfiguredCameras } from './configured.ts'
export type { DetectionCopies, OpenClip } from './copies.ts'
export { detectionFacts } from './detection-leaf.ts'
export { DetectionRecorder } from './detection-recorder.ts'
export { Detections } from './detections.ts'
export { EventFilms } from './event-films.ts'
export { cameraNotifications, motionRecorded } from './events.ts'
export { filmsAround, findOpenClip, namesOfClipsToCome } from './films.ts'
export { GapKeeper } from './gap-keeper.ts'
export { gapFacts } from './gap-leaf.ts'
export { GapLedger } from './gap-ledger.ts'
export { gapRoutes } from './gap-routes.ts'
export { CameraGap, cameraCreated } from './gap-schema.ts'
export { statedGaps } from './gap-store.ts'
export { type GapCounts, type LastingGap, lastingGaps, tallyGaps } from './gap-tally.ts'
export { Gaps } from './gaps.ts'
export { livePaths, liveRoutes } from './live-routes.ts'
export { LiveViews } from './live-views.ts'
export { cameraRoutes } from './routes.ts'
export { DetectionEvent, detectionShape } from './schema.ts'
export { scoreRoutes } from './score-routes.ts'
export { type Replays, Scores } from './scores.ts'
export { CamerasService } from './service.ts'
export { Snapshots } from './snapshots.ts'
export { cameraOfDetection, countByClipStatus, detectionsAfter, everyClip, statedDetections } from './store.ts'
export type { CameraGapRow, DetectionEventRow } from './tables.ts'
export { ViewBook } from './view-book.ts'
export type { WaitingClip, WaitingSeen } from './waiting-clips.ts'
export { WantedCameras } from './wanted.ts'
export { Watched } from './watched.ts'
