import { join } from 'node:path'
import { databaseFile, executor, openReader, type ReadTx } from '../database/index.ts'
import {
  heldKeys,
  LogSigner,
  readCheckpointText,
  readNote,
  type SignedHead,
  type Verification,
  verifyLedger,
  verifySignatures,
} from '../evidence/index.ts'
import { type KnownLog, knownLogs } from '../log/index.ts'
import { originOfLog } from '../proof/index.ts'
import type { ComingFacts } from './manifest.ts'
import { rootOfLeaves } from './root-of-leaves.ts'
import { BackupFault } from './unpack.ts'

/** An unpacked ledger that was recomputed and holds. */
export type VerifiedCopy = {
  readonly logs: readonly KnownLog[]
  readonly log: KnownLog
  /** Root over all leaves, hex. */
  readonly root: string
  /** Head of the newest checkpoint in the backup. */
  readonly signed: SignedHead
  /** Files that rows name and that are not there. */
  readonly lacking: number
  readonly events: number
}

/**
 * Recomputes an unpacked ledger from its first leaf and compares it with its manifest and its checkpoint. Throws BackupFault with
 * the mismatches.
 */
export function verifyCopy(folder: string, manifest: ComingFacts): VerifiedCopy {
  const found = verifyLedger(folder, { mayLackFiles: true })
  if (!found.ok) throw new BackupFault(`its ledger does not verify:\n${mismatchLines(found)}`)
  const { logId, siteId, size } = manifest
  if (found.logId !== logId || found.siteId !== siteId || found.size !== size) {
    throw new BackupFault(
      `its manifest states ${size} leaves of log ${logId} of site ${siteId}, and its ledger has ${found.size} of log ${found.logId} of site ${found.siteId}`,
    )
  }
  const db = openReader(databaseFile(folder))
  try {
    const tx = executor(db)
    const logs = knownLogs(tx)
    const log = logs.at(-1)
    if (!log) throw new BackupFault('its ledger has no log')
    const signed = checkCheckpoint(tx, folder, manifest, log)
    return { logs, log, root: found.root, signed, lacking: found.lacking ?? 0, events: found.events }
  } finally {
    db.close()
  }
}

/** Returns the mismatches of a verification as lines. */
export function mismatchLines({ mismatches, truncated }: Verification): string {
  const most = 10
  const lines = mismatches.slice(0, most).map(({ where, what }) => `  ${where}: ${what}`)
  return [...lines, ...(truncated || mismatches.length > most ? ['  … and more'] : [])].join('\n')
}

/** Checks that keys of the backup sign the manifest's checkpoint, and that its root is that of the leaves. */
function checkCheckpoint(
  tx: ReadTx,
  folder: string,
  { checkpoint, keys: vkeys }: ComingFacts,
  log: KnownLog,
): SignedHead {
  const signer = new LogSigner(originOfLog(log), heldKeys(tx, folder, log).pairs)
  const note = readNote(checkpoint)
  const head = note && readCheckpointText(note.text)
  if (!note || !head || head.isExtended) throw new BackupFault('its checkpoint is not a signed checkpoint')
  if (head.origin !== signer.origin) {
    throw new BackupFault(`its checkpoint is one of ${head.origin}, and its ledger is ${signer.origin}`)
  }
  const signatures = verifySignatures(note, signer.keys)
  if (signatures.length < signer.keys.length || signatures.some(({ holds }) => !holds)) {
    throw new BackupFault('its checkpoint is not signed by the keys of its log')
  }
  if (signer.vkeys.some((vkey) => !vkeys.includes(vkey)))
    throw new BackupFault('its keys are not those of its manifest')
  if (head.size > log.size || !rootOfLeaves(tx, log.number, head.size).equals(head.root)) {
    throw new BackupFault(`the first ${head.size} leaves of its log do not have the root that was signed`)
  }
  return { logId: log.logId, size: head.size, root: head.root }
}

/**
 * Returns the folder in which the members of a backup are unpacked. It is beside the ledger, so that they can take its place by
 * renaming.
 */
export const stagingFolder = (dataDir: string): string => join(dataDir, 'restore.part')
