export { type CameraRule, demandExport, mayControl, mayExport, maySee, whySees } from './access.ts'
export { CameraClocks, type MeasuredClock } from './camera-clocks.ts'
export { ConfiguredCameras } from './configured.ts'
export type { DetectionCopies, OpenClip } from './copies.ts'
export {
  type ClipFile,
  type ClipPlace,
  camerasWithClips,
  clipsAfter,
  clipsOfCamera,
  fileOf,
  holdsOnClip,
  takeClipOff,
} from './detections/clip-files.ts'
export { Detections } from './detections/detections.ts'
export { EventFilms } from './detections/event-films.ts'
export { cameraNotifications, motionRecorded } from './detections/events.ts'
export { detectionFacts } from './detections/leaf.ts'
export { DetectionRecorder } from './detections/recorder.ts'
export type { WaitingClip, WaitingSeen } from './detections/waiting-clips.ts'
export { filmsAround, findOpenClip, namesOfClipsToCome } from './films/films.ts'
export { Gaps } from './gaps/gaps.ts'
export { GapKeeper } from './gaps/keeper.ts'
export { gapFacts } from './gaps/leaf.ts'
export { GapLedger } from './gaps/ledger.ts'
export { gapRoutes } from './gaps/routes.ts'
export { CameraGap, cameraCreated } from './gaps/schema.ts'
export { statedGaps } from './gaps/store.ts'
export { type GapCounts, type LastingGap, lastingGaps, tallyGaps } from './gaps/tally.ts'
export { livePaths, liveRoutes } from './live/routes.ts'
export { Snapshots } from './live/snapshots.ts'
export { ViewBook } from './live/view-book.ts'
export { LiveViews } from './live/views.ts'
export { cameraRoutes } from './routes.ts'
export { Camera, DetectionEvent, detectionShape } from './schema.ts'
export { scoreRoutes } from './scores/routes.ts'
export { type Replays, Scores } from './scores/scores.ts'
export { CamerasService } from './service.ts'
export { cameraOfDetection, countByClipStatus, detectionsAfter, everyClip, statedDetections } from './store.ts'
export type { CameraGapRow, DetectionEventRow } from './tables.ts'
export { WantedCameras } from './wanted.ts'
export { Watched } from './watched.ts'
