export { listFile } from './list-file.ts'
export type { Cause } from './problems.ts'
export { importRoutes, slotListPath } from './routes.ts'
export {
  type ImportOptions,
  type ImportResult,
  ImportService,
  type ListKind,
  listKinds,
  listLimitBytes,
} from './service.ts'
export { everyListHash, findOpeningList, linksOfLists, listIsHidden } from './store.ts'
