import { type DetectionEventRow, fileOf } from '../cameras/index.ts'
import type { ReadTx } from '../database/index.ts'
import { findMedia, holdsOn, type Media } from '../log/index.ts'
import { extensionOf, photoFile } from '../photos/index.ts'
import { isoTime } from '../platform/index.ts'
import { clipPath, photoPath, reportPath } from './dav/paths.ts'
import type { NewFile } from './queue.ts'

/** Returns the upload of a detection's clip; undefined when it has none. */
export function clipUpload(tx: ReadTx, siteId: string, row: DetectionEventRow): NewFile | undefined {
  const { id, cctv_id: cctvId, clip_sha256: sha256, duration_seconds: duration } = row
  const media = sha256 === null ? undefined : findMedia(tx, sha256)
  if (!media) return undefined
  const { sizeBytes } = media
  const seconds = duration ?? 0
  return {
    ...{ kind: 'clip', ref: String(id), sha256: media.sha256, sizeBytes, cctvId },
    path: clipPath(siteId, { id, cctvId, atMs: row.timestamp_ms, seconds }),
    file: `clips/${fileOf(id, 'clip')}`,
    urgent: holdsOn(tx, media.sha256).some(({ reason }) => reason === 'incident'),
    about: {
      ...{ siteId, detectionId: id, cameraId: cctvId, timestamp: isoTime(row.timestamp_ms), duration: seconds },
      ...{ sha256: media.sha256, sizeBytes, evidenceHash: row.evidence_hash },
      clipStart: row.clip_start_ms === null ? null : isoTime(row.clip_start_ms),
      clipEnd: row.clip_end_ms === null ? null : isoTime(row.clip_end_ms),
    },
  }
}

export function photoUpload(
  tx: ReadTx,
  siteId: string,
  { sha256, mediaType, sizeBytes, receivedAtMs }: Media,
): NewFile {
  return {
    ...{ kind: 'photo', ref: sha256, sha256, sizeBytes },
    path: photoPath(siteId, { sha256, extension: extensionOf(mediaType), atMs: receivedAtMs }),
    file: photoFile('', { sha256, mediaType }),
    urgent: holdsOn(tx, sha256).some(({ reason }) => reason === 'incident'),
  }
}

export type ReportFile = {
  readonly id: number
  readonly sha256: string
  readonly sizeBytes: number
  readonly createdAtMs: number
  /** Below the data folder. */
  readonly file: string
}

export function reportUpload(siteId: string, { id, sha256, sizeBytes, createdAtMs, file }: ReportFile): NewFile {
  const path = reportPath(siteId, { id, atMs: createdAtMs })
  return { kind: 'report', ref: String(id), sha256, sizeBytes, path, file }
}
