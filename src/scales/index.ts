export { scaleNotifications } from './events.ts'
export { scaleRoutes } from './routes.ts'
export { ScaleService } from './service.ts'
export { linksOfReadings } from './store.ts'
