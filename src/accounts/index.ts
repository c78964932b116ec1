export { OpenSessions } from './open-sessions.ts'
export { accountRoutes } from './routes.ts'
export { NewAccount } from './schema.ts'
export { Accounts } from './service.ts'
