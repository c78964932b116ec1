import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { ExitError } from '../errors/index.ts'
import { errorMessage } from '../platform/faults.ts'
import { holdFolder, linkBelow, makeFolderNow, releaseFolder } from '../platform/index.ts'
import { translateSqlite } from './faults.ts'
import { applicationId, type Migration, migrate } from './migrate.ts'
import { migrations as ours } from './migrations/index.ts'
import { schemaDifferences } from './schema-check.ts'
import { keepStartRoom, useStartRoom } from './start-room.ts'

/** A quick_check of this much takes under a second; larger files are left to `gatehouse ledger verify`. */
const quickCheckUpToBytes = 256 * 1024 * 1024

export type OpenOptions = {
  readonly dataDir: string
  readonly nowMs: number
  readonly migrations?: readonly Migration[]
}

export const databaseFile = (dataDir: string): string => join(dataDir, 'gatehouse.db')

/**
 * Opens the one writer: makes or migrates the file, checks that it is ours, undamaged and guarded, and takes the lock.
 * Throws ExitError with a sentence for the admin on a damaged, foreign, unreadable or newer file, or when another
 * gatehouse has it open.
 */
export function openWriter(options: OpenOptions): { db: Database; close: () => void } {
  const file = databaseFile(options.dataDir)
  makeFolder(options.dataDir)
  refuseLinks(options.dataDir)
  refuseNoFile(file)
  useStartRoom(options.dataDir)
  const lock = takeLock(join(options.dataDir, 'gatehouse.lock'))
  let db: Database | undefined
  try {
    db = new BetterSqlite3(file)
    prepareFile(db, options)
    keepStartRoom(options.dataDir)
    holdFolder(options.dataDir)
    return {
      db,
      close: () => {
        releaseFolder(options.dataDir)
        db?.close()
        lock.close()
      },
    }
  } catch (error) {
    db?.close()
    lock.close()
    throw refusal(file, error)
  }
}

/**
 * Makes or opens a database of an older schema, to put rows of that schema into it. References between rows are not checked until
 * it is opened again. Throws ExitError.
 */
export function openWriterAt(schema: number, options: Omit<OpenOptions, 'migrations'>): ReturnType<typeof openWriter> {
  const opened = openWriter({ ...options, migrations: ours.filter(({ version }) => version <= schema) })
  opened.db.pragma('foreign_keys = OFF')
  // Nothing of it counts before it is whole and synced.
  opened.db.pragma('synchronous = OFF')
  return opened
}

/**
 * Takes the lock of a data folder without opening its database, and makes the folder when it is not there. Throws ExitError
 * when another gatehouse works on it.
 */
export function lockDataDir(dataDir: string): { release: () => void } {
  makeFolder(dataDir)
  refuseLinks(dataDir)
  const lock = takeLock(join(dataDir, 'gatehouse.lock'))
  return { release: () => lock.close() }
}

/** Opens a read-only connection. The file must be one that openWriter made. Throws ExitError. */
export function openReader(file: string): Database {
  refuseNoFile(file)
  if (!existsSync(file)) throw new ExitError(1, `there is no database at ${file}`)
  let db: Database | undefined
  try {
    db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    refuseForeign(db)
    db.pragma('query_only = ON')
    db.pragma('foreign_keys = ON')
    db.pragma('mmap_size = 268435456')
    return db
  } catch (error) {
    db?.close()
    throw refusal(file, error)
  }
}

export type FileSchema = {
  readonly schema: number
  /** The lowest schema whose program can still work with the file. */
  readonly oldestReader: number
}

/** Returns the schema of a database that may be of another version. Throws ExitError when it is not ours. */
export function schemaOfFile(file: string): FileSchema {
  const db = openReader(file)
  try {
    const schema = db.pragma('user_version', { simple: true }) as number
    return { schema, oldestReader: schema === 0 ? 0 : oldestReaderOf(db) }
  } finally {
    db.close()
  }
}

/** Opens a read-only connection to a database that this program can work with as it is. Throws ExitError, also for an older one. */
export function openAsItIs(file: string, migrations: readonly Migration[] = ours): Database {
  const db = openReader(file)
  try {
    const newest = migrations.at(-1)?.version ?? 0
    refuseNewer(db, migrations)
    const version = db.pragma('user_version', { simple: true }) as number
    if (version < newest) throw new ExitError(1, `has schema ${version}, and this gatehouse works with ${newest}`)
    const { lost } = schemaDifferences(db, migrations)
    if (lost.length > 0) throw new ExitError(1, `has lost or changed guards (${lost.join(', ')})`)
    return db
  } catch (error) {
    db.close()
    throw refusal(file, error)
  }
}

function prepareFile(db: Database, { nowMs, migrations = ours }: OpenOptions): void {
  refuseForeign(db)
  refuseNewer(db, migrations)
  if (fileBytes(db) <= quickCheckUpToBytes) {
    const [problem] = db.pragma('quick_check(1)', { simple: false }) as { quick_check: string }[]
    if (problem?.quick_check !== 'ok') throw new ExitError(1, `is damaged: ${problem?.quick_check}`)
  }
  // WAL first: switching to it sets synchronous to NORMAL, which can drop acknowledged events on a power cut.
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('foreign_keys = ON')
  db.pragma('recursive_triggers = ON')
  db.pragma('wal_autocheckpoint = 4000')
  db.pragma('cache_size = -65536')
  db.pragma('temp_store = MEMORY')
  migrate(db, migrations, nowMs)
  const { lost: missing, strange } = schemaDifferences(db, migrations)
  if (missing.length > 0) {
    throw new ExitError(1, `has lost or changed guards (${missing.join(', ')}): somebody altered the schema`)
  }
  if (strange.length > 0) {
    throw new ExitError(1, `has triggers, views or indexes of somebody else (${strange.join(', ')})`)
  }
}

function refuseForeign(db: Database): void {
  const id = db.pragma('application_id', { simple: true })
  if (id === applicationId) return
  const tables = db.prepare('SELECT count(*) FROM sqlite_master').pluck().get() as number
  if (id !== 0 || tables > 0) throw new ExitError(1, 'is a database of another program')
}

function refuseNewer(db: Database, migrations: readonly Migration[]): void {
  const newest = migrations.at(-1)?.version ?? 0
  const version = db.pragma('user_version', { simple: true }) as number
  if (version <= newest) return
  const oldest = oldestReaderOf(db)
  if (newest < oldest) {
    throw new ExitError(
      1,
      `has schema ${version}, which needs a gatehouse that knows at least schema ${oldest}; this one knows ${newest}`,
    )
  }
}

function oldestReaderOf(db: Database): number {
  return db.prepare('SELECT max(oldest_reader) FROM schema_migration').pluck().get() as number
}

function fileBytes(db: Database): number {
  return (db.pragma('page_count', { simple: true }) as number) * (db.pragma('page_size', { simple: true }) as number)
}

function makeFolder(path: string): void {
  try {
    makeFolderNow(path, 0o750)
    accessSync(path, constants.W_OK)
  } catch (error) {
    throw new ExitError(1, `the data folder ${path} cannot be written: ${errorMessage(error)}`, error)
  }
}

/** The data folder itself may be a link: the config has resolved it. */
function refuseLinks(dataDir: string): void {
  const link = linkBelow(dataDir)
  if (!link) return
  throw new ExitError(
    1,
    `${link.path} is a symbolic link to ${link.target}; gatehouse follows no links below its data folder. ` +
      'Find out who made it and remove it. To keep a folder on another disk, mount it there (mount --bind).',
  )
}

/**
 * Throws ExitError when the path is not a regular file, without opening it. This process must never open the database by plain file
 * calls. On POSIX, closing any descriptor of a file drops all locks of the process on it. The next program would then find no other
 * user, and remove the write-ahead log under the running daemon.
 */
function refuseNoFile(file: string): void {
  if (existsSync(file) && !statSync(file).isFile()) {
    throw new ExitError(1, `${dirname(file)}: gatehouse.db cannot be used: not a file`)
  }
}

/**
 * Takes the lock: an exclusive transaction on a separate file, which ends with the process, also by kill -9. Throws
 * ExitError.
 */
function takeLock(file: string): Database {
  const lock = new BetterSqlite3(file, { timeout: 2000 })
  try {
    lock.pragma('journal_mode = DELETE')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw new ExitError(
      1,
      `another gatehouse works on ${dirname(file)} (or its lock cannot be taken: ${errorMessage(error)})`,
      error,
    )
  }
}

function refusal(file: string, error: unknown): ExitError {
  if (error instanceof ExitError) return new ExitError(error.exitCode, `${file} ${error.message}`, error)
  const fault = translateSqlite(error)
  return new ExitError(1, `${file} cannot be opened: ${fault.message} (${fault.details})`, error)
}
