import { type Countersigned, checkCountersigned, type KnownOutsiders } from './check-countersigned.ts'
import { type Verification, type VerifyOptions, verifyLedger } from './verify.ts'

/** A verification of everything on the box, with what others have signed. */
export type FullVerification = Verification & { readonly countersigned: Countersigned }

/**
 * Recomputes the ledger as `verifyLedger` does, and verifies the stored cosignatures of witnesses and time stamps by those whom the
 * config names. Rejects as it throws.
 */
export async function verifyWithOutsiders(
  dataDir: string,
  known: KnownOutsiders,
  options: VerifyOptions = {},
): Promise<FullVerification> {
  const ledger = verifyLedger(dataDir, options)
  const { mismatches, truncated, ...countersigned } = await checkCountersigned(dataDir, known)
  return {
    ...ledger,
    ok: ledger.ok && mismatches.length === 0,
    mismatches: [...ledger.mismatches, ...mismatches],
    truncated: ledger.truncated || truncated,
    countersigned,
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
