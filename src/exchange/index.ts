export { exchangeRoutes } from './routes.ts'
export { ExchangeService } from './service.ts'
