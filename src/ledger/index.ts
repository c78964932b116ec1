export { judgementsAfter, moveBefore } from './derive/around.ts'
export { eventsOfAsset } from './derive/asset-events.ts'
export { disputedPlacement, momentOf, type OpenDispute, openDisputes } from './derive/disputes.ts'
export { eventsInSlices } from './derive/history.ts'
export { assetLocation, newestMoveOfAsset, newestPlacementOf, nextInSlot } from './derive/location.ts'
export type { EventPlace, HistoryFilter } from './derive/look.ts'
export { occupantOf, putInto } from './derive/occupants.ts'
export { proofOf } from './derive/photo-reuse.ts'
export { slotMarks } from './derive/slot-marks.ts'
export {
  assetIsKnown,
  assetIsSeen,
  type Bounds,
  boundsOf,
  isPending,
  lastIdReceivedBy,
  lastIdUpToSeq,
  newestInSlot,
  newestTimestampMs,
  type SlotState,
  type SlotUse,
  settle,
  slotState,
  slotStates,
  slotUse,
  stateIn,
  type When,
} from './derive/state.ts'
export { type Step, type Steps, type StepsOf, stepsOf } from './derive/stays.ts'
export { beforeFirstTouch, touchesOfSlot } from './derive/touches.ts'
export { correctionsOf, walk } from './derive/walk.ts'
export { ledgerNotifications } from './events.ts'
export { misfits } from './judge.ts'
export { peopleOf } from './provable.ts'
export { actRoutes, batchPath } from './record/act-routes.ts'
export { batchBytesLimit, batchLimit } from './record/act-schema.ts'
export { Acts } from './record/acts.ts'
export { Corrections } from './record/corrections.ts'
export { deviceTimeHeaders, deviceTimeOf } from './record/device-time.ts'
export { LedgerHead } from './record/head.ts'
export { eventOfOpeningLine, holdsOpeningIn, uncountedOpenings } from './record/opening.ts'
export { placementFacts } from './record/placement-leaf.ts'
export { type EventOrigin, type OnRecorded, Recorder, requestHash } from './record/recorder.ts'
export { resolutionFacts } from './record/resolution-leaf.ts'
export { Resolutions } from './record/resolutions.ts'
export { type TimedAsk, timedAskOf } from './record/timed-ask.ts'
export {
  endOfResolutions,
  leavesOfResolutions,
  linksOfResolutions,
  type OpenedResolution,
  resolutionOf,
  resolutionsBehind,
  statedResolutions,
} from './resolution-store.ts'
export { ledgerRoutes } from './routes.ts'
export {
  NewPlacementEvent,
  PlacementEvent,
  placementEventTypes,
  slotStateShape,
  Warning,
} from './schema.ts'
export { LedgerService } from './service.ts'
export {
  callerMark,
  countUntold,
  findEvent,
  headOf,
  linksOfEvents,
  markKey,
  notesOf,
  type OpenedRow,
  statedPlacements,
  toPlacementEvent,
  warehouseOfEvent,
  warehousesOfPhotoSql,
} from './store.ts'
export type { PlacementEventRow, ResolutionRow } from './tables.ts'
export { linkedEvents, unlinkEvents } from './unlinking.ts'
export { asksForRegistered, explain, type Requirements } from './warnings.ts'
