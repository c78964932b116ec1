export { actRoutes, batchPath } from './act-routes.ts'
export { batchBytesLimit } from './act-schema.ts'
export { Acts } from './acts.ts'
export { assetKeys, judgementsAfter, moveBefore } from './around.ts'
export { Corrections } from './corrections.ts'
export { deviceTimeHeaders, deviceTimeOf } from './device-time.ts'
export { ledgerNotifications } from './events.ts'
export { LedgerHead } from './head.ts'
export { eventsInSlices } from './history.ts'
export { misfits } from './judge.ts'
export type { EventPlace, HistoryFilter } from './look.ts'
export { type Occupant, occupantOf, standingIn } from './occupants.ts'
export { eventOfOpeningLine } from './opening.ts'
export { proofOf } from './photo-reuse.ts'
export { Photos, photoFile, photosPath } from './photos.ts'
export { placementFacts } from './placement-leaf.ts'
export { type Appended, type Asking, type Grounds, type LedgerSettings, Recorder, requestHash } from './recorder.ts'
export { ledgerRoutes } from './routes.ts'
export { NewPlacementEvent, PlacementEvent, placementEventTypes, slotStateShape, Warning } from './schema.ts'
export { type Asked, LedgerService } from './service.ts'
export {
  assetIsKnown,
  assetIsSeen,
  assetLocation,
  type Bounds,
  boundsOf,
  isPending,
  lastIdUpToSeq,
  newestInSlot,
  newestOfAsset,
  newestTimestampMs,
  type Placement,
  type SlotState,
  type SlotUse,
  settle,
  slotState,
  slotStates,
  slotUse,
  stateIn,
  type When,
} from './state.ts'
export { type Step, type Steps, type StepsOf, stepsOf } from './stays.ts'
export { callerMark, findEvent, headOf, type OpenedRow, toPlacementEvent } from './store.ts'
export { correctionsOf, walk } from './walk.ts'
export { explain, type WarningCode } from './warnings.ts'
export type { DecidedTime } from './when.ts'
