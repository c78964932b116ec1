import { databaseFile, executor, openReader, openWriter, type Tx } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import {
  knownLogs,
  Log,
  type LogIdentity,
  leafHash,
  leafOfLog,
  newIdentity,
  nodesOf,
  rootOf,
  storeTiles,
} from '../../log/index.ts'
import { isoTime } from '../../platform/index.ts'
import { readHeadFile, type SignedHead, writeHeadFileNow } from './head-file.ts'
import { heldKeys } from './held-keys.ts'
import { LogSigner, originOfLog } from './keys.ts'

/** Why a log was forked: a restore went behind what was signed, or somebody accepted the database as it is. */
export type ForkCause = 'restore' | 'accepted'

/** A fork: the new log, and what it continues. */
export type Fork = {
  readonly log: LogIdentity
  readonly parentLogId: string
  readonly parentSize: number
  /** Hex. */
  readonly parentRoot: string
}

export type ForkOptions = {
  readonly cause: ForkCause
  readonly makeId: () => string
  readonly nowMs: number
  /** The last head that was signed, when it is known. */
  readonly signed: SignedHead | undefined
}

const tilesAtOnce = 256

/**
 * Begins a new log that continues the growing one as it is. Its first leaf, `log-fork`, states the break: size and root
 * of the parent, and the head that had been signed.
 */
export function forkLog(tx: Tx, { cause, makeId, nowMs, signed }: ForkOptions): Fork {
  const parent = knownLogs(tx).at(-1)
  if (!parent) throw new Error('there is no log to continue')
  while (storeTiles(tx, parent.number, parent.size, tilesAtOnce));
  const parentRoot = rootOf(parent.size, nodesOf(tx, parent.number, parent.size)).toString('hex')
  const identity = newIdentity(tx, parent, makeId(), nowMs)
  Log.open(tx, identity).append(tx, 'log-fork', String(identity.number), {
    eventId: makeId(),
    parentLogId: parent.logId,
    parentSize: parent.size,
    parentRoot,
    cause,
    timestamp: isoTime(nowMs),
    ...(signed && { signed: { logId: signed.logId, size: signed.size, root: signed.root.toString('hex') } }),
  })
  return { log: identity, parentLogId: parent.logId, parentSize: parent.size, parentRoot }
}

/**
 * Takes the database of a data folder as it is and forks its log, so that the gateway starts again although the
 * database is not the one that was signed. No daemon may run. Throws ExitError when there is no database or it is in use.
 */
export function acceptFork(dataDir: string, options: Pick<ForkOptions, 'makeId' | 'nowMs'>): Fork {
  // Opened for reading first: a writer would make a database where there is none.
  openReader(databaseFile(dataDir)).close()
  const { db, close } = openWriter({ dataDir, nowMs: options.nowMs })
  try {
    const tx = executor(db)
    const fork = db
      .transaction(() => forkLog(tx, { ...options, cause: 'accepted', signed: headOr(dataDir) }))
      .immediate()
    const leaf = leafOfLog(tx, fork.log.number, 1)
    if (!leaf) throw new Error('the first leaf of the new log is missing')
    writeHeadFileNow(dataDir, { logId: fork.log.logId, size: 1, root: leafHash(leaf.bytes) })
    return fork
  } finally {
    close()
  }
}

/** A damaged head file is one of the reasons to accept a fork. */
function headOr(dataDir: string): SignedHead | undefined {
  try {
    return readHeadFile(dataDir)
  } catch (error) {
    if (error instanceof ExitError) return undefined
    throw error
  }
}

/**
 * Returns the verifier keys of the log in a data folder, Ed25519 first, and makes the keys when there are none yet. Throws
 * ExitError when there is no database.
 */
export function logKeysOf(dataDir: string): readonly [string, string] {
  const db = openReader(databaseFile(dataDir))
  try {
    const log = knownLogs(executor(db)).at(-1)
    if (!log) throw new ExitError(1, 'the database has no log yet; start the gateway once')
    return new LogSigner(originOfLog(log), heldKeys(executor(db), dataDir, log).pairs).vkeys
  } finally {
    db.close()
  }
}
