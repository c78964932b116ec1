export { Box, type Heat } from './box.ts'
export { boxObservations, imageObservations } from './box-sources.ts'
export { overall } from './checks.ts'
export { backupObservations, segmentObservations, storageObservations, uploadObservations } from './copies-sources.ts'
export { healthCreated, notificationOf } from './events.ts'
export {
  conflictObservations,
  hubObservations,
  signingObservation,
  stampObservations,
  witnessObservations,
} from './evidence-sources.ts'
export { type Component, reasonOf } from './kinds.ts'
export { LastDay } from './last-day.ts'
export { Metrics } from './metrics.ts'
export { healthRoutes } from './routes.ts'
export {
  cameraObservations,
  clipsObservation,
  clockObservation,
  commitsObservation,
  configObservation,
  databaseObservation,
  diskObservation,
  ffmpegObservation,
  photosObservation,
  preRollObservations,
  refusedObservation,
} from './sources.ts'
export { hotCelsius } from './thermometer.ts'
export { durationWords, type Observation } from './troubles.ts'
export { HealthWatch } from './watch.ts'
