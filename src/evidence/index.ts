export type { Mismatch } from './findings.ts'
export { incidentFacts, type UnsealedIncidentChange } from './incident-leaf.ts'
export { reportFacts, reportFile, type UnsealedReport } from './report-leaf.ts'
export { type Verification, type VerifiedLog, verifyLedger } from './verify.ts'
