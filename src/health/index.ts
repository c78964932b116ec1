export { boxSampler } from './box.ts'
export { diskStatus, freeBytes, type Probe } from './checks.ts'
export { Metrics } from './metrics.ts'
export { healthRoutes } from './routes.ts'
