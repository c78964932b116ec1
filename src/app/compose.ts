import type { Accounts } from '../accounts/index.ts'
import type { Alerting } from '../alerting/index.ts'
import type { StorageUsers } from '../auth/index.ts'
import {
  type BackupMade,
  type BackupRequest,
  type BackupSchedule,
  type CopiesWithNames,
  copiesWithNames,
  type SegmentKeeper,
} from '../backup/index.ts'
import type { CameraClocks, CamerasService, LiveViews, Snapshots, ViewBook } from '../cameras/index.ts'
import type { ClockBook } from '../clock/index.ts'
import { type Config, readName } from '../config/index.ts'
import { compact, type UnitOfWork } from '../database/index.ts'
import type { Checkpoints, LeafCount, Proofs, RotatedKeys, TimeStamps, Witness, Witnesses } from '../evidence/index.ts'
import type { Feeder } from '../feed/index.ts'
import type { ErasureRequest, ErasureResult } from '../governance/index.ts'
import { type HealthWatch, type LastDay, Metrics } from '../health/index.ts'
import type { Api } from '../http/index.ts'
import type { ImportService } from '../imports/index.ts'
import type { AuditDigests } from '../journal/index.ts'
import type { PrintWorker } from '../labels/index.ts'
import type { LogIdentity } from '../log/index.ts'
import type { ProviderPeople } from '../oidc/index.ts'
import { applianceImage, type ClockSync } from '../platform/index.ts'
import type { Exports } from '../privacy/index.ts'
import type { Retention } from '../retention/index.ts'
import { StreamHub } from '../stream/index.ts'
import { removeLeftRehearsal } from '../upgrade/index.ts'
import type { UploadWorker } from '../upload/index.ts'
import type { WarehouseService } from '../warehouse/index.ts'
import type { Webhooks } from '../webhooks/index.ts'
import { composeApi, composeMetricsApi } from './compose/api.ts'
import { composeBackup, segmentSettings } from './compose/backup.ts'
import { type ComposedCallers, composeCallers } from './compose/callers.ts'
import { type ComposedEvidence, composeEvidence } from './compose/evidence.ts'
import { examineLedger } from './compose/examine-ledger.ts'
import { composeLedger } from './compose/ledger.ts'
import { composePrivacy } from './compose/privacy.ts'
import { type ComposedReporting, composeReporting } from './compose/reporting.ts'
import { composeRetention } from './compose/retention.ts'
import { type ComposedStorage, composeStorage } from './compose/storage.ts'
import { composeUploadQueue } from './compose/upload.ts'
import { type ComposedVideo, composeVideo } from './compose/video.ts'
import { composeWarehouse } from './compose/warehouse.ts'
import { type GatewayStatus, statusReader } from './control/status.ts'
import { Takeover } from './control/takeover.ts'
import type { Outside } from './outside.ts'
import { type ConfigNow, ReloadBook } from './reload-book.ts'
import type { CamerasThread } from './threads/cameras-thread.ts'
import type { Jobs } from './threads/jobs.ts'
import { WorkWatch } from './threads/work-watch.ts'

/** Upper bound for compacting the file while serving; it blocks the event loop for about 0.3 s. */
const compactBesideWorkBytes = 64 * 1024 * 1024

/** Runs beside the requests from start to stop. */
export type BackgroundWorker = {
  start?(): void | Promise<void>
  /** Applies a changed config. Parts without this method read `live.config` when they need it. */
  onReload?(): void
  stop?(): void | Promise<void>
}

/** Everything that runs, wired. `live` holds the config that a reload exchanges. */
export type Gateway = {
  readonly live: { config: Config }
  readonly api: Api
  /** Answers GET /metrics on the listener for collectors; undefined without one. */
  readonly metricsApi: Api | undefined
  /** In the order of their start. They stop in the opposite order. */
  readonly workers: readonly BackgroundWorker[]
  /** Those that stop alone, after all that were started behind them. The others stop side by side. */
  readonly stopAlone: ReadonlySet<BackgroundWorker>
  /** Outcomes of the reloads since the start. */
  readonly reloads: ReloadBook
  /** Opens the API for writes once a new version is healthy. */
  readonly takeover: Takeover
  /** The console's pages of this version and of earlier ones. */
  readonly work: UnitOfWork
  readonly jobs: Jobs
  readonly backupJobs: Jobs
  readonly backupSchedule: BackupSchedule
  readonly segmentJobs: Jobs
  readonly segments: SegmentKeeper
  readonly checkpoints: Checkpoints
  readonly proofs: Proofs
  readonly witnesses: Witnesses
  readonly witness: Witness
  readonly feeder: Feeder
  readonly timeStamps: TimeStamps
  readonly logIdentity: LogIdentity
  readonly camerasThread: CamerasThread
  readonly cameras: CamerasService
  readonly retention: Retention
  readonly liveViews: LiveViews
  readonly viewBook: ViewBook
  readonly snapshots: Snapshots
  readonly streamHub: StreamHub
  readonly webhooks: Webhooks
  readonly alerting: Alerting
  readonly storageUsers: StorageUsers
  readonly providerPeople: ProviderPeople
  readonly printWorker: PrintWorker
  readonly uploadWorker: UploadWorker
  readonly health: HealthWatch
  readonly lastDay: LastDay
  readonly clockSync: ClockSync
  readonly auditDigests: AuditDigests
  readonly clockBook: ClockBook
  readonly cameraClocks: CameraClocks
  readonly imports: ImportService
  readonly warehouse: WarehouseService
  readonly accounts: Accounts
  readonly clipExports: Exports
  readonly makeId: () => string
  /** Writes into the audit trail what was done to the config at the box. */
  readonly audit: (action: string, changes: Record<string, unknown>) => Promise<void>
  /** Writes into the audit trail how the accounts of the config differ from those of last time. */
  readonly noteAccounts: (mode: 'start' | 'signal') => Promise<void>
  /** Erases a person for a user of this box. `compacted`: no older copy of the name is left in the file. */
  readonly erasePerson: (
    request: ErasureRequest,
    osUser: string,
    compactUpToBytes?: number,
  ) => Promise<ErasureResult & { readonly compacted: boolean; readonly kept: CopiesWithNames }>
  /** Says how the gateway is now; see `statusReader`. `isServing`: whether this process is the daemon. */
  readonly status: (configNow: ConfigNow, isServing: boolean) => Promise<GatewayStatus>
  /** The metrics in the text format of Prometheus. */
  readonly metricsText: () => Promise<string>
  /** Signs the newest leaves, and writes into the audit trail that a user of this box copies all data to a folder. */
  readonly beginExport: (folder: string, osUser: string) => Promise<void>
  /** Gives the log new keys for a user of this box. */
  readonly rotateKeys: (osUser: string) => Promise<RotatedKeys>
  /** Makes a backup for a user of this box. */
  readonly backup: (request: Omit<BackupRequest, 'caller'>, osUser: string) => Promise<BackupMade>
  /** Ends writes and closes the files; after workers and listeners have stopped. */
  readonly close: () => void
}

/**
 * Builds every room of the main thread, once, from the ground up. Nothing runs yet. Throws ExitError (78) when the database
 * is not the one whose log was signed last.
 * @param withFirstAdmin a start without a config: an empty database gets an admin
 */
export async function compose(config: Config, outside: Outside, withFirstAdmin: boolean): Promise<Gateway> {
  const live = { config }
  const rooms = await composeRooms(live, outside, withFirstAdmin)
  const { storage, callers, video, privacy, evidence, backup, lower, leafCount } = rooms
  const reporting = composeReporting(live, outside, lower)
  const metricsListener = composeMetricsApi(config, outside, lower)
  const { clock, log, random, version } = outside
  const { health: watch, webhooks: receivers } = reporting
  const streamHub = new StreamHub({ ...lower, clock, log, random, health: watch, alerts: receivers.alerts })
  const takeover = new Takeover({ dataDir: config.dataDir, version, log })
  const { camerasThread, cameras, liveViews, viewBook, snapshots, cameraClocks } = video
  const { webhooks, alerting, health, lastDay, uploadWorker, feeder } = reporting
  const { jobs, checkpoints, proofs, witnesses, witness, timeStamps } = evidence
  const workWatch = new WorkWatch({
    manager: outside.manager,
    work: storage.work,
    clock,
    log,
    isConfigured: (cameraId) => live.config.cameras.some(({ id }) => id === cameraId),
  })
  camerasThread.listen(workWatch)
  const { clockSync, clockBook, storageUsers, providerPeople, printWorker, imports, warehouse, accounts } = lower
  const { retention, reloads, metrics, makeId, auditDigests } = lower
  return {
    logIdentity: storage.logRoom.identity,
    live,
    reloads,
    jobs,
    ...backup.parts,
    checkpoints,
    proofs,
    witnesses,
    witness,
    timeStamps,
    feeder,
    camerasThread,
    cameras,
    liveViews,
    viewBook,
    snapshots,
    retention,
    webhooks,
    alerting,
    storageUsers,
    providerPeople,
    printWorker,
    health,
    lastDay,
    clockSync,
    clockBook,
    auditDigests,
    imports,
    warehouse,
    accounts,
    makeId,
    uploadWorker,
    clipExports: privacy.clipExports,
    cameraClocks,
    streamHub,
    takeover,
    work: storage.work,
    api: composeApi(live, outside, { ...lower, ...reporting, streamHub, takeover }),
    metricsApi: metricsListener?.api,
    workers: workersOf(rooms, reporting, [streamHub, ...(metricsListener ? [metricsListener] : []), workWatch]),
    stopAlone: new Set<BackgroundWorker>([camerasThread, cameras, checkpoints]),
    metricsText: () => metrics.text(),
    status: statusOf(live, outside, { ...lower, ...reporting }),
    ...atTheBox(live, {
      ...{ clock, storage, callers, video, evidence, reporting, leafCount },
      backups: backup.parts.backupSchedule,
    }),
  }
}

type ComposedRooms = Awaited<ReturnType<typeof composeRooms>>

/** Builds the rooms below reporting and the API. Each needs only what is in front of it. */
async function composeRooms(live: { config: Config }, outside: Outside, withFirstAdmin: boolean) {
  const metrics = new Metrics()
  const reloads = new ReloadBook(outside.configFile, outside.clock.now())
  const storage = await composeStorage(live, outside, withFirstAdmin)
  const leafCount = examineLedger(live.config.dataDir, storage, outside.log)
  const callers = composeCallers(live, outside, storage, metrics)
  const uploadQueue = composeUploadQueue(live, outside)
  const base = composeWarehouse(live, outside, storage, callers, uploadQueue)
  const video = composeVideo(live, outside, storage, callers, base, uploadQueue)
  const ledger = composeLedger(live, outside, storage, callers, base, video)
  const evidence = composeEvidence(live, outside, { ...storage, ...callers, ...ledger, ...video }, metrics)
  const backup = composeBackup(live, outside, storage, callers, evidence, uploadQueue)
  const privacy = composePrivacy(live, outside, storage, callers, ledger, video)
  const retention = composeRetention(live, outside, storage, video.cameras)
  const together = { ...storage, ...callers, ...ledger, ...video, ...privacy, ...evidence, ...backup.parts }
  const lower = { ...together, uploadQueue, retention, metrics, reloads }
  evidence.checkpoints.onCheckpoint(() => leafCount.renew())
  return { storage, callers, video, evidence, backup, privacy, lower, leafCount }
}

/**
 * Lists the workers in the order of their start. The cameras thread stops after everything that reads the database: its last clips
 * are recorded while it stops. The checkpoints stop last, so they also sign facts that the others write while they stop.
 * @param last stop first: a stop has its own time limit, which the last of them watches
 */
function workersOf(
  { video, evidence, backup, privacy, lower }: ComposedRooms,
  { webhooks, alerting, feeder, uploadWorker, machine, health, lastDay }: ComposedReporting,
  last: readonly BackgroundWorker[],
): BackgroundWorker[] {
  const { clockSync, clockBook, storageUsers, providerPeople, printWorker, auditDigests, retention } = lower
  const { replays, cameras, camerasThread, cameraClocks, liveViews } = video
  return [
    ...[evidence.checkpoints, evidence.witnesses, ...backup.workers, evidence.timeStamps],
    ...[clockSync, clockBook, evidence.jobs, replays, cameras, camerasThread],
    ...[storageUsers, providerPeople, webhooks.worker, alerting.worker, feeder, uploadWorker, printWorker],
    ...[auditDigests, retention],
    ...[privacy.clipExports, cameraClocks, machine, health, lastDay, liveViews],
    ...last,
  ]
}

/** Wires what `gatehouse status` reads. */
function statusOf(
  live: { config: Config },
  { clock, version, image = applianceImage }: Outside,
  parts: ComposedStorage &
    Pick<Gateway, 'warehouse'> &
    ComposedVideo &
    ComposedReporting &
    Pick<Gateway, 'checkpoints' | 'witnesses' | 'timeStamps' | 'backupSchedule' | 'segments'>,
) {
  const { work, logRoom, checkpoints, witnesses, timeStamps, cameras, webhooks, room, health, warehouse } = parts
  const { clockBook, backupSchedule, segments, uploadWellness, wanted } = parts
  return statusReader({
    live,
    version,
    work,
    logRoom,
    checkpoints,
    witnesses,
    timeStamps,
    cameras,
    webhooks,
    room,
    health,
    warehouse,
    nowMs: () => clock.now(),
    monotonicMs: () => clock.monotonic(),
    feed: () => parts.feeder.seen(),
    uploads: uploadWellness,
    uploadsClips: (id) => wanted.uploadsClips(id),
    backups: () => backupSchedule.seen(),
    segments: () => segments.seen(),
    clock: () => ({ ...clockBook.report, steps: clockBook.steps.count }),
    image: () => image(),
  })
}

type AtTheBox = Pick<Gateway, 'audit' | 'noteAccounts' | 'beginExport' | 'erasePerson' | 'rotateKeys' | 'close'>

const erasedMs = (result: ErasureResult, clock: Outside['clock']) =>
  result.outcome === 'erased-before' ? Date.parse(result.erasedAt) : clock.now()

/** Returns the copies elsewhere that still have an erased name. */
function keptCopies(
  { dataDir, site, backup, storage }: Config,
  file: BackupSchedule['settings'],
  erasedAtMs: number,
): Promise<CopiesWithNames> {
  const segments = segmentSettings({ backup, storage })
  return copiesWithNames({
    dataDir,
    siteId: site.id,
    erasedMs: erasedAtMs,
    segments,
    file,
  })
}

/** Builds the actions of a person at the box. They need no sign-in: access to the socket is access to the box. */
function atTheBox(
  live: { config: Config },
  {
    clock,
    storage,
    callers,
    video,
    evidence,
    reporting,
    backups,
    leafCount,
  }: {
    clock: Outside['clock']
    storage: ComposedStorage
    callers: ComposedCallers
    video: ComposedVideo
    evidence: ComposedEvidence
    reporting: ComposedReporting
    backups: Pick<BackupSchedule, 'settings'>
    leafCount: Pick<LeafCount, 'stop'>
  },
): AtTheBox {
  const { db, work, makeId } = storage
  const { accounts, tally, siteUrl } = callers
  const { governance } = reporting
  const origin = (mode: string) => ({ requestId: makeId(), address: 'local', mode })
  const by = (username: string) => ({
    ...origin('command'),
    caller: { username, instance: siteUrl(), authMode: 'command' },
  })
  return {
    audit: (action, changes) =>
      work.write((tx) => storage.audit.write(tx, origin('signal'), { action, entity: 'config', changes })),
    noteAccounts: (mode) => governance.noteAccounts(live.config.auth.users, origin(mode)),
    erasePerson: async (request, osUser, compactUpToBytes = compactBesideWorkBytes) => {
      const { name, instance = siteUrl() } = readName(request.name)
      const isOurs = instance === siteUrl()
      if (isOurs) accounts.refuseErasure(name)
      // Writes pending counts of the person first. Written later, they would bring the name back.
      tally.flush()
      await video.viewBook.flush()
      removeLeftRehearsal(live.config.dataDir)
      db.pragma('secure_delete = ON')
      const result = await governance.erase(request, by(osUser)).finally(() => db.pragma('secure_delete = OFF'))
      const isGone = result.outcome === 'erased' || result.outcome === 'erased-before'
      if (isGone && isOurs) await accounts.forget(name)
      if (isGone) await reporting.alerting.forget(name, instance)
      const kept = isGone
        ? await keptCopies(live.config, backups.settings, erasedMs(result, clock))
        : { copies: [], problem: null }
      return { ...result, compacted: isGone && compact(db, compactUpToBytes), kept }
    },
    beginExport: async (folder, osUser) => {
      await evidence.checkpoints.make()
      const facts = { action: 'data.exported', entity: 'config' as const, changes: { folder } }
      await work.write((tx) => storage.audit.write(tx, by(osUser), facts))
    },
    rotateKeys: (osUser) => evidence.rotation.rotate(by(osUser)),
    close: () => {
      tally.flush()
      storage.close()
      leafCount.stop()
    },
  }
}
