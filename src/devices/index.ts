export { deviceRoutes, enrolPath } from './routes.ts'
export { DeviceService } from './service.ts'
export { SignedUrls } from './signed-urls.ts'
export { DeviceVerifier } from './verifier.ts'
