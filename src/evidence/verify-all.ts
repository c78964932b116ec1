import { databaseFile, executor, type FileProblem, fileProblems, openReader } from '../database/index.ts'
import { type Countersigned, checkCountersigned, type KnownOutsiders } from './check-countersigned.ts'
import { beginFileCheck } from './file-check-thread.ts'
import { joinFindings } from './findings.ts'
import { type Verification, type VerifyOptions, verifyLedger } from './verify.ts'

/** A verification of everything on the box, with what others have signed. */
export type FullVerification = Verification & { readonly countersigned: Countersigned }

/**
 * Recomputes the ledger as `verifyLedger` does, and verifies the stored cosignatures of witnesses and time stamps by those whom the
 * config names. The file of a large ledger is checked in a second thread meanwhile. Rejects as `verifyLedger` throws.
 */
export async function verifyWithOutsiders(
  dataDir: string,
  known: KnownOutsiders,
  options: VerifyOptions = {},
): Promise<FullVerification> {
  const { file, ledger } = await verifyInTwoThreads(dataDir, options)
  const {
    mismatches: ofOthers,
    truncated: areMoreOfOthers,
    ...countersigned
  } = await checkCountersigned(dataDir, known)
  const { mismatches, truncated } = joinFindings({ mismatches: file }, ledger, {
    mismatches: ofOthers,
    truncated: areMoreOfOthers,
  })
  return { ...ledger, ok: mismatches.length === 0, mismatches, truncated, countersigned }
}

async function verifyInTwoThreads(
  dataDir: string,
  options: VerifyOptions,
): Promise<{ file: readonly FileProblem[]; ledger: Verification }> {
  const check = beginFileCheck(databaseFile(dataDir))
  if (!check) return { file: [], ledger: verifyLedger(dataDir, options) }
  try {
    const ledger = verifyLedger(dataDir, { ...options, isFileCheckedElsewhere: true })
    return { file: (await check.found) ?? fileProblemsHere(dataDir), ledger }
  } finally {
    await check.stop()
  }
}

function fileProblemsHere(dataDir: string): FileProblem[] {
  const db = openReader(databaseFile(dataDir))
  try {
    return fileProblems(executor(db))
  } finally {
    db.close()
  }
}

/** Returns those others whom a config names. */
export function outsidersOf({
  witnesses,
  timestamps,
}: {
  readonly witnesses: readonly { readonly vkey: string }[]
  readonly timestamps: KnownOutsiders['authorities']
}): KnownOutsiders {
  return {
    witnesses: witnesses.map(({ vkey }) => vkey),
    authorities: timestamps.map(({ url, caFile }) => ({ url, caFile })),
  }
}
