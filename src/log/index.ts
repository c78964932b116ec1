export { canonicalJson, type Json } from './canonical.ts'
export {
  addCheckpoint,
  type Checkpoint,
  checkpointCovering,
  checkpointsBefore,
  checkpointsBetween,
  countersignedCovering,
  newestCheckpoint,
  signedSize,
} from './checkpoints.ts'
export {
  addCosignature,
  addTimestamp,
  cosignaturesOf,
  lastCosignature,
  lastTimestamp,
  lastTimestampBy,
  timestampsOf,
} from './countersigned.ts'
export { erasedBefore, erasuresAfter, type KnownErasure, keepErasedIdentity, keepErasedName } from './erased.ts'
export { Evidence, EvidenceState, EvidenceStates, recordedOnly, type WitnessPolicy } from './evidence-states.ts'
export {
  clipToCome,
  type Hold,
  holdClosedClip,
  holdLike,
  holdMedia,
  holdsOn,
  refsHeldFor,
  releaseEvery,
  releaseMedia,
} from './holds.ts'
export { type LeafFacts, type LeafKind, type LeafVersion, leafOf } from './leaf.ts'
export {
  endOfLeaves,
  hashesBetween,
  lastLeafRow,
  leaves,
  leavesBetween,
  leavesHolding,
  statedSql,
} from './leaves.ts'
export {
  everyPerson,
  type KnownPerson,
  linkedColumns,
  linkedLeavesSql,
  linkedRowsSql,
  people,
  peopleCalled,
  peopleNamedOnly,
  peopleOfInstance,
  personById,
  unlinkPerson,
  withoutLinksSql,
} from './links.ts'
export {
  type AppendedLeaf,
  identifyLog,
  idOfLog,
  type KnownLog,
  knownLogs,
  type LeafPlace,
  Log,
  type LogIdentity,
  leafCount,
  lookAtLog,
  newestLogNumber,
  newIdentity,
  numberOfLog,
} from './log.ts'
export {
  addMedia,
  findMedia,
  heldPhotos,
  linksOfMedia,
  type Media,
  mediaBehind,
  type PhotoFile,
  photosAfter,
  photosBehind,
} from './media.ts'
export { leafHash, MerkleFrontier, nodeHash, sha256 } from './merkle.ts'
export { type OpenedField, openedLink, openedPerson, openedText } from './opened.ts'
export {
  commitmentOf,
  endOfTexts,
  forgetName,
  isText,
  Openings,
  openings,
  openingsBehind,
  textsBetween,
  valueBehind,
} from './openings.ts'
export {
  erased,
  erasedName,
  type Identity,
  identityText,
  leafPath,
  type Meant,
  mayBeSame,
  meantBy,
  nameSql,
  openedAs,
  People,
  Person,
  personAs,
  personIn,
  type RowPlace,
  readIdentity,
  rowPath,
  shownWithout,
  version1Of,
} from './people.ts'
export {
  consistencyPath,
  inclusionPath,
  isContinuation,
  type NodeAt,
  rootOf,
  rootOfPath,
  type TreeHead,
} from './proofs.ts'
export type { Provable, ProvableFile } from './provable.ts'
export {
  type MediaRemovalRow,
  type Removal,
  removalFacts,
  removalOf,
  removalsOfDetection,
  removeMedia,
  returnMedia,
  statedRemovals,
  type UnsealedRemoval,
  unlinked,
  unlinksAfter,
} from './removals.ts'
export { type Stated, stated } from './tables.ts'
export {
  entryBundle,
  leafOfLog,
  nodesOf,
  rootOfTile,
  storedTile,
  storedTiles,
  storeTiles,
  tileBeyond,
  tileHashes,
  tileWidth,
  widthOfTile,
} from './tiles.ts'
