import { checkLeafCount, checkLogKeys, checkSignedHead, LeafCount, readLeafCount } from '../../evidence/index.ts'
import type { Outside } from '../outside.ts'
import type { ComposedStorage } from './storage.ts'

/**
 * Compares the database with what was signed and acknowledged. Returns the count that goes on from there. Throws ExitError (78), and
 * closes the files: a write-ahead log can then be put back.
 */
export function examineLedger(dataDir: string, storage: ComposedStorage, log: Outside['log']): LeafCount {
  const { tx, atOnce, work, logRoom, hadWriteAheadLog } = storage
  try {
    checkLeafCount(dataDir, tx)
    checkSignedHead(dataDir, atOnce)
    checkLogKeys(dataDir, tx)
  } catch (error) {
    storage.close()
    throw error
  }
  if (readLeafCount(dataDir)?.isStopped === false && !hadWriteAheadLog) log.warn(lostWriteAheadLog)
  const leafCount = new LeafCount({ dataDir, logRoom, log })
  work.onCommit(() => leafCount.follow())
  return leafCount
}

const lostWriteAheadLog =
  'the gateway was not stopped cleanly, and gatehouse.db-wal is missing: if no other program has opened the database since, events of the last seconds may be lost; look whether the newest scans are there'
