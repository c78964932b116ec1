import type { CamerasService } from '../../cameras/index.ts'
import type { Config } from '../../config/index.ts'
import { Retention, type RetentionSettings } from '../../retention/index.ts'
import { uploadedAt } from '../../upload/index.ts'
import type { Outside } from '../outside.ts'
import type { ComposedStorage } from './storage.ts'

/** Removes clips and photos by age and free space. */
export function composeRetention(
  live: { config: Config },
  outside: Outside,
  storage: ComposedStorage,
  cameras: Pick<CamerasService, 'waitingClips' | 'giveUpClip' | 'onClipWaits'>,
): Retention {
  const { clock, log: logger } = outside
  const { work, logRoom: log, audit, makeId, clockSync, room } = storage
  const retention = new Retention({
    work,
    clock,
    logger,
    log,
    audit,
    makeId,
    clockIsTrusted: () => clockSync.isTrusted(clock.now()),
    dataDir: live.config.dataDir,
    freeBytes: () => room.free().bytes,
    settings: () => retentionSettings(live.config),
    uploadedAtMs: uploadedAt,
    waiting: { list: () => cameras.waitingClips(), giveUp: (id, words) => cameras.giveUpClip(id, words) },
  })
  cameras.onClipWaits(() => void retention.clipWaits())
  return retention
}

function retentionSettings({ cameras, retention }: Config): RetentionSettings {
  const { clips, photos, minFreeBytes, ledgerReserveBytes } = retention
  return {
    clipDays: (cctvId) => {
      const usual = { days: clips.maxAgeDays, key: 'retention.clips.maxAgeDays' }
      const own = cameras.flatMap(({ id, retentionDays: days }) =>
        days !== null && (cctvId === null || cctvId === id) ? [{ days, key: `cameras[${id}].retentionDays` }] : [],
      )
      const all = cctvId === null ? [usual, ...own] : own
      return all.reduce((longest, one) => (one.days > longest.days ? one : longest), all[0] ?? usual)
    },
    // Below the reserve no clip is recorded; room has to be made before that.
    minFreeBytes: Math.max(minFreeBytes, ledgerReserveBytes),
    keepLocalDays: photos.keepLocalDays,
  }
}
