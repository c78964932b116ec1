import { existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  databaseFile,
  executor,
  lockDataDir,
  newestSchema,
  openReader,
  openWriter,
  type ReadTx,
} from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import {
  type Fork,
  forkLog,
  hashOfFile,
  heldFiles,
  readHeadFile,
  type SignedHead,
  writeHeadFileNow,
} from '../evidence/index.ts'
import { namesErasedLater } from '../governance/index.ts'
import { headOf } from '../ledger/index.ts'
import { erasuresAfter, type KnownErasure, knownLogs, leafHash, leafOfLog } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { Manifest } from './manifest.ts'
import { type Present, planRestore, type RestorePlan } from './restore-plan.ts'
import { rootOfLeaves } from './root-of-leaves.ts'
import { finishSwap, swap } from './swap.ts'
import { BackupFault, readManifest, unpackBackup } from './unpack.ts'
import { stagingFolder, type VerifiedCopy, verifyCopy } from './verify-staged.ts'

export type RestoreOptions = {
  readonly file: string
  readonly dataDir: string
  readonly siteId: string
  /** Whether to go behind what this box has signed. */
  readonly acceptFork: boolean
  readonly reserveBytes: number
  readonly makeId: () => string
  readonly nowMs: number
  /** Erases these names from the ledger in a folder, as `gatehouse person erase` does. */
  readonly erase: (dataDir: string, names: readonly string[]) => Promise<void>
}

export type Restored = {
  readonly siteId: string
  readonly logId: string
  readonly size: number
  readonly rootHash: string
  readonly madeAt: string
  readonly version: string
  readonly events: number
  /** Null: nothing went behind, and the log goes on as it is. */
  readonly fork: (Omit<Fork, 'log'> & { readonly logId: string }) | null
  /**
   * What was recorded behind `from` (the newest event of the backup; null: it has none) is lost. `to` is the newest event and
   * `leaves` the number of leaves that were there before; null when that could not be read.
   */
  readonly lost: { readonly from: string | null; readonly to: string | null; readonly leaves: number | null }
  /** Names that were erased again. */
  readonly erased: number
  /** Photos, clips and documents that rows name and that are not there. */
  readonly lacking: number
  /** Where what was replaced is kept; null: nothing was there. */
  readonly aside: string | null
  /** The settings of the box that was backed up. */
  readonly settings: { readonly folder: string; readonly files: Manifest['settings'] } | null
}

/**
 * Puts a backup in the place of a data folder. Everything is unpacked and verified beside it first; what is replaced is kept
 * aside. No daemon may run. After a crash the same call begins again, or finishes what was decided. Throws ExitError with a
 * sentence for the admin; the data folder is then as it was.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { dataDir } = options
  const lock = lockDataDir(dataDir)
  try {
    finishSwap(dataDir)
    return await restoreLocked(options)
  } catch (error) {
    if (error instanceof BackupFault) throw new ExitError(1, error.message, error)
    throw error
  } finally {
    rmSync(stagingFolder(dataDir), { recursive: true, force: true })
    lock.release()
  }
}

async function restoreLocked(options: RestoreOptions): Promise<Restored> {
  const { file, dataDir, siteId, reserveBytes, nowMs } = options
  const staging = stagingFolder(dataDir)
  refuseOtherSite(readManifest(file), siteId)
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { mode: 0o700 })
  const manifest = unpackBackup(file, { into: staging, newestSchema, reserveBytes, media: true })
  openWriter({ dataDir: staging, nowMs }).close()
  takeOver(staging, dataDir)
  const copy = verifyCopy(staging, manifest)
  const present = lookAtPresent(dataDir, Date.parse(manifest.madeAt))
  const holds = (head: SignedHead) => holdsHead(staging, copy, head)
  const plan = planRestore({ logs: copy.logs, root: copy.root, holds }, present)
  if (plan.behind && !options.acceptFork) throw refusal(manifest, plan, plan.behind, present)
  const fork = plan.forks ? forkStaged(staging, options, present.head ?? copy.signed) : undefined
  if (!fork && present.head) writeHeadFileNow(staging, present.head)
  const erased = await eraseAgain(options, staging, present.erasures)
  const settings = manifest.settings.length > 0 ? keepSettings(staging, dataDir) : null
  const hadLedger = existsSync(databaseFile(dataDir))
  const aside = `replaced-${isoTime(nowMs).replaceAll(/[:.]/g, '-')}`
  swap(dataDir, aside)
  return {
    ...{ siteId, logId: copy.log.logId, size: copy.log.size, rootHash: copy.root },
    ...{ madeAt: manifest.madeAt, version: manifest.version, events: copy.events },
    fork: fork ? { logId: fork.log.logId, parentLogId: fork.parentLogId, ...parentOf(fork) } : null,
    lost: {
      from: manifest.lastEventAt,
      to: timeOrNull(present.ledger?.lastEventMs),
      leaves: plan.lostLeaves,
    },
    erased,
    lacking: copy.lacking,
    aside: hadLedger ? join(dataDir, aside) : null,
    settings: settings === null ? null : { folder: settings, files: manifest.settings },
  }
}

const parentOf = ({ parentSize, parentRoot }: Fork) => ({ parentSize, parentRoot })
const timeOrNull = (ms: number | null | undefined) => (typeof ms === 'number' ? isoTime(ms) : null)

function refuseOtherSite({ siteId }: Manifest, expected: string): void {
  if (siteId === expected) return
  throw new BackupFault(
    `the backup is one of site ${siteId}, and the config says site.id ${expected}; correct site.id, or take the right backup`,
  )
}

function refusal(manifest: Manifest, { lostLeaves }: RestorePlan, behind: SignedHead, present: Present): ExitError {
  const known = lostLeaves === null ? '' : ` (${lostLeaves} leaves)`
  const until = timeOrNull(present.ledger?.lastEventMs)
  return new ExitError(
    1,
    `The backup of ${manifest.madeAt} goes behind what this box has signed: ${behind.size} leaves of log ${behind.logId}, and the backup has ${manifest.size} of log ${manifest.logId}. What was recorded since${known}, up to ${until ?? 'an unknown time'}, would be lost. Nothing was changed. To restore it nevertheless, add --accept-fork: the ledger then goes on with a new log that states the break`,
  )
}

/** Photos and clips that the backup does not hold and that are on this box go along: by a second name, without a copy. */
function takeOver(staging: string, dataDir: string): void {
  for (const { path, sha256 } of withReader(staging, (tx) => heldFiles(tx, ''))) {
    const to = join(staging, path)
    const from = join(dataDir, path)
    if (existsSync(to) || hashOfFile(from) !== sha256) continue
    mkdirSync(dirname(to), { recursive: true, mode: 0o750 })
    try {
      linkSync(from, to)
    } catch (error) {
      // A disk without hard links: the file stays aside, and counts as lacking.
      if (!['EPERM', 'ENOTSUP', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
}

/** Looks at the data folder that will be replaced. Whatever cannot be read there is a reason to restore. */
function lookAtPresent(dataDir: string, sinceMs: number): Present & { readonly erasures: readonly KnownErasure[] } {
  const head = orUndefined(() => readHeadFile(dataDir))
  const seen = orUndefined(() =>
    withReader(dataDir, (tx) => {
      const logs = knownLogs(tx)
      const log = logs.at(-1)
      const { id, receivedAtMs } = headOf(tx)
      const root = log ? rootOfLeaves(tx, log.number, log.size).toString('hex') : ''
      return {
        ledger: { logs, root, lastEventMs: id === 0 ? null : receivedAtMs },
        erasures: erasuresAfter(tx, sinceMs),
      }
    }),
  )
  return { head, ledger: seen?.ledger, erasures: seen?.erasures ?? [] }
}

function orUndefined<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}

function holdsHead(staging: string, { logs }: VerifiedCopy, head: SignedHead): boolean {
  const log = logs.find(({ logId }) => logId === head.logId)
  if (!log || log.size < head.size) return false
  return withReader(staging, (tx) => rootOfLeaves(tx, log.number, head.size).equals(head.root))
}

function withReader<T>(dataDir: string, read: (tx: ReadTx) => T): T {
  const db = openReader(databaseFile(dataDir))
  try {
    return read(executor(db))
  } finally {
    db.close()
  }
}

function forkStaged(staging: string, { makeId, nowMs }: RestoreOptions, signed: SignedHead): Fork {
  const { db, close } = openWriter({ dataDir: staging, nowMs })
  try {
    const tx = executor(db)
    const fork = db.transaction(() => forkLog(tx, { cause: 'restore', makeId, nowMs, signed })).immediate()
    const leaf = leafOfLog(tx, fork.log.number, 1)
    if (!leaf) throw new Error('the first leaf of the new log is missing')
    writeHeadFileNow(staging, { logId: fork.log.logId, size: 1, root: leafHash(leaf.bytes) })
    return fork
  } finally {
    close()
  }
}

/** A person who was erased after the backup was made is erased from it before it takes its place. */
async function eraseAgain(
  { erase }: RestoreOptions,
  staging: string,
  erasures: readonly KnownErasure[],
): Promise<number> {
  if (erasures.length === 0) return 0
  const names = withReader(staging, (tx) => namesErasedLater(tx, erasures))
  if (names.length > 0) await erase(staging, names)
  return names.length
}

/** The settings of the other box never take effect by themselves: they lie in a folder, to be compared. */
function keepSettings(staging: string, dataDir: string): string {
  renameSync(join(staging, 'settings'), join(staging, 'restored-settings'))
  return join(dataDir, 'restored-settings')
}
