import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile, executor, newestSchema, openReader, openWriter } from '../database/index.ts'
import { knownLogs } from '../log/index.ts'
import { errorMessage } from '../platform/faults.ts'
import type { RandomBytes } from '../platform/index.ts'
import { DavFolder, type DavFolderAccess } from '../upload/index.ts'
import { demandTimeOfName, unpackFetched } from './fetch.ts'
import { Pace, stepBack } from './pace.ts'
import { loadRecoveryKey } from './recovery-key.ts'
import { rootOfLeaves } from './root-of-leaves.ts'
import { SourceFault } from './segments/chain.ts'
import { Seal } from './segments/seal.ts'
import { folderSource } from './segments/source.ts'
import { stageSegments } from './segments/stage.ts'
import { BackupFault, unpackBackup } from './unpack.ts'
import { type VerifiedCopy, verifyCopy } from './verify-staged.ts'

/** A backup in a file, or a sealed one below a folder of a WebDAV server. */
export type BackupAt = { readonly file: string } | { readonly folder: DavFolderAccess; readonly path: string }

export type RehearsalOrder = {
  readonly backup: BackupAt
  /** The folder of the ledger that lives. */
  readonly dataDir: string
  readonly reserveBytes: number
  readonly nowMs: number
}

/** A backup that would come back as it was. */
export type Rehearsed = { readonly logId: string; readonly size: number; readonly rootHash: string }

const rehearsalFolder = (dataDir: string) => join(dataDir, 'rehearsal.part')

/** Removes what a killed rehearsal left: a copy of the ledger that no erasure reaches. The caller has the lock of the data folder. */
export function removeLeftRestore(dataDir: string): void {
  rmSync(rehearsalFolder(dataDir), { recursive: true, force: true })
}

/**
 * Restores a backup beside the living ledger and verifies all of it. Compares its root with that of the first leaves of the living
 * log, and removes it again. Photos and clips are left out. Rejects with the fault.
 */
export async function rehearse(
  { backup, dataDir, reserveBytes, nowMs }: RehearsalOrder,
  random: RandomBytes,
): Promise<Rehearsed> {
  stepBack()
  const into = rehearsalFolder(dataDir)
  const pace = new Pace(true)
  try {
    rmSync(into, { recursive: true, force: true })
    mkdirSync(into, { mode: 0o700 })
    const asked = { into, newestSchema, reserveBytes, media: false, onPiece: () => pace.rest() }
    const manifest =
      'file' in backup
        ? unpackBackup(backup.file, asked)
        : await unpackFetched(new DavFolder(backup.folder), backup.path, {
            ...asked,
            recoveryKey: loadRecoveryKey(dataDir, random),
          })
    openWriter({ dataDir: into, nowMs }).close()
    const copy = verifyCopy(into, manifest)
    compareWithLiving(dataDir, copy)
    demandTimeOfName('file' in backup ? backup.file : backup.path, manifest)
    return { logId: copy.log.logId, size: copy.log.size, rootHash: copy.root }
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
}

export type SegmentsRehearsal = {
  /** The folder that holds the segments, or the way to it. */
  readonly source: string | DavFolderAccess
  readonly siteId: string
  /** The folder of the ledger that lives. */
  readonly dataDir: string
  readonly nowMs: number
}

/** Outcome of a rehearsal. */
export type SegmentsRehearsed = {
  /** Null: the segments come back as they should. */
  readonly fault: string | null
  /** Whether the segments themselves are wrong; false when they could not be read. */
  readonly isDamaged: boolean
}

/**
 * Restores the newest segments beside the living ledger, as `rehearse` does with a backup. Returns a fault of the segments; does
 * not reject for it.
 */
export async function rehearseSegments(order: SegmentsRehearsal, random: RandomBytes): Promise<SegmentsRehearsed> {
  stepBack()
  const { source, siteId, dataDir, nowMs } = order
  const into = rehearsalFolder(dataDir)
  const pace = new Pace(true)
  try {
    rmSync(into, { recursive: true, force: true })
    mkdirSync(into, { mode: 0o700 })
    const recoveryKey = loadRecoveryKey(dataDir, random)
    const { facts } = await stageSegments({
      source: typeof source === 'string' ? folderSource(source) : new DavFolder(source),
      siteId,
      recoveryKey,
      seal: new Seal(recoveryKey),
      asFarAsWhole: false,
      into,
      nowMs,
      onSegment: () => pace.rest(),
    })
    compareWithLiving(dataDir, verifyCopy(into, facts))
    return { fault: null, isDamaged: false }
  } catch (error) {
    const fault = errorMessage(error)
    return { fault, isDamaged: error instanceof BackupFault && !(error instanceof SourceFault) }
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
}

function compareWithLiving(dataDir: string, { log, root }: VerifiedCopy): void {
  const db = openReader(databaseFile(dataDir))
  try {
    const tx = executor(db)
    const living = knownLogs(tx).find(({ logId }) => logId === log.logId)
    if (!living) throw new BackupFault(`its log ${log.logId} is not in the ledger of this box`)
    if (living.size < log.size) {
      throw new BackupFault(`it has ${log.size} leaves of the log, and the ledger of this box only ${living.size}`)
    }
    if (rootOfLeaves(tx, living.number, log.size).toString('hex') !== root) {
      throw new BackupFault(`the first ${log.size} leaves of the log of this box have another root than the backup`)
    }
  } finally {
    db.close()
  }
}
