import BetterSqlite3 from 'better-sqlite3'
import { AppError } from '../errors/index.ts'

/** Translates a SQLite error: STORAGE_FULL, NOT_READY or INTERNAL_ERROR, with the cause. */
export function translateSqlite(error: unknown): AppError {
  if (error instanceof AppError) return error
  const code = error instanceof BetterSqlite3.SqliteError ? error.code : undefined
  if (code === 'SQLITE_FULL') {
    return new AppError('STORAGE_FULL', 'The disk is full; nothing was stored', {
      cause: error,
      retryAfterSeconds: 30,
      details: code,
    })
  }
  if (code?.startsWith('SQLITE_IOERR') || code?.startsWith('SQLITE_READONLY') || code?.startsWith('SQLITE_CANTOPEN')) {
    return new AppError('STORAGE_FULL', 'The disk does not take writes; nothing was stored', {
      cause: error,
      retryAfterSeconds: 30,
      details: code,
    })
  }
  if (isBusy(error)) {
    return new AppError('NOT_READY', 'Another program holds the database', {
      cause: error,
      retryAfterSeconds: 5,
      details: code ?? '',
    })
  }
  if (code === 'SQLITE_NOTADB') {
    return new AppError('INTERNAL_ERROR', 'This is not an SQLite database', { cause: error, details: code })
  }
  const damaged = code?.startsWith('SQLITE_CORRUPT')
  const message = damaged ? 'The database file is damaged' : 'The database failed'
  return new AppError('INTERNAL_ERROR', message, { cause: error, details: code ?? 'unknown fault' })
}

/** The error of a write while the data folder or a file of the database is not in its place. */
export function misplacedFault(): AppError {
  return new AppError('STORAGE_FULL', 'The data folder is not in its place; nothing was stored', {
    retryAfterSeconds: 30,
    details: 'the data folder or its database was moved, removed or unmounted; ask the admin',
  })
}

/** Says whether another program holds the lock; trying again helps. */
export function isBusy(error: unknown): boolean {
  return error instanceof BetterSqlite3.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)
}

/** Says whether an error came from SQLite itself. */
export function isSqliteFault(error: unknown): boolean {
  return error instanceof BetterSqlite3.SqliteError
}
