export { absenceRoutes } from './absence/routes.ts'
export { Absence } from './absence/untouched.ts'
export { readStatement, verifyStatement } from './absence/verify-statement.ts'
export { checkBesideLeaves } from './beside-leaves.ts'
export { makeBundle, type ProofBundle, tlogProof } from './bundle/bundle.ts'
export { packProof, type ReadProof, readProofs } from './bundle/package.ts'
export { type Proof, Proofs, type ProvableKind } from './bundle/proofs.ts'
export { proofRoutes } from './bundle/routes.ts'
export { Bundle } from './bundle/schema.ts'
export type { KnownOutsiders } from './check-countersigned.ts'
export { type ExportedFile, type ExportedLog, wholeLog } from './export/whole-log.ts'
export type { Mismatch } from './findings.ts'
export { type HeldFile, hashOfFile, heldFiles } from './held-files.ts'
export { IncidentPackages } from './incident/incident-package.ts'
export { incidentPackageRoutes } from './incident/routes.ts'
export { Receipts } from './receipt/receipts.ts'
export { receiptRoutes } from './receipt/routes.ts'
export { type AuthoritySeen, TimeStamps } from './timestamps/stamping.ts'
export { type CheckpointSettings, Checkpoints, type SigningStop } from './transparency/checkpoints.ts'
export { acceptFork, type Fork, type ForkCause, forkLog, logKeysOf } from './transparency/fork.ts'
export { handOversOf, keysOfBox } from './transparency/hand-over.ts'
export { readHeadFile, type SignedHead, writeHeadFileNow } from './transparency/head-file.ts'
export { heldKeys } from './transparency/held-keys.ts'
export { type Comparison, compareWithKept } from './transparency/kept-checkpoint.ts'
export { KeyRing } from './transparency/key-ring.ts'
export {
  cosign,
  type KeyPairs,
  keyFiles,
  keyFolder,
  LogSigner,
  loadWitnessKey,
  publicBytes,
} from './transparency/keys.ts'
export { checkLeafCount, LeafCount, readLeafCount } from './transparency/leaf-count.ts'
export {
  type NoteKey,
  noteKey,
  readCheckpointText,
  readNote,
  readVkey,
  verifySignatures,
  vkeyOf,
} from './transparency/note.ts'
export { PublishedLog, signedNote } from './transparency/published-log.ts'
export { KeyRotation, type RotatedKeys } from './transparency/rotation.ts'
export { transparencyRoutes } from './transparency/routes.ts'
export { checkLogKeys, checkSignedHead } from './transparency/start-check.ts'
export { numberPath, readTilePath } from './transparency/tile-path.ts'
export type { VerifiedLog } from './verify.ts'
export {
  type FullVerification,
  outsidersOf,
  type Verification,
  type VerifyPart,
  verifyInTwoThreads,
  verifyLedger,
  verifyWithOutsiders,
} from './verify-all.ts'
export { largestWitnessBytes, readAddCheckpoint, sizeType } from './witnesses/add-checkpoint.ts'
export { Witnesses, type WitnessSeen } from './witnesses/asking.ts'
export { Witness, type WitnessAnswer, witnessKeyOf } from './witnesses/being.ts'
export { EvidenceClient, type Raw as PostedAnswer } from './witnesses/client.ts'
export { witnessRoutes } from './witnesses/routes.ts'
export { cosignatureIn, type WitnessTrouble } from './witnesses/verdict.ts'
