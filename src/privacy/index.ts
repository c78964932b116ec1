export { Notices } from './notices.ts'
export { privacyRoutes } from './routes.ts'
