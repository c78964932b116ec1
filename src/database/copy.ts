import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { openReader } from './open.ts'

/** Pages of one step: 4 MiB. */
const pagesOfStep = 1024

/**
 * Copies a database that others write to, as it is now, to a new file without a write-ahead log. The source is held by one read
 * transaction: without it, SQLite begins the copy again after every commit and never ends under load. Meanwhile the write-ahead log
 * grows by all writes.
 * @param onStep is called after each step, which is on disk then; it may wait, and may throw to give up
 */
export async function copyDatabase(file: string, target: string, onStep: () => void): Promise<void> {
  const source = openReader(file)
  try {
    source.exec('BEGIN')
    source.prepare('SELECT count(*) FROM sqlite_master').get()
    let disk: number | undefined
    try {
      await source.backup(target, {
        progress: () => {
          disk ??= openSync(target, 'r+')
          // Left to the kernel, all of it would be written at once at the end, and the ledger's own syncs would wait for it.
          fdatasyncSync(disk)
          onStep()
          return pagesOfStep
        },
      })
    } finally {
      if (disk !== undefined) closeSync(disk)
    }
  } finally {
    source.close()
  }
  const copy = new BetterSqlite3(target)
  try {
    copy.pragma('journal_mode = DELETE')
  } finally {
    copy.close()
  }
}

/** Returns the number of bytes that `copyDatabase` will write, and the version of the schema. */
export function sizeOfDatabase(file: string): { bytes: number; schema: number } {
  const db = openReader(file)
  try {
    const read = (name: string) => db.pragma(name, { simple: true }) as number
    return { bytes: read('page_count') * read('page_size'), schema: read('user_version') }
  } finally {
    db.close()
  }
}
