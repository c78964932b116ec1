export { Box, type Heat, hotCelsius } from './box.ts'
export { overall } from './checks.ts'
export { healthCreated, notificationOf } from './events.ts'
export { LastDay } from './last-day.ts'
export { Metrics } from './metrics.ts'
export { healthRoutes } from './routes.ts'
export {
  backupObservations,
  boxObservations,
  cameraObservations,
  clipsObservation,
  clockObservation,
  configObservation,
  conflictObservations,
  databaseObservation,
  diskObservation,
  ffmpegObservation,
  hubObservations,
  imageObservations,
  preRollObservations,
  segmentObservations,
  signingObservation,
  stampObservations,
  storageObservations,
  uploadObservations,
  witnessObservations,
} from './sources.ts'
export { HealthWatch } from './watch.ts'
