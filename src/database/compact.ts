import type { Database } from 'better-sqlite3'
import { isSqliteFault } from './faults.ts'

/**
 * Rewrites the file without deleted content: SQLite leaves old copies of rows in unused parts of its pages. It blocks the thread
 * while it reads and writes the file, so it does nothing above `upToBytes`. It needs room for the file twice.
 * @returns whether file and write-ahead log are free of deleted content
 */
export function compact(db: Database, upToBytes: number): boolean {
  try {
    const bytes =
      (db.pragma('page_count', { simple: true }) as number) * (db.pragma('page_size', { simple: true }) as number)
    if (bytes > upToBytes) {
      emptyWal(db)
      return false
    }
    // The copy is as large as the file, so it is made on disk, not in memory.
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

/** Empties the write-ahead log. @returns false when a reader still needs it */
function emptyWal(db: Database): boolean {
  const [done] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
  return done?.busy === 0
}
