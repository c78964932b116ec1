export type { Mismatch } from './findings.ts'
export { type Verification, verifyLedger } from './verify.ts'
