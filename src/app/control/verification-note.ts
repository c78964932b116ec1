import { join } from 'node:path'
import type { Verification } from '../../evidence/index.ts'
import { isoTime, readFileIfThere, writeFileDurably } from '../../platform/index.ts'

/** Result of the last recomputation of the whole ledger. */
export type VerificationNote = { readonly at: string; readonly ok: boolean; readonly leaves: number }

const noteFile = (dataDir: string): string => join(dataDir, 'verified.json')

/** Keeps the outcome of a verification in the data folder. A folder that takes no writes, such as a copy, stays as it is. */
export function noteVerification(dataDir: string, { ok, size }: Verification, nowMs: number): void {
  const note: VerificationNote = { at: isoTime(nowMs), ok, leaves: size }
  try {
    writeFileDurably(noteFile(dataDir), `${JSON.stringify(note)}\n`, 0o640)
  } catch {
    // Only an age is lost; the result itself was printed.
  }
}

/** Returns the outcome of the last verification that was noted; undefined: there is none, or it cannot be read. */
export function lastVerification(dataDir: string): VerificationNote | undefined {
  try {
    const bytes = readFileIfThere(noteFile(dataDir))
    const { at, ok, leaves } = JSON.parse(bytes?.toString('utf8') ?? 'null') as VerificationNote
    return Number.isNaN(Date.parse(at)) ? undefined : { at, ok, leaves }
  } catch {
    return undefined
  }
}
