import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadTx, Tx } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import { knownLogs, newestCheckpoint, nodesOf, rootOf, storeTiles } from '../../log/index.ts'
import { originOfLog } from '../../proof/index.ts'
import { handOversOf } from './hand-over.ts'
import { readHeadFile, type SignedHead, writeHeadFileNow } from './head-file.ts'
import { findLogKeys, keyFiles, keyFolder, LogSigner } from './keys.ts'
import { readNote, verifySignatures } from './note.ts'

/** Tiles stored in one transaction. */
const tilesAtOnce = 256

/**
 * Compares the last checkpoint with the present leaves. Throws ExitError (78) when leaves are missing or their root is another.
 * Then somebody put an older or a changed database in place, and going on would sign a second history. A missing head file is
 * written again from the newest checkpoint.
 * @param write runs one transaction; tiles that are missing are stored by it
 */
export function checkSignedHead(dataDir: string, write: <T>(change: (tx: Tx) => T) => T): void {
  const stored = readHeadFile(dataDir)
  const logs = write((tx) => knownLogs(tx))
  const current = logs.at(-1)
  if (!current) return
  const head = stored ?? write((tx) => newestHead(tx, current.number, current.logId))
  if (!head) return
  if (head.logId !== current.logId) {
    // A fork was recorded, and the first checkpoint of the new log was not signed yet.
    if (logs.some(({ logId }) => logId === head.logId)) return
    throw refusal(`the last checkpoint is one of log ${head.logId}, which is not in this database`)
  }
  if (current.size < head.size) {
    throw refusal(`${head.size} leaves of the log were signed, but the database has only ${current.size}`)
  }
  while (write((tx) => storeTiles(tx, current.number, head.size, tilesAtOnce)));
  const root = write((tx) => rootOf(head.size, nodesOf(tx, current.number, head.size)))
  if (!root.equals(head.root)) {
    throw refusal(`the first ${head.size} leaves of the log do not have the root that was signed`)
  }
  if (!stored) writeHeadFileNow(dataDir, head)
}

/**
 * Compares the keys in `keys/` with the newest checkpoint of the growing log. Throws ExitError (78) when one is missing or did not
 * sign it: followers of the log would refuse what new keys sign. After a hand-over the key ring compares them with its leaf.
 */
export function checkLogKeys(dataDir: string, tx: ReadTx): void {
  const log = knownLogs(tx).at(-1)
  const newest = log && newestCheckpoint(tx, log.number)
  if (!newest) return
  const files = [keyFiles.ed25519, keyFiles.mlDsa44].map((name) => join(keyFolder(dataDir), name))
  const missing = files.find((path) => !existsSync(path))
  if (missing !== undefined)
    throw keyRefusal(missing, `is missing, although it signed ${newest.size} leaves of the log`)
  const pairs = findLogKeys(dataDir)
  const note = readNote(newest.note)
  if (!pairs || !note || handOversOf(tx, log.number).length > 0) return
  const { keys } = new LogSigner(originOfLog(log), pairs)
  const signed = verifySignatures(note, keys)
  const other = keys.findIndex((key) => !signed.some((one) => one.key === key && one.holds))
  const path = files[other]
  if (path !== undefined)
    throw keyRefusal(path, `is not the key that signed ${newest.size} leaves of the log; it may be of another box`)
}

function keyRefusal(path: string, found: string): ExitError {
  return new ExitError(
    78,
    `${path} ${found}. Put the folder keys/ back from a backup. If the key is lost, run gatehouse restore --accept-fork: the gateway then goes on with a new log and new keys`,
  )
}

function newestHead(tx: ReadTx, log: number, logId: string): SignedHead | undefined {
  const newest = newestCheckpoint(tx, log)
  return newest && { logId, size: newest.size, root: newest.root }
}

function refusal(found: string): ExitError {
  return new ExitError(
    78,
    `This database is not the one that was signed: ${found}. Put the right database back. If it is lost, run gatehouse restore --accept-fork: the gateway then goes on with a new log that states the break`,
  )
}
