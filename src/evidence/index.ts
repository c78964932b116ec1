export { type Mismatch, type Verification, verifyLedger } from './verify.ts'
