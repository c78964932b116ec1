export { LedgerHead } from './head.ts'
export { Photos, photoFile, photosPath } from './photos.ts'
export { placementFacts } from './placement-leaf.ts'
export { ledgerRoutes } from './routes.ts'
export { slotStateShape } from './schema.ts'
export { LedgerService, type LedgerSettings } from './service.ts'
export {
  assetIsKnown,
  assetLocation,
  type SlotState,
  type SlotUse,
  slotState,
  slotStates,
  slotUse,
  stateIn,
  type When,
} from './state.ts'
export { headOf } from './store.ts'
