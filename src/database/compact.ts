import type { Database } from 'better-sqlite3'
import { isSqliteFault } from './faults.ts'

/**
 * Writes the whole file anew, without what was deleted: SQLite leaves old copies of rows in parts of its pages that it
 * no longer uses. Takes as long as reading and writing the file and holds up the thread meanwhile, so not when there are
 * more than `upToBytes`; needs room for the file twice.
 * @returns whether nothing of what was deleted is left in file and write-ahead log
 */
export function compact(db: Database, upToBytes: number): boolean {
  try {
    const bytes =
      (db.pragma('page_count', { simple: true }) as number) * (db.pragma('page_size', { simple: true }) as number)
    if (bytes > upToBytes) {
      emptyWal(db)
      return false
    }
    // The copy is as large as the file: on disk, not in memory.
    db.pragma('temp_store = FILE')
    db.exec('VACUUM')
    return emptyWal(db)
  } catch (error) {
    if (!isSqliteFault(error)) throw error
    return false
  } finally {
    db.pragma('temp_store = MEMORY')
  }
}

/** @returns false when a reader still needs the log */
function emptyWal(db: Database): boolean {
  const [done] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
  return done?.busy === 0
}
