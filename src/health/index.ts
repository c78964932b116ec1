export { boxSampler } from './box.ts'
export { healthCreated, notificationOf } from './events.ts'
export { Metrics } from './metrics.ts'
export { healthRoutes } from './routes.ts'
export {
  cameraObservations,
  clockObservation,
  databaseObservation,
  diskObservation,
  ffmpegObservation,
  preRollObservations,
  storageObservations,
  uploadObservations,
} from './sources.ts'
export { HealthWatch } from './watch.ts'
