export { canonicalJson, type Json } from './canonical.ts'
export { clipToCome, type Hold, holdClosedClip, holdMedia, holdsOn, releaseMedia } from './holds.ts'
export { type LeafFacts, type LeafKind, type LeafVersion, leafOf } from './leaf.ts'
export {
  type AppendedLeaf,
  identifyLog,
  type KnownLog,
  knownLogs,
  type LeafPlace,
  Log,
  type LogIdentity,
} from './log.ts'
export { addMedia, findMedia, type Media } from './media.ts'
export { leafHash, MerkleFrontier, sha256 } from './merkle.ts'
export { commitmentOf, Openings } from './openings.ts'
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
  People,
  Person,
  personIn,
  type RowPlace,
  readIdentity,
  rowPath,
  shownWithout,
  version1Of,
} from './people.ts'
