export { floorRoutes } from './routes.ts'
export { FloorService } from './service.ts'
