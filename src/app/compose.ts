import type { StorageUsers } from '../auth/index.ts'
import type { BackupMade, BackupRequest, BackupSchedule } from '../backup/index.ts'
import type { CameraClocks, CamerasService, LiveViews, Snapshots, ViewBook } from '../cameras/index.ts'
import type { ClockBook } from '../clock/index.ts'
import type { Config } from '../config/index.ts'
import { compact } from '../database/index.ts'
import {
  type Checkpoints,
  checkSignedHead,
  type Proofs,
  type TimeStamps,
  type Witness,
  type Witnesses,
} from '../evidence/index.ts'
import type { ErasureRequest, ErasureResult } from '../governance/index.ts'
import { type HealthWatch, Metrics } from '../health/index.ts'
import type { Api } from '../http/index.ts'
import type { ImportService } from '../imports/index.ts'
import type { AuditDigests } from '../journal/index.ts'
import type { PrintWorker } from '../labels/index.ts'
import type { OnRecorded } from '../ledger/index.ts'
import type { LogIdentity } from '../log/index.ts'
import type { ClockSync } from '../platform/index.ts'
import type { Exports } from '../privacy/index.ts'
import type { Retention } from '../retention/index.ts'
import type { UploadWorker } from '../upload/index.ts'
import type { WarehouseService } from '../warehouse/index.ts'
import type { Webhooks } from '../webhooks/index.ts'
import type { CamerasThread } from './cameras-thread.ts'
import { composeApi, composeMetricsApi } from './compose-api.ts'
import { composeBackup } from './compose-backup.ts'
import { type ComposedCallers, composeCallers } from './compose-callers.ts'
import { composeEvidence } from './compose-evidence.ts'
import { composeLedger } from './compose-ledger.ts'
import { composePrivacy } from './compose-privacy.ts'
import { type ComposedReporting, composeReporting } from './compose-reporting.ts'
import { composeRetention } from './compose-retention.ts'
import { type ComposedStorage, composeStorage } from './compose-storage.ts'
import { composeUploadQueue } from './compose-upload.ts'
import { type ComposedVideo, composeVideo } from './compose-video.ts'
import type { Jobs } from './jobs.ts'
import type { Outside } from './outside.ts'
import { WorkWatch } from './work-watch.ts'

/** Upper bound for compacting the file while serving; it blocks the event loop for about 0.3 s. */
const compactBesideWorkBytes = 64 * 1024 * 1024

/** Runs beside the requests from start to stop. */
export type BackgroundWorker = {
  start?(): void | Promise<void>
  stop(): void | Promise<void>
}

/** Acts on a changed config by itself; everything else reads `live.config` when it needs it. */
export type ReloadFollower = { onReload(): void }

/** Everything that runs, wired. `live` holds the config that a reload exchanges. */
export type Gateway = {
  readonly live: { config: Config }
  readonly api: Api
  /** What GET /metrics answers on the listener for collectors; undefined without one. */
  readonly metricsApi: Api | undefined
  /** In the order of their start. They stop in the opposite order. */
  readonly workers: readonly BackgroundWorker[]
  readonly reloadFollowers: readonly ReloadFollower[]
  readonly jobs: Jobs
  readonly backupJobs: Jobs
  readonly backupSchedule: BackupSchedule
  readonly checkpoints: Checkpoints
  readonly proofs: Proofs
  readonly witnesses: Witnesses
  readonly witness: Witness
  readonly timeStamps: TimeStamps
  readonly logIdentity: LogIdentity
  readonly camerasThread: CamerasThread
  readonly cameras: CamerasService
  readonly retention: Retention
  readonly liveViews: LiveViews
  readonly viewBook: ViewBook
  readonly snapshots: Snapshots
  readonly webhooks: Webhooks
  readonly storageUsers: StorageUsers
  readonly printWorker: PrintWorker
  readonly uploadWorker: UploadWorker
  readonly health: HealthWatch
  readonly clockSync: ClockSync
  readonly auditDigests: AuditDigests
  readonly clockBook: ClockBook
  readonly cameraClocks: CameraClocks
  readonly imports: ImportService
  readonly warehouse: WarehouseService
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
  ) => Promise<ErasureResult & { readonly compacted: boolean }>
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
  const metrics = new Metrics()
  const storage = await composeStorage(live, outside, withFirstAdmin)
  checkSignedHead(config.dataDir, storage.atOnce)
  const callers = composeCallers(live, outside, storage, metrics)
  const uploadQueue = composeUploadQueue(live, outside)
  const reserve: OnRecorded = (tx, event) => video.films.reserve(tx, event)
  const ledger = composeLedger(live, outside, storage, callers, reserve, uploadQueue)
  const video: ComposedVideo = composeVideo(live, outside, storage, callers, ledger, uploadQueue)
  const evidence = composeEvidence(live, outside, { ...storage, ...callers, ...ledger, ...video }, metrics)
  const backup = composeBackup(live, outside, storage, callers, evidence)
  const privacy = composePrivacy(live, outside, storage, callers, ledger, video)
  const retention = composeRetention(live, outside, storage)
  const lower = {
    ...storage,
    ...callers,
    ...ledger,
    ...video,
    ...privacy,
    ...evidence,
    ...backup.parts,
    uploadQueue,
    retention,
    metrics,
  }
  const reporting = composeReporting(live, outside, lower)
  const metricsListener = composeMetricsApi(config, outside, lower)
  const { camerasThread, cameras, liveViews, viewBook, snapshots } = video
  const { webhooks, health, uploadWorker } = reporting
  const { jobs, checkpoints, proofs, witnesses, witness, timeStamps } = evidence
  const workWatch = new WorkWatch({
    ...{ manager: outside.manager, work: storage.work, clock: outside.clock, log: outside.log },
    isConfigured: (cameraId) => live.config.cameras.some(({ id }) => id === cameraId),
  })
  camerasThread.listen(workWatch)
  const { clockSync, clockBook, storageUsers, printWorker, imports, warehouse, makeId, auditDigests } = lower
  return {
    logIdentity: storage.logRoom.identity,
    ...{ live, jobs, ...backup.parts, checkpoints, proofs, witnesses, witness, timeStamps },
    ...{ camerasThread, cameras, liveViews, viewBook, snapshots, retention, webhooks },
    ...{ storageUsers, printWorker, health, clockSync, clockBook, auditDigests },
    ...{ imports, warehouse, makeId, uploadWorker, clipExports: privacy.clipExports, cameraClocks: video.cameraClocks },
    api: composeApi(live, outside, { ...lower, ...reporting }),
    metricsApi: metricsListener?.api,
    // The cameras thread stops after everything that reads the database: its last clips are recorded while it stops.
    // The checkpoints stop last: what the others wrote while they stopped is signed too.
    workers: [
      checkpoints,
      witnesses,
      ...backup.workers,
      timeStamps,
      clockSync,
      clockBook,
      jobs,
      video.replays,
      cameras,
      camerasThread,
      storageUsers,
      webhooks.worker,
      uploadWorker,
      printWorker,
      auditDigests,
      retention,
      privacy.clipExports,
      video.cameraClocks,
      health,
      liveViews,
      // Stops first: a stop has its own time limit.
      workWatch,
    ],
    reloadFollowers: [
      ...[camerasThread, printWorker, cameras, uploadWorker, liveViews, metricsListener],
      witnesses,
      timeStamps,
    ].filter((one) => one !== undefined),
    ...atTheBox(live, { storage, callers, video, reporting }),
  }
}

type AtTheBox = Pick<Gateway, 'audit' | 'noteAccounts' | 'erasePerson' | 'close'>

/** What a person at the box does: no one signs in for it, because whoever can do it has the box. */
function atTheBox(
  live: { config: Config },
  {
    storage,
    callers,
    video,
    reporting,
  }: {
    storage: ComposedStorage
    callers: ComposedCallers
    video: ComposedVideo
    reporting: ComposedReporting
  },
): AtTheBox {
  const { db, work, makeId } = storage
  const { tally, siteUrl } = callers
  const { governance } = reporting
  const origin = (mode: string) => ({ requestId: makeId(), address: 'local', mode })
  return {
    audit: (action, changes) =>
      work.write((tx) => storage.audit.write(tx, origin('signal'), { action, entity: 'config', changes })),
    noteAccounts: (mode) => governance.noteAccounts(live.config.auth.users, origin(mode)),
    erasePerson: async (request, osUser, compactUpToBytes = compactBesideWorkBytes) => {
      const caller = { username: osUser, instance: siteUrl(), authMode: 'command' }
      // What is still counted of the person is written first: written later, it would bring the name back.
      tally.flush()
      await video.viewBook.flush()
      db.pragma('secure_delete = ON')
      const result = await governance
        .erase(request, { ...origin('command'), caller })
        .finally(() => db.pragma('secure_delete = OFF'))
      const isGone = result.outcome === 'erased' || result.outcome === 'erased-before'
      return { ...result, compacted: isGone && compact(db, compactUpToBytes) }
    },
    close: () => {
      tally.flush()
      storage.close()
    },
  }
}
