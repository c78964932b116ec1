import type { DetectionEventRow, ReadTx, Tx } from '../database/index.ts'
import { countLimit, type TimePlace } from '../http/index.ts'
import { isoTime } from '../platform/index.ts'
import type { DetectionEvent } from './schema.ts'

/** What was recorded of a detection when it fired. */
export type Reservation = {
  readonly id: number
  readonly event_id: string
  readonly cctv_id: number
  readonly fired_at_ms: number
  readonly score: number
  readonly scene_change: number
}

/** Takes ids that are never given out again; unused ones stay unused. */
export function takeIds(tx: Tx, count: number): number[] {
  const first = tx.oneOf<{ next: number }>('SELECT next FROM detection_id')?.next ?? 1
  tx.runOf('UPDATE detection_id SET next = ?', [first + count])
  return Array.from({ length: count }, (_, i) => first + i)
}

export function reserve(tx: Tx, firing: Reservation): void {
  tx.runOf('INSERT INTO detection_reservation VALUES (?, ?, ?, ?, ?, ?)', [
    firing.id,
    firing.event_id,
    firing.cctv_id,
    firing.fired_at_ms,
    firing.score,
    firing.scene_change,
  ])
}

export function findReservation(tx: ReadTx, id: number): Reservation | undefined {
  return tx.oneOf('SELECT * FROM detection_reservation WHERE id = ?', [id])
}

/** Says whether this camera fired in this time, `toMs` excluded, without a row yet. */
export function firedWithoutRow(tx: ReadTx, cctvId: number, fromMs: number, toMs: number): boolean {
  return openReservations(tx).some((r) => r.cctv_id === cctvId && r.fired_at_ms >= fromMs && r.fired_at_ms < toMs)
}

/** Lists reservations without a row. */
export function openReservations(tx: ReadTx): Reservation[] {
  return tx.allOf(
    `SELECT * FROM detection_reservation r
     WHERE NOT EXISTS (SELECT 1 FROM main.detection_event d WHERE d.id = r.id) ORDER BY id`,
  )
}

const columns = [
  'row',
  'id',
  'event_id',
  'log_id',
  'leaf_seq',
  'leaf_version',
  'cctv_id',
  'timestamp_ms',
  'score',
  'scene_change',
  'clip_status',
  'reason',
  'clip_sha256',
  'snapshot_sha256',
  'clip_start_ms',
  'clip_end_ms',
  'pre_roll_seconds',
  'duration_seconds',
  'asked_pre_roll_seconds',
  'clip_pictures',
  'longest_gap_seconds',
  'clip_original',
  'closed_by',
  'recorded_at_ms',
  'evidence_hash',
] as const satisfies readonly (keyof DetectionEventRow)[]

export function append(tx: Tx, row: DetectionEventRow): void {
  tx.runOf(
    `INSERT INTO main.detection_event (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    columns.map((column) => row[column]),
  )
}

export function nextRow(tx: ReadTx): number {
  return tx.oneOf<{ n: number }>('SELECT coalesce(max(row), 0) + 1 AS n FROM main.detection_event')?.n ?? 1
}

export function findDetection(tx: ReadTx, id: number): DetectionEventRow | undefined {
  return tx.oneOf('SELECT * FROM main.detection_event WHERE id = +?', [id])
}

export type DetectionFilter = {
  readonly cameras: readonly number[]
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

export type DetectionPage = {
  readonly limit: number
  readonly offset: number
  /** Only leaves after this one, in the order of the log. */
  readonly afterSeq?: number | undefined
  /** The detection after which the page begins, newest first. */
  readonly before?: TimePlace | undefined
}

/** Lists detections of the named cameras, newest first, with `afterSeq` in the order of the log. */
export function listDetections(tx: ReadTx, filter: DetectionFilter, page: DetectionPage) {
  // The plus makes SQLite use the index of the log's order for a reader that follows it.
  const parts = [`${page.afterSeq === undefined ? '' : '+'}cctv_id IN (${filter.cameras.map(() => '?').join(', ')})`]
  const values = [...filter.cameras]
  if (filter.fromMs !== undefined) {
    parts.push('timestamp_ms >= +?')
    values.push(filter.fromMs)
  }
  if (filter.toMs !== undefined) {
    parts.push('timestamp_ms < +?')
    values.push(filter.toMs)
  }
  if (page.afterSeq !== undefined) {
    parts.push('leaf_seq > +?')
    values.push(page.afterSeq)
  }
  const where = `FROM main.detection_event WHERE ${parts.join(' AND ')}`
  const behind = page.before ? ' AND (timestamp_ms, id) < (+?, +?)' : ''
  const order = page.afterSeq === undefined ? 'timestamp_ms DESC, id DESC' : 'leaf_seq'
  const rows = tx.allOf<DetectionEventRow>(`SELECT * ${where}${behind} ORDER BY ${order} LIMIT ? OFFSET ?`, [
    ...values,
    ...(page.before ? [page.before.timestampMs, page.before.id] : []),
    page.limit + 1,
    page.offset,
  ])
  const counted = tx.oneOf<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 ${where} LIMIT ${countLimit + 1})`,
    values,
  )
  const total = counted && counted.n <= countLimit ? counted.n : null
  return { rows: rows.slice(0, page.limit), hasMore: rows.length > page.limit, total }
}

export const clipPath = (id: number): string => `/api/iot/detection-events/${id}/clip`
export const snapshotPath = (id: number): string => `/api/iot/detection-events/${id}/snapshot`

export function toDetectionEvent(
  row: DetectionEventRow,
  at: { siteUrl: string; uploadStatus: DetectionEvent['uploadStatus'] },
): DetectionEvent {
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms))
  const url = (path: string, sha256: string | null) => (sha256 === null ? null : `${at.siteUrl}${path}`)
  return {
    id: row.id,
    eventId: row.event_id,
    seq: row.leaf_seq,
    cctvId: row.cctv_id,
    timestamp: isoTime(row.timestamp_ms),
    duration: row.duration_seconds,
    score: row.score,
    sceneChange: row.scene_change === 1,
    clipStatus: row.clip_status,
    reason: row.reason,
    clipUrls: {
      playback: url(clipPath(row.id), row.clip_sha256),
      storage: null,
      snapshot: url(snapshotPath(row.id), row.snapshot_sha256),
    },
    clipSha256: row.clip_sha256,
    snapshotSha256: row.snapshot_sha256,
    evidenceHash: row.evidence_hash,
    anchor: 'hashed',
    uploadStatus: at.uploadStatus,
    clipStart: time(row.clip_start_ms),
    clipEnd: time(row.clip_end_ms),
    preRollSeconds: row.pre_roll_seconds,
    askedPreRollSeconds: row.asked_pre_roll_seconds,
    pictures: row.clip_pictures,
    longestGapSeconds: row.longest_gap_seconds,
    original: row.clip_original === null ? null : row.clip_original === 1,
    closedBy: row.closed_by,
  }
}

export type Control = {
  readonly cctv_id: number
  readonly action: 'start' | 'stop'
  readonly settings: string
  readonly config_sha256: string
}

export function findControl(tx: ReadTx, cctvId: number): Control | undefined {
  return tx.oneOf('SELECT cctv_id, action, settings, config_sha256 FROM motion_control WHERE cctv_id = ?', [cctvId])
}

export function keepControl(tx: Tx, control: Control, nowMs: number): void {
  tx.runOf(
    `INSERT INTO motion_control (cctv_id, action, settings, config_sha256, at_ms) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (cctv_id) DO UPDATE SET action = excluded.action, settings = excluded.settings,
       config_sha256 = excluded.config_sha256, at_ms = excluded.at_ms`,
    [control.cctv_id, control.action, control.settings, control.config_sha256, nowMs],
  )
}
