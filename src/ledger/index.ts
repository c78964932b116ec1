export { LedgerHead } from './head.ts'
export { Photos, photoFile, photosPath } from './photos.ts'
export { placementFacts } from './placement-leaf.ts'
export { ledgerRoutes } from './routes.ts'
export { PlacementEvent, placementEventTypes, slotStateShape } from './schema.ts'
export { LedgerService, type LedgerSettings } from './service.ts'
export {
  assetIsKnown,
  assetLocation,
  boundsOf,
  type SlotState,
  type SlotUse,
  slotState,
  slotStates,
  slotUse,
  stateIn,
  type When,
} from './state.ts'
export { findEvent, headOf, type OpenedRow, toPlacementEvent } from './store.ts'
export { correctionsOf, type WalkFilter, type WalkPlace, walk } from './walk.ts'
