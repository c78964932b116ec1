import {
  type BackupPlace,
  type BackupRequest,
  BackupSchedule,
  Backups,
  folderPlace,
  loadRecoveryKey,
  type MakeFile,
  type ScheduleSettings,
  SegmentKeeper,
  type SegmentSettings,
  SegmentUploads,
  StoragePlace,
} from '../../backup/index.ts'
import { type Config, readSecretFile, settingsFiles } from '../../config/index.ts'
import { remoteByHttp, type UploadQueue, uploadsFolder } from '../../upload/index.ts'
import type { Outside } from '../outside.ts'
import { Jobs } from '../threads/jobs.ts'
import type { ComposedCallers } from './callers.ts'
import type { ComposedEvidence } from './evidence.ts'
import type { ComposedStorage } from './storage.ts'
import { uploadTarget } from './upload.ts'

/** Builds the parts that copy the ledger to another place. Their jobs run in a separate thread of the lowest priority. */
export function composeBackup(
  live: { config: Config },
  { clock, log, random, version, configFile }: Outside,
  { work, audit, makeId, logRoom }: ComposedStorage,
  { siteUrl }: ComposedCallers,
  { checkpoints }: ComposedEvidence,
  uploadQueue: UploadQueue,
) {
  const backupJobs = new Jobs({ log, clock })
  const backups = new Backups({
    work,
    clock,
    audit,
    checkpoints,
    version,
    makeId,
    dataDir: live.config.dataDir,
    reserveBytes: () => live.config.retention.ledgerReserveBytes,
    settings: () => settingsFiles(live.config, configFile),
    run: (order) => backupJobs.backup(order),
  })
  const backup = (request: Omit<BackupRequest, 'caller'>, osUser: string) =>
    backups.make({ ...request, caller: { username: osUser, instance: siteUrl(), authMode: 'command' } })
  const { dataDir, site } = live.config
  const remote = remoteByHttp({ clock, version, maxBytesPerSecond: () => null })
  const access = async () => {
    const target = uploadTarget(live.config)
    if (!target) throw new Error('storage.upload is not set')
    const account = { ...target, password: readSecretFile(target.passwordFile) }
    return uploadsFolder(remote, account, { root: target.root, version })
  }
  const make: MakeFile = (target, sealed, nowMs) =>
    backups.make({ target, sealed, media: takesMedia(live.config), nowMs, caller: null })
  let onServer: StoragePlace | undefined
  const placeOf = (to: NonNullable<Config['backup']['file']['to']>) => {
    if (to !== 'storage') return folderPlace(to.folder, site.id, make)
    const id = storageId(live.config)
    const needs = { work, clock, queue: uploadQueue, dataDir, siteId: site.id, make, access }
    if (onServer?.target !== id) onServer = new StoragePlace(id, needs)
    return onServer
  }
  const backupSchedule = new BackupSchedule({
    clock,
    log,
    dataDir,
    settings: () => scheduleOf(live.config, placeOf),
    rehearse: (backup) => {
      const reserveBytes = live.config.retention.ledgerReserveBytes
      return backupJobs.rehearse({ backup, dataDir, reserveBytes, nowMs: clock.now() })
    },
  })
  const segmentJobs = new Jobs({ log, clock })
  const segments = new SegmentKeeper({
    work,
    clock,
    log,
    checkpoints,
    version,
    dataDir,
    siteId: site.id,
    uploads: new SegmentUploads({ work, dataDir, queue: uploadQueue, access }),
    settings: () => segmentSettings(live.config),
    logSize: () => logRoom.size,
    configFiles: () => settingsFiles(live.config, configFile),
    reserveBytes: () => live.config.retention.ledgerReserveBytes,
    makeKey: () => loadRecoveryKey(dataDir, random),
    isRehearsed: () => live.config.backup.file.to === null,
    rehearse: (order) => backupJobs.rehearseSegments(order),
    run: (order) => segmentJobs.segments(order),
  })
  return {
    parts: { backup, backupJobs, backupSchedule, segmentJobs, segments },
    workers: [backups, backupJobs, backupSchedule, segmentJobs, segments],
  }
}

/** Tells storage servers, and the folders of uploads on them, apart. */
const storageId = ({ storage }: Pick<Config, 'storage'>) =>
  `${storage.upload?.instance ?? ''}${storage.upload?.root ?? ''}`

/** Returns the configured schedule of backups; null: none are made. */
function scheduleOf(
  { backup, storage }: Pick<Config, 'backup' | 'storage'>,
  placeOf: (to: NonNullable<Config['backup']['file']['to']>) => BackupPlace,
): ScheduleSettings | null {
  const { to, every: everyMs, keep } = backup.file
  if (to === null || (to === 'storage' && !storage.upload)) return null
  return { place: placeOf(to), everyMs, keep, media: takesMedia({ backup, storage }) }
}

/** Says whether scheduled backups contain photos and clips. */
function takesMedia({ backup, storage }: Pick<Config, 'backup' | 'storage'>): boolean {
  const { media } = backup.file
  return media === 'auto' ? storage.upload === null : media
}

/** Returns the configured segments; null: none are written. */
export function segmentSettings({ backup, storage }: Pick<Config, 'backup' | 'storage'>): SegmentSettings | null {
  const { to, every: everyMs, leaves, keep: keepMs } = backup.segments
  if (to === null || (to === 'storage' && !storage.upload)) return null
  const target =
    to === 'storage' ? { kind: to, id: storageId({ storage }) } : { kind: 'folder' as const, folder: to.folder }
  return { target, everyMs, leaves, keepMs }
}
