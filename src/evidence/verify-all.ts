import { type BesideLeaves, checkBesideLeaves } from './beside-leaves.ts'
import { beginCheckBesideLeaves } from './beside-leaves-thread.ts'
import { type Countersigned, checkCountersigned, type KnownOutsiders } from './check-countersigned.ts'
import { joinFindings } from './findings.ts'
import { type VerifiedLeaves, type VerifyOptions, verifyLeaves } from './verify.ts'

/** What a verification of a ledger came to. */
export type Verification = VerifiedLeaves & {
  readonly ok: boolean
  /** Openings and people that were compared with commitments. */
  readonly openings: number
}

/** A verification of everything on the box, with what others have signed. */
export type FullVerification = Verification & { readonly countersigned: Countersigned }

/**
 * Checks the file, and recomputes everything from the first leaf (`checkBesideLeaves`, `verifyLeaves`), in this thread. It cannot see
 * a tail that was cut off together with its rows: for that, size and root must be known from outside the box. Throws ExitError when
 * the file cannot be opened.
 */
export function verifyLedger(dataDir: string, options: VerifyOptions = {}): Verification {
  return joined(checkBesideLeaves(dataDir), verifyLeaves(dataDir, options))
}

/**
 * Recomputes the ledger as `verifyLedger` does, and verifies the stored cosignatures of witnesses and time stamps by those whom the
 * config names. What stands beside the leaves of a large ledger is checked in a second thread meanwhile. Rejects as `verifyLedger`
 * throws.
 */
export async function verifyWithOutsiders(
  dataDir: string,
  known: KnownOutsiders,
  options: VerifyOptions = {},
): Promise<FullVerification> {
  const ledger = await verifyInTwoThreads(dataDir, options)
  const {
    mismatches: ofOthers,
    truncated: areMoreOfOthers,
    ...countersigned
  } = await checkCountersigned(dataDir, known)
  const { mismatches, truncated } = joinFindings(ledger, { mismatches: ofOthers, truncated: areMoreOfOthers })
  return { ...ledger, ok: mismatches.length === 0, mismatches, truncated, countersigned }
}

async function verifyInTwoThreads(dataDir: string, options: VerifyOptions): Promise<Verification> {
  const check = beginCheckBesideLeaves(dataDir)
  if (!check) return verifyLedger(dataDir, options)
  try {
    const leaves = verifyLeaves(dataDir, options)
    return joined((await check.found) ?? checkBesideLeaves(dataDir), leaves)
  } finally {
    await check.stop()
  }
}

function joined({ openings, ...beside }: BesideLeaves, leaves: VerifiedLeaves): Verification {
  const { mismatches, truncated } = joinFindings(beside, leaves)
  return { ...leaves, ok: mismatches.length === 0, openings, mismatches, truncated }
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
