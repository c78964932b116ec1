export { absenceRoutes } from './absence/routes.ts'
export { Absence } from './absence/untouched.ts'
export { readStatement, verifyStatement } from './absence/verify-statement.ts'
export type { ProofBundle } from './bundle/bundle.ts'
export { packProof, type ReadProof, readProofs } from './bundle/package.ts'
export { type Proof, Proofs, type ProvableKind } from './bundle/proofs.ts'
export { proofRoutes } from './bundle/routes.ts'
export { type BundleVerdict, verifyBundle } from './bundle/verify-bundle.ts'
export type { Mismatch } from './findings.ts'
export { type HeldFile, hashOfFile, heldFiles } from './held-files.ts'
export { IncidentPackages } from './incident/incident-package.ts'
export { incidentPackageRoutes } from './incident/routes.ts'
export { type AuthoritySeen, TimeStamps } from './timestamps/stamping.ts'
export { type CheckpointSettings, Checkpoints, type SigningStop } from './transparency/checkpoints.ts'
export { acceptFork, type Fork, type ForkCause, forkLog, logKeysOf } from './transparency/fork.ts'
export { readHeadFile, type SignedHead, writeHeadFileNow } from './transparency/head-file.ts'
export { type Comparison, compareWithKept } from './transparency/kept-checkpoint.ts'
export {
  type KeyPairs,
  keyFiles,
  keyFolder,
  LogSigner,
  loadLogKeys,
  loadWitnessKey,
  originOfLog,
} from './transparency/keys.ts'
export {
  type NoteKey,
  readCheckpointText,
  readNote,
  readVkey,
  verifySignatures,
} from './transparency/note.ts'
export { PublishedLog } from './transparency/published-log.ts'
export { transparencyRoutes } from './transparency/routes.ts'
export { checkSignedHead } from './transparency/start-check.ts'
export { type Verification, type VerifiedLog, verifyLedger } from './verify.ts'
export { Witnesses, type WitnessSeen } from './witnesses/asking.ts'
export { Witness, witnessKeyOf } from './witnesses/being.ts'
export { EvidenceClient } from './witnesses/client.ts'
export { witnessRoutes } from './witnesses/routes.ts'
export type { Finding } from './witnesses/verdict.ts'
