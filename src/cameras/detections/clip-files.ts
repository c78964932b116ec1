import { join } from 'node:path'
import { type RawBuilder, sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, type RowOf, statements, type Tx } from '../../database/index.ts'
import { type Hold, holdsOn, type Removal, removalsOfDetection } from '../../log/index.ts'
import { findDetection } from '../store.ts'
import { sql, tables } from '../tables.ts'

/** A clip on the disk, with its snapshot. */
export type ClipFile = RowOf<typeof tables.clip_file>

/** The place of a clip in the order of age. */
export type ClipPlace = Pick<ClipFile, 'timestamp_ms' | 'detection_id'>

const newClipFile = built(tables.clip_file, (row) => sql.insertInto('clip_file').values(row))
const withoutClipFile = built(pick(tables.clip_file, 'detection_id'), ({ detection_id }) =>
  sql.deleteFrom('clip_file').where('detection_id', '=', detection_id),
)
const behindPlace = (ms: RawBuilder<number>, id: RawBuilder<number>) =>
  sql
    .selectFrom('clip_file')
    .selectAll()
    .where(({ eb, refTuple, tuple }) => eb(refTuple('timestamp_ms', 'detection_id'), '>', tuple(ms, id)))
    .orderBy('timestamp_ms')
    .orderBy('detection_id')
const oldest = built({ ms: integer, id: integer, limit: integer }, ({ ms, id, limit }) =>
  behindPlace(ms, id).limit(limit),
)
const oldestOfCamera = built(
  { cctv_id: integer, ms: integer, id: integer, until_ms: integer, limit: integer },
  ({ cctv_id, ms, id, until_ms, limit }) =>
    behindPlace(ms, id).where('cctv_id', '=', cctv_id).where('timestamp_ms', '<=', until_ms).limit(limit),
)
const nextCamera = built(pick(tables.clip_file, 'cctv_id'), ({ cctv_id }) =>
  sql.selectFrom('clip_file').select('cctv_id').where('cctv_id', '>', cctv_id).orderBy('cctv_id').limit(raw.lit(1)),
)
const inSpan = statements({
  columns: { detection_id: integer },
  sql: (count: number) => `SELECT detection_id FROM main.clip_file
    WHERE cctv_id IN (${Array.from({ length: count }, () => '+?').join(', ')}) AND timestamp_ms >= +? AND timestamp_ms <= +?
    ORDER BY timestamp_ms, detection_id LIMIT 100`,
  samples: [[1], [2]],
})

/** Notes that the clip of a detection is on the disk. In the transaction of the detection's row. */
export function keepClipFile(tx: Tx, file: ClipFile): void {
  tx.run(newClipFile, file)
}

/** Returns clips behind a place, the oldest first. */
export function clipsAfter(tx: ReadTx, place: ClipPlace, limit: number): ClipFile[] {
  return tx.all(oldest, { ms: place.timestamp_ms, id: place.detection_id, limit })
}

/** Returns clips of a camera that fired at `untilMs` or before, behind a place, the oldest first. */
export function clipsOfCamera(
  tx: ReadTx,
  cctvId: number,
  { place, untilMs, limit }: { place: ClipPlace; untilMs: number; limit: number },
): ClipFile[] {
  return tx.all(oldestOfCamera, {
    cctv_id: cctvId,
    ms: place.timestamp_ms,
    id: place.detection_id,
    until_ms: untilMs,
    limit,
  })
}

/** Returns the numbers of the cameras that have clips on the disk, also of those that the config has no more. */
export function camerasWithClips(tx: ReadTx): number[] {
  const found: number[] = []
  for (let next = tx.get(nextCamera, { cctv_id: -1 }); next; next = tx.get(nextCamera, next)) found.push(next.cctv_id)
  return found
}

/** Returns detections of cameras that fired in a span and have their clip on the disk, at most 100. */
export function clipsIn(tx: ReadTx, cameras: readonly number[], span: { fromMs: number; toMs: number }): number[] {
  if (cameras.length === 0) return []
  return tx.all(inSpan(cameras.length), [...cameras, span.fromMs, span.toMs]).map((row) => row.detection_id)
}

/** Returns what holds the clip of a detection or its snapshot. Either keeps both. */
export function holdsOnClip(tx: ReadTx, detectionId: number): Hold[] {
  const row = findDetection(tx, detectionId)
  return [row?.clip_sha256, row?.snapshot_sha256].flatMap((sha256) => (sha256 ? holdsOn(tx, sha256) : []))
}

/** Files of a clip that was taken off the list, for `removeMedia`. */
export type TakenOff = {
  readonly cctvId: number
  readonly files: readonly Pick<Removal, 'sha256' | 'media_kind' | 'path'>[]
}

/**
 * Takes a clip and its snapshot off the list of files on the disk, and returns them for `removeMedia`. Returns no files when they
 * are off it already. Ask `holdsOnClip` in the same transaction before.
 */
export function takeClipOff(tx: Tx, detectionId: number): TakenOff {
  const row = findDetection(tx, detectionId)
  if (!row || tx.run(withoutClipFile, { detection_id: detectionId }).changes === 0) return { cctvId: 0, files: [] }
  const kinds = [
    { media_kind: 'clip' as const, sha256: row.clip_sha256 },
    { media_kind: 'snapshot' as const, sha256: row.snapshot_sha256 },
  ]
  const files = kinds.flatMap(({ media_kind, sha256 }) =>
    sha256 === null ? [] : [{ media_kind, sha256, path: join('clips', fileOf(detectionId, media_kind)) }],
  )
  return { cctvId: row.cctv_id, files }
}

/** Says why and when the clip of a detection was removed; undefined while there was no removal. */
export function expiryOf(tx: ReadTx, detectionId: number) {
  return removalsOfDetection(tx, detectionId).find((removal) => removal.media_kind === 'clip')
}

/** Returns the name of a detection's file in the folder of the clips. */
export const fileOf = (id: number, kind: 'clip' | 'snapshot') => (kind === 'clip' ? `${id}.mp4` : `${id}.png`)
