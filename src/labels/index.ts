export { PrintWorker } from './print-worker.ts'
export { labelRoutes } from './routes.ts'
export { LabelService } from './service.ts'
export { findJobRow, linksOfJobs } from './store.ts'
