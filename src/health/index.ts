export { boxSampler } from './box.ts'
export { healthCreated, notificationOf } from './events.ts'
export { Metrics } from './metrics.ts'
export { healthRoutes } from './routes.ts'
export {
  backupObservations,
  cameraObservations,
  clockObservation,
  conflictObservations,
  databaseObservation,
  diskObservation,
  ffmpegObservation,
  preRollObservations,
  signingObservation,
  stampObservations,
  storageObservations,
  uploadObservations,
  witnessObservations,
} from './sources.ts'
export { HealthWatch } from './watch.ts'
