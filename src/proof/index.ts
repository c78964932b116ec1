export {
  type BundleTrust,
  type BundleVerdict,
  checkBundle,
  type HashedFile,
  hashedBytes,
  type MediaItem,
  type StepFinding,
} from './bundle.ts'
export { fromBase64, isObject, parseObject, toBase64 } from './bytes.ts'
export { followHandOvers, keyAfter } from './hand-overs.ts'
export {
  bigEndian,
  cosignatureMessage,
  cosignedMessage,
  isKeyName,
  type KeyParts,
  keyIdInput,
  largestNoteBytes,
  originOfLog,
  originPrefix,
  readCheckpointText,
  readNote,
  readSignatureLine,
  readTimedSignature,
  type SignatureType,
  type SignedNote,
  splitVkey,
} from './note.ts'
export {
  BadStep,
  type BundleStep,
  bundleFormat,
  largestBundleBytes,
  maxHandOvers,
  tlogProofFirstLine,
} from './reading.ts'
export { checkSignatures, readVerifierKey, readVerifierKeys, type VerifierKey } from './signatures.ts'
export { continuation, continues, inclusionSides, type TreeHead } from './tree.ts'
export type { Crypto } from './web-crypto.ts'
