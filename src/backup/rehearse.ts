import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile, executor, newestSchema, openReader, openWriter } from '../database/index.ts'
import { knownLogs } from '../log/index.ts'
import { Pace, stepBack } from './pace.ts'
import { rootOfLeaves } from './root-of-leaves.ts'
import { BackupFault, unpackBackup } from './unpack.ts'
import { type VerifiedCopy, verifyCopy } from './verify-staged.ts'

export type RehearsalOrder = {
  readonly file: string
  /** The folder of the ledger that lives. */
  readonly dataDir: string
  readonly reserveBytes: number
  readonly nowMs: number
}

/** A backup that would come back as it was. */
export type Rehearsed = { readonly logId: string; readonly size: number; readonly rootHash: string }

const rehearsalFolder = (dataDir: string) => join(dataDir, 'rehearsal.part')

/**
 * Restores a backup beside the ledger that lives, verifies all of it, compares its root with that of the first leaves of the
 * living log, and removes it again. Photos and clips are left out. Throws an Error with what is wrong.
 */
export function rehearse({ file, dataDir, reserveBytes, nowMs }: RehearsalOrder): Rehearsed {
  stepBack()
  const into = rehearsalFolder(dataDir)
  const pace = new Pace(true)
  try {
    rmSync(into, { recursive: true, force: true })
    mkdirSync(into, { mode: 0o700 })
    const manifest = unpackBackup(file, { into, newestSchema, reserveBytes, media: false, onPiece: () => pace.rest() })
    openWriter({ dataDir: into, nowMs }).close()
    const copy = verifyCopy(into, manifest)
    compareWithLiving(dataDir, copy)
    return { logId: copy.log.logId, size: copy.log.size, rootHash: copy.root }
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
