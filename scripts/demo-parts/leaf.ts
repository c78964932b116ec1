import BetterSqlite3 from 'better-sqlite3'

/** The bytes of leaf `seq` as they stand in a ledger file. A gateway may have it open, but only another process. */
export function leafBytes(file: string, seq: number): Buffer {
  const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
  try {
    return db.prepare('SELECT bytes FROM log_leaf WHERE log_id = 1 AND seq = ?').pluck().get(seq) as Buffer
  } finally {
    db.close()
  }
}
