export { type CopiesWithNames, copiesWithNames } from './copies-with-names.ts'
export { type BackupMade, type BackupOrder, makeBackup } from './make.ts'
export { Pace, stepBack } from './pace.ts'
export { type BackupPlace, folderPlace, type MakeFile, StoragePlace } from './places.ts'
export { loadRecoveryKey, readRecoveryLine, recoveryLine, terminalQr } from './recovery-key.ts'
export {
  type RehearsalOrder,
  type Rehearsed,
  rehearse,
  rehearseSegments,
  removeLeftRestore,
  type SegmentsRehearsal,
  type SegmentsRehearsed,
} from './rehearse.ts'
export { type Restored, restoreBackup, restoreSegments } from './restore.ts'
export { BackupSchedule, type BackupsSeen, type ScheduleSettings } from './schedule.ts'
export { SegmentKeeper, type SegmentSettings, type SegmentsSeen } from './segments/keeper.ts'
export { folderSource } from './segments/source.ts'
export { SegmentUploads } from './segments/uploads.ts'
export { type SegmentsMade, type SegmentsOrder, writeSegments } from './segments/write.ts'
export { type BackupRequest, Backups } from './service.ts'
export { settleRestore } from './swap.ts'
export { tarEnd, tarHeader, tarPadding } from './tar.ts'
