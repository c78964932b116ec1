export type { Mismatch } from './findings.ts'
export { type Verification, type VerifiedLog, verifyLedger } from './verify.ts'
