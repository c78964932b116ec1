import BetterSqlite3 from 'better-sqlite3'

/** Where the write-ahead log stands: pages in it, and how many of them have reached the database file. */
export type WalState = { readonly pages: number; readonly copied: number }

/** Copies what is in the write-ahead log into the database file, beside the writer and without waiting for anybody. */
export type Checkpointer = { run(): WalState; close(): void }

/** Opens a connection that can do this and change nothing else. The file must be one that openWriter made. */
export function openCheckpointer(file: string): Checkpointer {
  const db = new BetterSqlite3(file, { fileMustExist: true })
  db.pragma('query_only = ON')
  // The log must be on disk before its pages go into the file, and those before the log is used again.
  db.pragma('synchronous = FULL')
  db.pragma('cache_size = -512')
  const passive = db.prepare<[], { log: number; checkpointed: number }>('PRAGMA wal_checkpoint(PASSIVE)')
  return {
    run: () => {
      const { log = 0, checkpointed = 0 } = passive.get() ?? {}
      return { pages: log, copied: checkpointed }
    },
    close: () => db.close(),
  }
}
