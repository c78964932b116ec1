export { byteOrderMark, csvHead, csvLines, exactCsv, toCsv } from './csv.ts'
export { exchangeRoutes } from './routes.ts'
export { ExchangeService } from './service.ts'
export { streamOf } from './text-stream.ts'
