import { join } from 'node:path'
import type { Config } from '../../config/index.ts'
import { Exports, Notices, Redactions } from '../../privacy/index.ts'
import type { Outside } from '../outside.ts'
import type { ComposedCallers } from './callers.ts'
import type { ComposedLedger } from './ledger.ts'
import type { ComposedStorage } from './storage.ts'
import type { ComposedVideo } from './video.ts'

export type ComposedPrivacy = ReturnType<typeof composePrivacy>

/** Builds the notices, and the redactions and exports of video. */
export function composePrivacy(
  live: { config: Config },
  { clock, log: logger }: Outside,
  { work, people, openings, audit, clockSync }: ComposedStorage,
  { signedUrls }: ComposedCallers,
  { warehouse }: ComposedLedger,
  { camerasThread, configured: cameras, detections, wanted }: ComposedVideo,
) {
  const notices = new Notices({
    work,
    clock,
    cameras,
    warehouse,
    config: () => live.config,
    uploadsClips: (cctvId) => wanted.uploadsClips(cctvId),
  })
  const redactions = new Redactions({
    work,
    clock,
    logger,
    people,
    audit,
    cameras,
    detections,
    link: camerasThread,
    clipsDir: join(live.config.dataDir, 'clips'),
  })
  camerasThread.listen(redactions)
  const clipExports = new Exports({
    work,
    clock,
    logger,
    people,
    openings,
    audit,
    cameras,
    detections,
    redactions,
    signedUrls,
    clockIsTrusted: () => clockSync.isTrusted(),
    fourEyes: () => live.config.privacy.fourEyesForExport,
  })
  return { notices, redactions, clipExports }
}
