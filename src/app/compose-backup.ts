import { type BackupRequest, BackupSchedule, Backups } from '../backup/index.ts'
import { type Config, settingsFiles } from '../config/index.ts'
import type { ComposedCallers } from './compose-callers.ts'
import type { ComposedEvidence } from './compose-evidence.ts'
import type { ComposedStorage } from './compose-storage.ts'
import { Jobs } from './jobs.ts'
import type { Outside } from './outside.ts'

/** What copies the ledger to another place. Its jobs have a thread of their own, of the lowest priority. */
export function composeBackup(
  live: { config: Config },
  { clock, log, version, configFile }: Outside,
  { work, audit, makeId }: ComposedStorage,
  { siteUrl }: ComposedCallers,
  { checkpoints }: ComposedEvidence,
) {
  const backupJobs = new Jobs({ log, clock })
  const backups = new Backups({
    ...{ work, clock, audit, checkpoints, version, makeId, dataDir: live.config.dataDir },
    reserveBytes: () => live.config.retention.ledgerReserveBytes,
    settings: () => settingsFiles(live.config, configFile),
    run: (order) => backupJobs.backup(order),
  })
  const backup = (request: Omit<BackupRequest, 'caller'>, osUser: string) =>
    backups.make({ ...request, caller: { username: osUser, instance: siteUrl(), authMode: 'command' } })
  const { dataDir, site } = live.config
  const backupSchedule = new BackupSchedule({
    ...{ clock, log, dataDir, siteId: site.id },
    settings: () => {
      const { to, every, keep } = live.config.backup.file
      return to && { folder: to.folder, everyMs: every, keep }
    },
    make: (target) => backups.make({ target, media: false, caller: null }),
    rehearse: (file) => {
      const reserveBytes = live.config.retention.ledgerReserveBytes
      return backupJobs.rehearse({ file, dataDir, reserveBytes, nowMs: clock.now() })
    },
  })
  return { parts: { backup, backupJobs, backupSchedule }, workers: [backups, backupJobs, backupSchedule] }
}
