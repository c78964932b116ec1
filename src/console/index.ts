export { consoleRoutes, sessionPath } from './routes.ts'
