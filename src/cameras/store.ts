import {
  built,
  integer,
  pick,
  type ReadTx,
  type RowOf,
  statement,
  statements,
  type Tx,
  word,
} from '../database/index.ts'
import { countLimit, type TimePlace } from '../http/index.ts'
import { statedSql } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import type { DetectionEvent } from './schema.ts'
import { type DetectionEventRow, sql, tables } from './tables.ts'

const nextId = built({}, () => sql.selectFrom('detection_id').select('next'))
const newNextId = built(pick(tables.detection_id, 'next'), ({ next }) => sql.updateTable('detection_id').set({ next }))
const newReservation = built(tables.detection_reservation, (row) => sql.insertInto('detection_reservation').values(row))
const reservationById = built(pick(tables.detection_reservation, 'id'), ({ id }) =>
  sql.selectFrom('detection_reservation').selectAll().where('id', '=', id),
)
const reservationsWithoutRow = statement({
  columns: tables.detection_reservation,
  sql: `SELECT * FROM detection_reservation r
    WHERE NOT EXISTS (SELECT 1 FROM main.detection_event d WHERE d.id = r.id) ORDER BY id`,
})
const newDetection = built(tables.detection_event, (row) => sql.insertInto('detection_event').values(row))
const rowToCome = statement({
  columns: { n: integer },
  sql: 'SELECT coalesce(max(row), 0) + 1 AS n FROM main.detection_event',
})
const detectionById = built(pick(tables.detection_event, 'id'), ({ id }) =>
  sql.selectFrom('detection_event').selectAll().where('id', '=', id),
)
const controlOf = built(pick(tables.motion_control, 'cctv_id'), ({ cctv_id }) =>
  sql
    .selectFrom('motion_control')
    .select(['cctv_id', 'action', 'settings', 'config_sha256'])
    .where('cctv_id', '=', cctv_id),
)
const keptControl = built(tables.motion_control, ({ cctv_id, ...facts }) =>
  sql
    .insertInto('motion_control')
    .values({ cctv_id, ...facts })
    .onConflict((on) => on.column('cctv_id').doUpdateSet(facts)),
)
const clips = built({}, () =>
  sql
    .selectFrom('detection_event')
    .select(['id', 'clip_sha256', 'snapshot_sha256'])
    .where('clip_sha256', 'is not', null),
)
const countedByStatus = statement({
  columns: { status: word<DetectionEventRow['clip_status']>(), n: integer },
  sql: `SELECT clip_status AS status, count(*) AS n FROM main.detection_event
    WHERE timestamp_ms >= +? AND timestamp_ms < +? AND (log_id, leaf_seq) <= (?, ?) GROUP BY clip_status ORDER BY clip_status`,
})

const asked = statedSql('detection_event', 'detection')

/** The rows that leaves state, for verification. */
export const statedDetections = {
  between: statement({ columns: tables.detection_event, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

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
  const first = tx.get(nextId)?.next ?? 1
  tx.run(newNextId, { next: first + count })
  return Array.from({ length: count }, (_, i) => first + i)
}

export function reserve(tx: Tx, firing: Reservation): void {
  tx.run(newReservation, firing)
}

export function findReservation(tx: ReadTx, id: number): Reservation | undefined {
  return tx.get(reservationById, { id })
}

/** Says whether this camera fired in this time, `toMs` excluded, without a row yet. */
export function firedWithoutRow(tx: ReadTx, cctvId: number, fromMs: number, toMs: number): boolean {
  return openReservations(tx).some((r) => r.cctv_id === cctvId && r.fired_at_ms >= fromMs && r.fired_at_ms < toMs)
}

/** Lists reservations without a row. */
export function openReservations(tx: ReadTx): Reservation[] {
  return tx.all(reservationsWithoutRow)
}

export function append(tx: Tx, row: DetectionEventRow): void {
  tx.run(newDetection, row)
}

export function nextRow(tx: ReadTx): number {
  return tx.get(rowToCome)?.n ?? 1
}

export function findDetection(tx: ReadTx, id: number): DetectionEventRow | undefined {
  return tx.get(detectionById, { id })
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

type Words = { readonly parts: readonly string[]; readonly values: readonly number[] }

function conditionsOf(filter: DetectionFilter, afterSeq: number | undefined): Words {
  // The plus leaves the index of the log's order to a reader that follows it.
  const parts = [`${afterSeq === undefined ? '' : '+'}cctv_id IN (${filter.cameras.map(() => '?').join(', ')})`]
  const values = [...filter.cameras]
  const add = (part: string, value: number | undefined) => {
    if (value === undefined) return
    parts.push(part)
    values.push(value)
  }
  add('timestamp_ms >= +?', filter.fromMs)
  add('timestamp_ms < +?', filter.toMs)
  add('leaf_seq > +?', afterSeq)
  return { parts, values }
}

const behind = '(timestamp_ms, id) < (+?, +?)'
const orders = { newest: 'timestamp_ms DESC, id DESC', log: 'leaf_seq' } as const
const everyCondition: DetectionFilter = { cameras: [1, 2], fromMs: 0, toMs: 1 }
const detectionsWhere = statements({
  columns: tables.detection_event,
  sql: (parts: readonly string[], order: keyof typeof orders) =>
    `SELECT * FROM main.detection_event WHERE ${parts.join(' AND ')} ORDER BY ${orders[order]} LIMIT ? OFFSET ?`,
  samples: [
    [[...conditionsOf(everyCondition, undefined).parts, behind], 'newest'],
    [conditionsOf(everyCondition, 1).parts, 'log'],
  ],
})
const countedWhere = statements({
  columns: { n: integer },
  sql: (parts: readonly string[]) =>
    `SELECT count(*) AS n FROM (SELECT 1 FROM main.detection_event WHERE ${parts.join(' AND ')} LIMIT ${countLimit + 1})`,
  samples: [[conditionsOf(everyCondition, 1).parts]],
})

/** Newest first, with `afterSeq` in the order of the log; only of the cameras that are named. */
export function listDetections(tx: ReadTx, filter: DetectionFilter, page: DetectionPage) {
  const { afterSeq, before } = page
  const { parts, values } = conditionsOf(filter, afterSeq)
  const here = before ? [...parts, behind] : parts
  const rows = tx.all(detectionsWhere(here, afterSeq === undefined ? 'newest' : 'log'), [
    ...values,
    ...(before ? [before.timestampMs, before.id] : []),
    page.limit + 1,
    page.offset,
  ])
  const counted = tx.get(countedWhere(parts), values)
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

export type Control = Readonly<Omit<RowOf<typeof tables.motion_control>, 'at_ms'>>

export function findControl(tx: ReadTx, cctvId: number): Control | undefined {
  return tx.get(controlOf, { cctv_id: cctvId })
}

export function keepControl(tx: Tx, control: Control, nowMs: number): void {
  tx.run(keptControl, { ...control, at_ms: nowMs })
}

/** The camera of a detection that was told of, whoever asks. */
export function cameraOfDetection(tx: ReadTx, id: number): number | undefined {
  return findReservation(tx, id)?.cctv_id
}

/** Detections that have a clip. */
export function everyClip(tx: ReadTx): Pick<DetectionEventRow, 'id' | 'clip_sha256' | 'snapshot_sha256'>[] {
  return tx.all(clips)
}

/** Detections within a span of time and the first `logSize` leaves of a log, by what became of their clips. */
export function countByClipStatus(tx: ReadTx, span: { fromMs: number; toMs: number; log: number; logSize: number }) {
  return tx.all(countedByStatus, [span.fromMs, span.toMs, span.log, span.logSize])
}
