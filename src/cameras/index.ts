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
export { detectionFacts } from './detection-leaf.ts'
export { DetectionRecorder } from './detection-recorder.ts'
export { Detections } from './detections.ts'
export { cameraNotifications, motionRecorded } from './events.ts'
export { filmsAround } from './films.ts'
export { cameraRoutes } from './routes.ts'
export { DetectionEvent } from './schema.ts'
export { CamerasService } from './service.ts'
export { cameraOfDetection, countByClipStatus, everyClip, statedDetections } from './store.ts'
export type { DetectionEventRow } from './tables.ts'
