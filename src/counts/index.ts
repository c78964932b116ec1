export { type OpenDifference, openDifferences } from './differences.ts'
export { countRoutes } from './routes.ts'
export { scanSha256 } from './scan-statement.ts'
export { CountsService } from './service.ts'
