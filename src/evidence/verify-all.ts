import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { databaseFile } from '../database/index.ts'
import { workerEntry } from '../platform/bundle.ts'
import { type BesideLeaves, checkBesideLeaves } from './beside-leaves.ts'
import { type Countersigned, checkCountersigned, type KnownOutsiders } from './check-countersigned.ts'
import { joinFindings } from './findings.ts'
import { type VerifiedLeaves, type VerifyOptions, verifyLeaves } from './verify.ts'

/** A smaller file is checked sooner than a thread has started. */
const worthAThreadBytes = 16 * 1024 * 1024
/** These limit JavaScript alone; SQLite's memory is separate. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 }

type RunningCheck = {
  /** Resolves with the result. Rejects when the thread could not do it, such as for want of memory. */
  readonly found: Promise<BesideLeaves>
  /** Ends the thread. */
  stop(): Promise<unknown>
}

/** Begins `checkBesideLeaves` in a separate thread. Returns undefined for a ledger that is not worth it. */
function beginCheckBesideLeaves(dataDir: string): RunningCheck | undefined {
  const bytes = statSync(databaseFile(dataDir), { throwIfNoEntry: false })?.size ?? 0
  if (bytes < worthAThreadBytes) return undefined
  const worker = new Worker(workerEntry('beside-leaves'), { workerData: dataDir, resourceLimits })
  const found = new Promise<BesideLeaves>((resolve, reject) => {
    const fail = (why: string, cause?: unknown) =>
      reject(new Error(`the thread that checks the database file, texts and people failed: ${why}`, { cause }))
    worker.once('message', resolve)
    worker.once('error', (error) => fail(error.message, error))
    worker.once('exit', () => fail('it ended too soon'))
  })
  return { found, stop: () => worker.terminate() }
}

/** Result of a verification of a ledger. */
export type Verification = VerifiedLeaves & {
  readonly ok: boolean
  /** Openings and people that were compared with commitments. */
  readonly openings: number
}

/** Result of a verification of everything on the box, with countersignatures. */
export type FullVerification = Verification & { readonly countersigned: Countersigned }

/**
 * Checks the file, and recomputes everything from the first leaf (`checkBesideLeaves`, `verifyLeaves`), in this thread. It cannot see
 * a tail that was cut off together with its rows: for that, size and root must be known from outside the box. Throws ExitError when
 * the file cannot be opened.
 */
export function verifyLedger(dataDir: string, options: VerifyOptions = {}): Verification {
  return joined(checkBesideLeaves(dataDir), verifyLeaves(dataDir, options))
}

/** Part that one thread verifies: everything, or only the leaves with all that they state, while another thread checks the rest. */
export type VerifyPart = 'everything' | 'leaves'

/**
 * Recomputes the ledger as `verifyLedger` does, and verifies the stored cosignatures of witnesses and time stamps by those whom the
 * config names. Rejects as `verifyLedger` throws.
 */
export async function verifyWithOutsiders(
  dataDir: string,
  known: KnownOutsiders,
  { part = 'everything', ...options }: VerifyOptions & { readonly part?: VerifyPart } = {},
): Promise<FullVerification> {
  const beside = part === 'everything' ? checkBesideLeaves(dataDir) : nothingBeside
  const ledger = joined(beside, verifyLeaves(dataDir, options))
  const {
    mismatches: ofOthers,
    truncated: areMoreOfOthers,
    ...countersigned
  } = await checkCountersigned(dataDir, known)
  const { mismatches, truncated } = joinFindings(ledger, { mismatches: ofOthers, truncated: areMoreOfOthers })
  return { ...ledger, ok: mismatches.length === 0, mismatches, truncated, countersigned }
}

/**
 * Has a ledger verified by `verify`; for a large one, of its leaves alone, while another thread checks what is stored beside them.
 * Only for the main thread: a thread of the single binary cannot start one. Rejects when either fails.
 */
export async function verifyInTwoThreads(
  dataDir: string,
  verify: (part: VerifyPart) => Promise<FullVerification>,
): Promise<FullVerification> {
  const check = beginCheckBesideLeaves(dataDir)
  if (!check) return verify('everything')
  try {
    const [leaves, beside] = await Promise.all([verify('leaves'), check.found])
    return joined(beside, leaves)
  } finally {
    await check.stop()
  }
}

const nothingBeside: BesideLeaves = { openings: 0, mismatches: [], truncated: false }

function joined<Leaves extends VerifiedLeaves>(
  { openings, ...beside }: BesideLeaves,
  leaves: Leaves,
): Leaves & Verification {
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
