export { Mirror, type Visit } from './mirror.ts'
export { type RemoteLog, remoteLog } from './remote.ts'
export { mirrorApi } from './routes.ts'
