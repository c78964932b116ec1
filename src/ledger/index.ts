export { deviceTimeHeaders, deviceTimeOf } from './device-time.ts'
export { ledgerNotifications } from './events.ts'
export { LedgerHead } from './head.ts'
export { type Occupant, occupantOf, standingIn } from './occupants.ts'
export { eventOfOpeningLine } from './opening.ts'
export { Photos, photoFile, photosPath } from './photos.ts'
export { placementFacts } from './placement-leaf.ts'
export { type Appended, type Asking, type Grounds, type LedgerSettings, Recorder, requestHash } from './recorder.ts'
export { ledgerRoutes } from './routes.ts'
export { NewPlacementEvent, PlacementEvent, placementEventTypes, slotStateShape } from './schema.ts'
export { LedgerService } from './service.ts'
export {
  assetIsKnown,
  assetLocation,
  boundsOf,
  newestInSlot,
  newestOfAsset,
  newestTimestampMs,
  type SlotState,
  type SlotUse,
  slotState,
  slotStates,
  slotUse,
  stateIn,
  type When,
} from './state.ts'
export { callerMark, findEvent, headOf, type OpenedRow, toPlacementEvent } from './store.ts'
export { correctionsOf, type WalkFilter, type WalkPlace, walk } from './walk.ts'
