export { listFile } from './list-file.ts'
export type { Cause } from './problems.ts'
export { intakeRoutes } from './routes.ts'
export {
  type ImportOptions,
  type ImportResult,
  IntakeService,
  type ListKind,
  listKinds,
  listLimitBytes,
} from './service.ts'
export { listIsHidden } from './store.ts'
