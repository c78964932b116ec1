import { databaseFile, executor, openReader, openWriter, type Tx } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import {
  type KnownLog,
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
import { originOfLog } from '../../proof/index.ts'
import { wasRaisedSince } from '../../webhooks/index.ts'
import { readHeadFile, type SignedHead, writeHeadFileNow } from './head-file.ts'
import { heldKeys } from './held-keys.ts'
import { findLogKeys, LogSigner } from './keys.ts'
import { readLeafCount } from './leaf-count.ts'
import { checkLogKeys } from './start-check.ts'

/** Cause of a fork: a restore of an older state than the signed one, or an accepted database. */
export type ForkCause = 'restore' | 'accepted'

/** A fork: the new log and its parent. */
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
  const parentRoot = rootWithTiles(tx, parent, parent.size).toString('hex')
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

/** Stores the tiles that no append has stored. */
function rootWithTiles(tx: Tx, { number }: KnownLog, size: number): Buffer {
  while (storeTiles(tx, number, size, tilesAtOnce));
  return rootOf(size, nodesOf(tx, number, size))
}

export type AcceptOptions = Pick<ForkOptions, 'makeId' | 'nowMs'> & {
  /** Whether to fork also where a fork is in force already, without any sign of a break since. */
  readonly again?: boolean
}

/**
 * Accepts the database of a data folder and forks its log, so that the gateway starts again although the signed database is another
 * one. No daemon may run. Throws ExitError when there is no database or it is in use. Also throws it when the log is a fork already
 * and has all that was signed of it.
 */
export function acceptFork(dataDir: string, options: AcceptOptions): Fork {
  // Opened for reading first: a writer would make a database where there is none.
  openReader(databaseFile(dataDir)).close()
  const { db, close } = openWriter({ dataDir, nowMs: options.nowMs })
  try {
    const tx = executor(db)
    if (!options.again) refuseSecond(tx, dataDir)
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

/** Alerts that a break of the log brings about, also one that the box itself cannot see. */
const signsOfABreak = ['hub.ahead', 'hub.other-keys', 'witness.ahead', 'log.unsigned']

/** A second fork would mend nothing, and the leaves that no checkpoint covers yet would reach no head office. */
function refuseSecond(tx: Tx, dataDir: string): void {
  const log = knownLogs(tx).at(-1)
  const head = headOr(dataDir)
  if (!findLogKeys(dataDir)) return
  if (!log?.parent || head?.logId !== log.logId || head.size > log.size) return
  const counted = readLeafCount(dataDir)
  if (counted?.logId === log.logId && counted.size > log.size) return
  if (!rootWithTiles(tx, log, head.size).equals(head.root)) return
  const { timestamp } = JSON.parse(leafOfLog(tx, log.number, 1)?.bytes.toString('utf8') ?? '{}') as {
    timestamp?: string
  }
  const sinceMs = Date.parse(timestamp ?? '')
  if (signsOfABreak.some((kind) => wasRaisedSince(tx, kind, sinceMs))) return
  throw new ExitError(
    1,
    `log ${log.logId} goes on from log ${log.parent.logId} since ${timestamp}, and it has all ${log.size} leaves that this box knows of: another new log would repair nothing. Nothing was changed. Start the gateway, and see what gatehouse doctor says. If this database was put back since in a way that the box cannot see, such as a snapshot of the machine, add --again`,
  )
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
 * ExitError when there is no database, and 78 as a start does for keys that are missing or others.
 */
export function logKeysOf(dataDir: string): readonly [string, string] {
  const db = openReader(databaseFile(dataDir))
  try {
    const log = knownLogs(executor(db)).at(-1)
    if (!log) throw new ExitError(1, 'the database has no log yet; start the gateway once')
    checkLogKeys(dataDir, executor(db))
    return new LogSigner(originOfLog(log), heldKeys(executor(db), dataDir, log).pairs).vkeys
  } finally {
    db.close()
  }
}
