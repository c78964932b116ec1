import { closeSync, constants, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ReadTx } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import { headOf } from '../../ledger/index.ts'
import { knownLogs, type Log } from '../../log/index.ts'
import { identityOf, isoTime, type Logger, readFileIfThere, writeFileDurably } from '../../platform/index.ts'
import { readHeadFile } from './head-file.ts'
import { keyFiles, keyFolder } from './keys.ts'

/** The leaves of the growing log, counted outside the database. `isStopped`: the count of a clean stop. */
export type Counted = { readonly logId: string; readonly size: number; readonly isStopped: boolean }

/** Less than a sector: a disk writes it whole or not at all. */
const recordBytes = 128

const pathOf = (dataDir: string) => join(keyFolder(dataDir), keyFiles.count)

/** Returns the count of the last run; undefined before the first, and for a file that holds none. */
export function readLeafCount(dataDir: string): Counted | undefined {
  try {
    const { logId, size, isStopped } = JSON.parse(readFileIfThere(pathOf(dataDir))?.toString('utf8') ?? '{}')
    const isCount = typeof logId === 'string' && Number.isSafeInteger(size) && typeof isStopped === 'boolean'
    return isCount ? { logId, size, isStopped } : undefined
  } catch {
    return undefined
  }
}

/**
 * Compares the count with the present leaves. Throws ExitError (78) when leaves are missing: a write-ahead log was lost between two
 * runs, or an older database was put back. Writes nothing, so that the write-ahead log still fits when it is put back.
 */
export function checkLeafCount(dataDir: string, tx: ReadTx): void {
  const log = knownLogs(tx).at(-1)
  const counted = readLeafCount(dataDir)
  if (!log || counted?.logId !== log.logId || counted.size <= log.size) return
  const head = readHeadFile(dataDir)
  // The comparison with the signed head refuses it with the root.
  if (head?.logId === log.logId && head.size > log.size) return
  const { id, receivedAtMs } = headOf(tx)
  const newest = id === 0 ? 'It has no event' : `Its newest event is of ${isoTime(receivedAtMs)}`
  const again = id === 0 ? 'all scans' : 'the scans after that event'
  throw new ExitError(
    78,
    `The database lacks ${counted.size - log.size} leaves: ${counted.size} were acknowledged, and it has ${log.size}. ${newest}. The file gatehouse.db-wal was lost, or an older database was put back. Put gatehouse.db-wal back beside gatehouse.db, as it was when the gateway ended. If it is lost, run gatehouse restore --accept-fork: the gateway then goes on with a new log that states the break. Then repeat ${again}`,
  )
}

type LeafCountNeeds = {
  readonly dataDir: string
  readonly logRoom: Pick<Log, 'identity' | 'size'>
  readonly log: Logger
}

/**
 * Writes the number of leaves into `keys/log.count` at each commit, before it is acknowledged. Only the first write of a run and a
 * clean stop wait for the disk: a sync at each commit would double its time. So a count is exact after a kill, and after a power cut
 * it is at most a few seconds old.
 */
export class LeafCount {
  readonly #needs: LeafCountNeeds
  #fd: number | undefined
  #identity: string | undefined
  #written: Counted | undefined
  /** A write has failed; the next checkpoint tries again. */
  #isFailing = false

  constructor(needs: LeafCountNeeds) {
    this.#needs = needs
    this.#written = readLeafCount(needs.dataDir)
  }

  /** Counts the committed leaves. Never throws: an event does not fail because of its count. */
  follow(): void {
    const { identity, size } = this.#needs.logRoom
    if (this.#isFailing || (this.#written?.size === size && this.#written.logId === identity.logId)) return
    this.#write({ logId: identity.logId, size, isStopped: false })
  }

  /** Begins a new file when the old one is not in its place, or could not be written. */
  renew(): void {
    this.#isFailing = false
    if (this.#fd === undefined || identityOf(pathOf(this.#needs.dataDir)) === this.#identity) return
    this.#close()
    this.#written = undefined
    this.follow()
  }

  /** Counts the leaves of a closed database: the next start needs no write-ahead log. */
  stop(): void {
    const { identity, size } = this.#needs.logRoom
    const { isStopped, size: before, logId } = this.#written ?? {}
    if (!isStopped || before !== size || logId !== identity.logId)
      this.#write({ logId: identity.logId, size, isStopped: true })
    this.#close()
  }

  #write(counted: Counted): void {
    const path = pathOf(this.#needs.dataDir)
    const record = `${JSON.stringify(counted).padEnd(recordBytes - 1)}\n`
    try {
      if (this.#fd === undefined) {
        // The write would make the folder again where a disk was unmounted.
        if (identityOf(keyFolder(this.#needs.dataDir)) === undefined)
          throw new Error(`the folder of ${path} is missing`)
        writeFileDurably(path, record)
        this.#fd = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW)
        this.#identity = identityOf(path)
      } else {
        writeSync(this.#fd, record, 0)
        if (counted.isStopped) fdatasyncSync(this.#fd)
      }
      this.#written = counted
    } catch (err) {
      this.#isFailing = true
      this.#close()
      this.#needs.log.warn({ err }, 'the leaves could not be counted; the next checkpoint tries it again')
    }
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}
