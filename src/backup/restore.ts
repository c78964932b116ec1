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
import { erasuresAfter, type KnownErasure, type KnownLog, knownLogs, leafHash, leafOfLog } from '../log/index.ts'
import { errorCode } from '../platform/faults.ts'
import { isoTime } from '../platform/index.ts'
import type { DavFolder } from '../upload/index.ts'
import { demandTimeOfName, newestBackup, withFetched } from './fetch.ts'
import type { ComingFacts, Manifest } from './manifest.ts'
import { type Present, planRestore, type RestorePlan } from './restore-plan.ts'
import { rootOfLeaves } from './root-of-leaves.ts'
import type { SeriesName } from './segments/names.ts'
import { Seal } from './segments/seal.ts'
import type { SegmentSource } from './segments/source.ts'
import { stageSegments } from './segments/stage.ts'
import { type EarlierSeries, noteSeries } from './segments/state.ts'
import { finishSwap, swap } from './swap.ts'
import { BackupFault, readManifest, type UnpackOptions, unpackBackup } from './unpack.ts'
import { stagingFolder, verifyCopy } from './verify-staged.ts'

type Options = {
  readonly dataDir: string
  readonly siteId: string
  /** Whether to restore a ledger that lacks leaves which this box has signed. */
  readonly acceptFork: boolean
  /** Whether to do so although this box forked its log before, and its ledger holds later events that the source lacks. */
  readonly again?: boolean
  readonly reserveBytes: number
  readonly makeId: () => string
  readonly nowMs: number
  /** Erases these names from the ledger in a folder, as `gatehouse person erase` does. */
  readonly erase: (dataDir: string, names: readonly string[]) => Promise<void>
}

export type RestoreOptions = Options & {
  /** A backup: a file, or the newest sealed one or that of a path below a folder of a server. */
  readonly backup: string | { readonly folder: DavFolder; readonly path: string | null }
  /** Opens a sealed backup. */
  readonly recoveryKey?: Uint8Array | undefined
}

export type SegmentRestoreOptions = Options & {
  readonly source: SegmentSource
  readonly recoveryKey: Uint8Array
  /** Whether to take the newest whole state when a segment is damaged or missing. */
  readonly asFarAsWhole: boolean
}

export type Restored = {
  readonly siteId: string
  readonly logId: string
  readonly size: number
  readonly rootHash: string
  readonly madeAt: string
  /** Whether it was made of segments, and how many of them. */
  readonly segments: number | null
  readonly version: string
  readonly events: number
  /** Null: the restore loses no signed leaf, and the log continues as it is. */
  readonly fork: (Omit<Fork, 'log'> & { readonly logId: string }) | null
  /**
   * Lost events are those after `from`, the newest event of the backup; null: it has none. The newest event of the replaced ledger
   * is `to`. Its leaves that the backup lacks are `leaves`. Both are null when they could not be read.
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

/** Contents of the staging folder. */
type Staged = {
  readonly facts: ComingFacts
  /** In words: `The backup of 2026-03-02T08:00:00.000Z`. */
  readonly name: string
  /** Erasures that the source knows and that the ledger in it may not. */
  readonly erased: readonly KnownErasure[]
  readonly segments: {
    readonly count: number
    readonly series: SeriesName
    readonly earlier: readonly EarlierSeries[]
  } | null
}

/**
 * Puts a backup in the place of a data folder. Everything is unpacked and verified beside it first; replaced files move to a folder
 * aside. No daemon may run. After a crash the same call begins again, or finishes what was decided. Throws ExitError with a
 * sentence for the admin; the data folder is then as it was.
 */
export function restoreBackup(options: RestoreOptions): Promise<Restored> {
  return restoreUnderLock(options, async (staging) => {
    const { backup, siteId, recoveryKey, reserveBytes, nowMs } = options
    const asked = { into: staging, newestSchema, reserveBytes, media: true, recoveryKey }
    const unpack = (file: string) => {
      refuseOtherSite(readManifest(file, recoveryKey), siteId)
      if (typeof backup === 'string') makeStaging(staging)
      return unpackBackup(file, asked)
    }
    const facts = typeof backup === 'string' ? unpack(backup) : await fetched(backup, options, asked, unpack)
    openWriter({ dataDir: staging, nowMs }).close()
    return { facts, name: `The backup of ${facts.madeAt}`, erased: [], segments: null }
  })
}

/** Fetches a backup from a server, and unpacks it. */
async function fetched(
  { folder, path }: Exclude<RestoreOptions['backup'], string>,
  { siteId, nowMs }: Options,
  asked: UnpackOptions,
  unpack: (file: string) => Manifest,
): Promise<Manifest> {
  const found = path ?? (await newestBackup(folder, siteId, nowMs))
  makeStaging(asked.into)
  return withFetched(folder, found, asked, (file) => {
    const manifest = unpack(file)
    demandTimeOfName(found, manifest)
    return manifest
  })
}

/** Puts what segments give in the place of a data folder, as `restoreBackup` does with a backup. */
export function restoreSegments(options: SegmentRestoreOptions): Promise<Restored> {
  return restoreUnderLock(options, async (staging) => {
    const { source, siteId, recoveryKey, asFarAsWhole, nowMs } = options
    makeStaging(staging)
    const seal = new Seal(recoveryKey)
    const asked = { source, siteId, seal, asFarAsWhole }
    const { chain, facts } = await stageSegments({ ...asked, recoveryKey, into: staging, nowMs })
    const { logId, series, header } = chain
    const segments = { count: chain.files.length, series: { logId, series }, earlier: header.earlier }
    return { facts, name: `The newest segment, of ${facts.madeAt},`, erased: chain.erased, segments }
  })
}

async function restoreUnderLock(options: Options, stage: (staging: string) => Promise<Staged>): Promise<Restored> {
  const { dataDir } = options
  const lock = lockDataDir(dataDir)
  try {
    finishSwap(dataDir)
    return await restoreStaged(options, await stage(stagingFolder(dataDir)))
  } catch (error) {
    if (error instanceof BackupFault) throw new ExitError(1, error.message, error)
    throw error
  } finally {
    rmSync(stagingFolder(dataDir), { recursive: true, force: true })
    lock.release()
  }
}

function makeStaging(staging: string): void {
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(staging, { mode: 0o700 })
}

async function restoreStaged(options: Options, staged: Staged): Promise<Restored> {
  const { dataDir, siteId, nowMs } = options
  const { facts } = staged
  const staging = stagingFolder(dataDir)
  takeOver(staging, dataDir)
  const copy = verifyCopy(staging, facts)
  const present = lookAtPresent(dataDir, Date.parse(facts.madeAt))
  const holds = (head: SignedHead) => withReader(staging, (tx) => holdsHead(tx, copy.logs, head))
  const plan = planRestore({ logs: copy.logs, root: copy.root, holds }, present)
  if (plan.behind && !options.acceptFork) throw refusal(staged, plan, plan.behind, present, options)
  if (plan.since && !options.again) throw secondRefusal(staged, plan, plan.since, present)
  const fork = plan.forks ? forkStaged(staging, options, present.head ?? copy.signed) : undefined
  if (!fork && present.head) writeHeadFileNow(staging, present.head)
  // Erasures that the source knows come last: an older state may not bring a name back.
  const erased = await eraseAgain(options, staging, [...present.erasures, ...staged.erased])
  const settings = facts.settings.length > 0 ? keepSettings(staging, dataDir) : null
  const hadLedger = existsSync(databaseFile(dataDir))
  const aside = `replaced-${isoTime(nowMs).replaceAll(/[:.]/g, '-')}`
  swap(dataDir, aside)
  if (staged.segments) noteSeries(dataDir, staged.segments)
  return {
    siteId,
    logId: copy.log.logId,
    size: copy.log.size,
    rootHash: copy.root,
    madeAt: facts.madeAt,
    version: facts.version,
    events: copy.events,
    segments: staged.segments?.count ?? null,
    fork: fork ? { logId: fork.log.logId, parentLogId: fork.parentLogId, ...parentOf(fork) } : null,
    lost: {
      from: facts.lastEventAt,
      to: timeOrNull(present.ledger?.lastEventMs),
      leaves: plan.lostLeaves,
    },
    erased,
    lacking: copy.lacking,
    aside: hadLedger ? join(dataDir, aside) : null,
    settings: settings === null ? null : { folder: settings, files: facts.settings },
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

function refusal(
  { facts, name }: Staged,
  { lostLeaves, since }: RestorePlan,
  behind: SignedHead,
  present: Present,
  { again }: Options,
): ExitError {
  const flags = since && !again ? '--accept-fork --again' : '--accept-fork'
  const known = lostLeaves === null ? '' : ` (${lostLeaves} leaves)`
  const until = timeOrNull(present.ledger?.lastEventMs)
  return new ExitError(
    1,
    `${name} is older than the signed log of this box: ${behind.size} leaves of log ${behind.logId}, and it has ${facts.size} of log ${facts.logId}. Everything recorded since${known}, up to ${until ?? 'an unknown time'}, would be lost. Nothing was changed. To restore it nevertheless, add ${flags}: the ledger then goes on with a new log that states the break`,
  )
}

/** A command that is taken from the history of the shell must not cost what was recorded since. */
function secondRefusal(
  { name }: Staged,
  { lostLeaves }: RestorePlan,
  { logId }: KnownLog,
  present: Present,
): ExitError {
  const until = timeOrNull(present.ledger?.lastEventMs) ?? 'an unknown time'
  return new ExitError(
    1,
    `${name} would replace a ledger that has all that this box signed. It forked its log before, and goes on with log ${logId}. Everything that it recorded since (${lostLeaves} leaves), up to ${until}, would be lost. Nothing was changed. If this command is the one of that time, start the gateway instead. To restore nevertheless, add --again`,
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
      if (!['EPERM', 'ENOTSUP', 'EMLINK'].includes(errorCode(error) ?? '')) throw error
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
        ledger: {
          logs,
          root,
          lastEventMs: id === 0 ? null : receivedAtMs,
          reachesHead: !head || holdsHead(tx, logs, head),
        },
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

function holdsHead(tx: ReadTx, logs: readonly KnownLog[], head: SignedHead): boolean {
  const log = logs.find(({ logId }) => logId === head.logId)
  return log !== undefined && log.size >= head.size && rootOfLeaves(tx, log.number, head.size).equals(head.root)
}

function withReader<T>(dataDir: string, read: (tx: ReadTx) => T): T {
  const db = openReader(databaseFile(dataDir))
  try {
    return read(executor(db))
  } finally {
    db.close()
  }
}

function forkStaged(staging: string, { makeId, nowMs }: Options, signed: SignedHead): Fork {
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
async function eraseAgain({ erase }: Options, staging: string, erasures: readonly KnownErasure[]): Promise<number> {
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
