import type { Config } from '../../config/index.ts'
import { type ReportFacts, reportFile, reportsAfter } from '../../governance/index.ts'
import type { Metrics } from '../../health/index.ts'
import {
  clipSource,
  photoSource,
  remoteByHttp,
  reportUpload,
  type Source,
  UploadQueue,
  UploadService,
  UploadWorker,
  wellnessOf,
} from '../../upload/index.ts'
import type { Webhooks } from '../../webhooks/index.ts'
import type { Outside } from '../outside.ts'
import type { ComposedStorage } from './storage.ts'
import type { ComposedVideo } from './video.ts'

/** Builds the upload queue, before the rooms below that put their files into it. */
export function composeUploadQueue(live: { config: Config }, { clock }: Outside): UploadQueue {
  return new UploadQueue({ clock, settings: () => live.config.storage.upload })
}

/** Builds the sender of the queue to the storage server, and the view that callers have of it. */
export function composeUploads(
  live: { config: Config },
  { clock, log, version }: Outside,
  parts: ComposedStorage &
    Pick<ComposedVideo, 'wanted'> & {
      readonly uploadQueue: UploadQueue
      readonly webhooks: Webhooks
      readonly metrics: Metrics
    },
) {
  const { work, audit, wanted, uploadQueue: queue, webhooks, metrics } = parts
  const { dataDir, site } = live.config
  const remote = remoteByHttp({
    ...{ clock, version },
    maxBytesPerSecond: () => live.config.storage.upload?.maxBytesPerSecond ?? null,
  })
  const uploadWorker = new UploadWorker({
    ...{ work, clock, log, queue, remote, dataDir },
    target: () => uploadTarget(live.config),
    sources: [clipSource(site.id, (id) => wanted.uploadsClips(id)), photoSource(site.id), reportSource(site.id)],
    raise: (tx, alert) => webhooks.raise(tx, alert),
    raiseOnce: (tx, alert) => webhooks.raiseOnce(tx, alert),
    onUploaded: (kind, bytes) => metrics.uploaded(kind, bytes),
  })
  const uploads = new UploadService({
    ...{ work, audit, clock },
    target: () => uploadTarget(live.config),
    onRetry: () => uploadWorker.tryNow(),
    line: () => uploadWorker.line,
  })
  const uploadWellness = wellnessOf({
    ...{ work, clock, isConfigured: () => queue.isConfigured, line: () => uploadWorker.line },
  })
  return { uploadWorker, uploads, uploadWellness }
}

/** Returns the storage server for uploads with its user; null while `storage.upload` is not set. */
export function uploadTarget({ storage: { upload, instances } }: Config) {
  const instance = upload && instances.find(({ url }) => url === upload.instance)
  return upload && instance ? { ...upload, instance } : null
}

/** Puts a report into the queue, because the room that makes reports lies above upload. */
export const reportToUpload = (siteId: string, report: ReportFacts) => {
  const { id, sha256, size_bytes: sizeBytes, created_at_ms: createdAtMs } = report
  return reportUpload(siteId, { id, sha256, sizeBytes, createdAtMs, file: reportFile('', sha256) })
}

function reportSource(siteId: string): Source {
  return {
    kind: 'report',
    after: (tx, row, limit) => {
      const reports = reportsAfter(tx, row, limit)
      const last = reports.at(-1)
      return last && { upTo: last.id, files: reports.map((report) => reportToUpload(siteId, report)) }
    },
  }
}
