import { type RawBuilder, sql as raw } from 'kysely'
import type { EventKind } from '../config/index.ts'
import {
  built,
  type Condition,
  integer,
  listings,
  pick,
  type ReadTx,
  type RowOf,
  statement,
  type Tx,
} from '../database/index.ts'
import type { TimePlace } from '../http/index.ts'
import { newestLogNumber, statedSql } from '../log/index.ts'
import { isoTime } from '../platform/index.ts'
import { readKinds } from './detections/kinds.ts'
import { type DetectionTrigger, ofTrigger } from './detections/triggers.ts'
import type { CameraClock, DetectionEvent } from './schema.ts'
import { type DetectionEventRow, sql, tables } from './tables.ts'

const nextId = built({}, () => sql.selectFrom('detection_id').select('next'))
const newNextId = built(pick(tables.detection_id, 'next'), ({ next }) => sql.updateTable('detection_id').set({ next }))
const newReservation = built(tables.detection_reservation, (row) => sql.insertInto('detection_reservation').values(row))
const reservationById = built(pick(tables.detection_reservation, 'id'), ({ id }) =>
  sql.selectFrom('detection_reservation').selectAll().where('id', '=', id),
)
const withoutRow = () =>
  sql
    .selectFrom('detection_reservation as r')
    .where(({ exists, not, selectFrom }) =>
      not(exists(selectFrom('detection_event as d').select('d.id').whereRef('d.id', '=', 'r.id'))),
    )
const withoutRowOrFilm = () =>
  withoutRow().where(({ exists, not, selectFrom }) =>
    not(exists(selectFrom('event_film as f').select('f.id').whereRef('f.id', '=', 'r.id'))),
  )
/** A clip is open for minutes at most, so what has no row yet is among the newest. */
const behindNewest = () =>
  sql.selectFrom('detection_reservation as n').select(({ eb, fn }) => eb(fn.max('n.id'), '-', raw.lit(500)).as('id'))
const reservationsWithoutRow = built({}, () => withoutRowOrFilm().selectAll('r').orderBy('r.id'))
const openAmongNewest = built({}, () =>
  withoutRowOrFilm()
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('r.id', '>', behindNewest()),
)
const cameraAndSpan = { cctv_id: integer, from_ms: integer, to_ms: integer }
const pendingReservations = built(cameraAndSpan, ({ cctv_id, from_ms, to_ms }) =>
  withoutRow()
    .select('r.id')
    .where('r.id', '>', behindNewest())
    .where('r.cctv_id', '=', cctv_id)
    .where('r.fired_at_ms', '>=', from_ms)
    .where('r.fired_at_ms', '<', to_ms)
    .orderBy('r.id', 'desc'),
)
const newDetection = built(tables.detection_event, (row) => sql.insertInto('detection_event').values(row))
const lastRow = built({}, () =>
  sql.selectFrom('detection_event').select(({ fn }) => fn.max<number | null>('row').as('row')),
)
const detectionById = built(pick(tables.detection_event, 'id'), ({ id }) =>
  sql.selectFrom('detection_event').selectAll().where('id', '=', id),
)
const detectionByRow = built(pick(tables.detection_event, 'row'), ({ row }) =>
  sql.selectFrom('detection_event').selectAll().where('row', '=', row),
)
const filmCovered = built(pick(tables.event_film, 'id'), ({ id }) =>
  sql.selectFrom('event_film').select('covered_by').where('id', '=', id),
)
const rowUpToLeaf = built({ log: integer, seq: integer }, ({ log, seq }) =>
  sql
    .selectFrom('detection_event')
    .select('row')
    .where(({ eb, refTuple, tuple }) => eb(refTuple('log_id', 'leaf_seq'), '<=', tuple(log, seq)))
    .orderBy('log_id', 'desc')
    .orderBy('leaf_seq', 'desc')
    .limit(raw.lit(1)),
)
const newestInSpan = built(cameraAndSpan, ({ cctv_id, from_ms, to_ms }) =>
  sql
    .selectFrom('detection_event')
    .selectAll()
    .where('cctv_id', '=', cctv_id)
    .where('timestamp_ms', '>=', from_ms)
    .where('timestamp_ms', '<', to_ms)
    .orderBy('timestamp_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(raw.lit(500)),
)
const sliceRows = 1000
type Places<Name extends string> = Readonly<Record<Name, RawBuilder<number>>>
const sliceBehind = ({ cctv_id, from_ms, ms, id }: Places<'cctv_id' | 'from_ms' | 'ms' | 'id'>) =>
  sql
    .selectFrom('detection_event')
    .select(['timestamp_ms', 'id'])
    .where('cctv_id', '=', cctv_id)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('timestamp_ms', 'id'), '<', tuple(ms, id)))
    .where('timestamp_ms', '>=', from_ms)
    .orderBy('timestamp_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(raw.lit(sliceRows))
const behindPlace = { cctv_id: integer, from_ms: integer, ms: integer, id: integer }
const idsBehind = built(behindPlace, sliceBehind)
const motionsBehind = built(behindPlace, (places) =>
  sliceBehind(places).select(['clip_end_ms', 'event_ids', 'triggered_by']),
)
/** As `pendingReservations`, without films. */
const pendingMotionRows = built(cameraAndSpan, ({ cctv_id, from_ms, to_ms }) =>
  withoutRowOrFilm()
    .select(['r.id', 'r.fired_at_ms', 'r.triggered_by'])
    .where('r.id', '>', behindNewest())
    .where('r.cctv_id', '=', cctv_id)
    .where('r.fired_at_ms', '>=', from_ms)
    .where('r.fired_at_ms', '<', to_ms)
    .orderBy('r.id', 'desc'),
)
const nextDetections = built({ row: integer, limit: integer }, ({ row, limit }) =>
  sql.selectFrom('detection_event').selectAll().where('row', '>', row).orderBy('row').limit(limit),
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
const countedByStatus = built(
  { from_ms: integer, to_ms: integer, log: integer, size: integer },
  ({ from_ms, to_ms, log, size }) =>
    sql
      .selectFrom('detection_event')
      .select(({ fn }) => ['clip_status as status', fn.countAll<number>().as('n')])
      .where('timestamp_ms', '>=', from_ms)
      .where('timestamp_ms', '<', to_ms)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('log_id', 'leaf_seq'), '<=', tuple(log, size)))
      .where('event_ids', 'is', null)
      .groupBy('clip_status')
      .orderBy('clip_status'),
)

const asked = statedSql('detection_event', 'detection')

/** The rows that leaves state, for verification. */
export const statedDetections = {
  between: statement({ columns: tables.detection_event, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

/** Facts of a detection at the moment when it fired. */
export type Reservation = {
  readonly id: number
  readonly event_id: string
  readonly cctv_id: number
  readonly fired_at_ms: number
  readonly score: number
  readonly scene_change: number
  readonly triggered_by: 'camera' | null
  readonly kinds: string | null
}

/** Takes ids that are never given out again; unused ones stay unused. */
export function takeIds(tx: Tx, count: number): number[] {
  const first = tx.get(nextId)?.next ?? 1
  tx.run(newNextId, { next: first + count })
  return Array.from({ length: count }, (_, i) => first + i)
}

/** Never gives out an id again that came from outside of this database, such as a clip that is newer than a restored one. */
export function skipIdsUpTo(tx: Tx, id: number): void {
  if ((tx.get(nextId)?.next ?? 1) <= id) tx.run(newNextId, { next: id + 1 })
}

export function reserve(tx: Tx, firing: Reservation): void {
  tx.run(newReservation, firing)
}

export function findReservation(tx: ReadTx, id: number): Reservation | undefined {
  return tx.get(reservationById, { id })
}

/** Says whether this camera fired in this time, `toMs` excluded, without a row yet. */
export function firedWithoutRow(tx: ReadTx, cctvId: number, fromMs: number, toMs: number): boolean {
  return tx.all(pendingMotionRows, { cctv_id: cctvId, from_ms: fromMs, to_ms: toMs }).length > 0
}

/** Lists motion that fired and has no row, by reading all; for the start. Films of events are none: they are ordered again. */
export function openReservations(tx: ReadTx): Reservation[] {
  return tx.all(reservationsWithoutRow)
}

/** Counts the newest 500 of them that have no row: for questions while the gateway works. */
export function countOpenReservations(tx: ReadTx): number {
  return tx.get(openAmongNewest)?.n ?? 0
}

/** Lists the ids of a camera's detections of a span, `toMs` excluded, whose clip is still being recorded; newest first. */
export function pendingIds(tx: ReadTx, cctvId: number, span: { fromMs: number; toMs: number }): number[] {
  return tx.all(pendingReservations, { cctv_id: cctvId, from_ms: span.fromMs, to_ms: span.toMs }).map(({ id }) => id)
}

/** Returns the next slice of the ids of a camera's detections from `fromMs` on, newest first, behind a time and an id. */
export function sliceOfIds(tx: ReadTx, cctvId: number, fromMs: number, [ms, id]: readonly [number, number]) {
  const rows = tx.all(idsBehind, { cctv_id: cctvId, from_ms: fromMs, ms, id })
  const last = rows.at(-1)
  const next: readonly [number, number] | undefined =
    last && rows.length === sliceRows ? [last.timestamp_ms, last.id] : undefined
  return { found: rows.map(({ id }) => id), next }
}

/** A detection of motion; the end of its clip, or the motion itself without one. */
type Motion = { readonly id: number; readonly motionMs: number; readonly endMs: number }

/** Lists a camera's motion in its pictures of a span, `toMs` excluded, whose clip is still being recorded. */
export function pendingMotions(tx: ReadTx, cctvId: number, span: { fromMs: number; toMs: number }): Motion[] {
  const rows = tx.all(pendingMotionRows, { cctv_id: cctvId, from_ms: span.fromMs, to_ms: span.toMs })
  return rows
    .filter(({ triggered_by }) => triggered_by === null)
    .map(({ id, fired_at_ms: motionMs }) => ({ id, motionMs, endMs: motionMs }))
}

/**
 * Returns the next slice of the motion in a camera's pictures from `fromMs` on, newest first, behind a time and an id. Films are none,
 * nor is what its analytics found: no replay of pictures finds it.
 */
export function sliceOfMotions(tx: ReadTx, cctvId: number, fromMs: number, [ms, id]: readonly [number, number]) {
  const rows = tx.all(motionsBehind, { cctv_id: cctvId, from_ms: fromMs, ms, id })
  const last = rows.at(-1)
  const next: readonly [number, number] | undefined =
    last && rows.length === sliceRows ? [last.timestamp_ms, last.id] : undefined
  const found: Motion[] = rows
    .filter(({ event_ids, triggered_by }) => event_ids === null && triggered_by === null)
    .map(({ id, timestamp_ms: motionMs, clip_end_ms }) => ({ id, motionMs, endMs: clip_end_ms ?? motionMs }))
  return { found, next }
}

export function append(tx: Tx, row: DetectionEventRow): void {
  tx.run(newDetection, row)
}

export function nextRow(tx: ReadTx): number {
  return (tx.get(lastRow)?.row ?? 0) + 1
}

export function findDetection(tx: ReadTx, id: number): DetectionEventRow | undefined {
  return tx.get(detectionById, { id })
}

/** Returns a detection; for a film that was not made, the one whose clip shows the same. */
export function findShown(tx: ReadTx, id: number): DetectionEventRow | undefined {
  const film = tx.get(filmCovered, { id })
  return findDetection(tx, film?.covered_by ?? id)
}

export function detectionInRow(tx: ReadTx, row: number): DetectionEventRow | undefined {
  return tx.get(detectionByRow, { row })
}

export type DetectionFilter = {
  readonly cameras: readonly number[]
  readonly trigger: DetectionTrigger
  readonly kind?: EventKind | undefined
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

const given = (condition: string, ...values: (number | undefined)[]): Condition[] =>
  values.includes(undefined) ? [] : [{ sql: condition, values: values as number[] }]

const ofCameras = ({ cameras }: DetectionFilter) =>
  given(`cctv_id IN (${cameras.map(() => '+?').join(', ')})`, ...cameras)

const everyCondition: DetectionFilter = { cameras: [1, 2], trigger: 'motion', kind: 'person', fromMs: 0, toMs: 1 }
const oneCamera: DetectionFilter = { cameras: [1], trigger: 'all' }

/** Newest first, of the cameras that are named; the key is time and id. An index serves one camera. */
export const newestDetections = listings(
  (filter: DetectionFilter) => {
    const isServed = filter.cameras.length <= 1
    return {
      from: 'main.detection_event',
      key: ['timestamp_ms', 'id'],
      behind: filter.toMs === undefined ? undefined : [filter.toMs, 0],
      within: [...(isServed ? ofCameras(filter) : []), ...given('timestamp_ms >= +?', filter.fromMs)],
      passing: [...(isServed ? [] : ofCameras(filter)), ...ofTrigger(filter)],
    }
  },
  [[oneCamera], [{ ...oneCamera, trigger: 'event' }], [everyCondition]],
)

/** In the order of the log, behind a row; the key is the row. `before` is a place in the other order. */
export const followedDetections = listings(
  (filter: DetectionFilter, afterRow: number, before?: TimePlace) => ({
    from: 'main.detection_event',
    key: ['row'],
    isOldestFirst: true,
    behind: [afterRow],
    within: filter.cameras.length === 0 ? [{ sql: '0', values: [] }] : [],
    passing: [
      ...ofCameras(filter),
      ...ofTrigger(filter),
      ...given('timestamp_ms >= +?', filter.fromMs),
      ...given('timestamp_ms < +?', filter.toMs),
      ...(before ? given('(timestamp_ms, id) < (+?, +?)', before.timestampMs, before.id) : []),
    ],
  }),
  [
    [{ cameras: [], trigger: 'all' }, 0],
    [{ ...oneCamera, trigger: 'event' }, 0],
    [everyCondition, 0, { timestampMs: 1, id: 1 }],
  ],
)

/** Returns the last row whose leaf is among the first `seq` of the growing log, or in a log before it; 0 before the first. */
export function lastRowUpToSeq(tx: ReadTx, seq: number): number {
  return seq === 0 ? 0 : (tx.get(rowUpToLeaf, { log: newestLogNumber(tx) ?? 0, seq })?.row ?? 0)
}

/** Returns the newest detections of a camera in a span, `toMs` excluded. */
export function detectionsIn(tx: ReadTx, cctvId: number, span: { fromMs: number; toMs: number }): DetectionEventRow[] {
  return tx.all(newestInSpan, { cctv_id: cctvId, from_ms: span.fromMs, to_ms: span.toMs })
}

/** Returns the next `limit` detections behind a row, in the order of the ledger. */
export function detectionsAfter(tx: ReadTx, row: number, limit: number): DetectionEventRow[] {
  return tx.all(nextDetections, { row, limit })
}

export const clipPath = (id: number): string => `/api/iot/detection-events/${id}/clip`
export const snapshotPath = (id: number): string => `/api/iot/detection-events/${id}/snapshot`

export function toDetectionEvent(
  row: DetectionEventRow,
  at: {
    siteUrl: string
    cameraClock: CameraClock | null
    copy: { status: DetectionEvent['uploadStatus']; url: string | null }
  },
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
    trigger: row.event_ids === null ? (row.triggered_by ?? 'motion') : 'event',
    kind: readKinds(row.kinds)[0] ?? null,
    kinds: readKinds(row.kinds),
    clipStatus: row.clip_status,
    reason: row.reason,
    removal: null,
    clipUrls: {
      playback: url(clipPath(row.id), row.clip_sha256),
      storage: at.copy.url,
      snapshot: url(snapshotPath(row.id), row.snapshot_sha256),
    },
    clipSha256: row.clip_sha256,
    snapshotSha256: row.snapshot_sha256,
    evidenceHash: row.evidence_hash,
    anchor: 'hashed',
    uploadStatus: at.copy.status,
    clipStart: time(row.clip_start_ms),
    clipEnd: time(row.clip_end_ms),
    preRollSeconds: row.pre_roll_seconds,
    askedPreRollSeconds: row.asked_pre_roll_seconds,
    pictures: row.clip_pictures,
    longestGapSeconds: row.longest_gap_seconds,
    original: row.clip_original === null ? null : row.clip_original === 1,
    closedBy: row.closed_by,
    cameraClock: at.cameraClock,
  }
}

export type Control = Readonly<Omit<RowOf<typeof tables.motion_control>, 'at_ms'>>

export function findControl(tx: ReadTx, cctvId: number): Control | undefined {
  return tx.get(controlOf, { cctv_id: cctvId })
}

export function keepControl(tx: Tx, control: Control, nowMs: number): void {
  tx.run(keptControl, { ...control, at_ms: nowMs })
}

/** Returns the camera of a detection that was reported, for any caller. */
export function cameraOfDetection(tx: ReadTx, id: number): number | undefined {
  return findReservation(tx, id)?.cctv_id
}

/** Detections that have a clip. */
export function everyClip(tx: ReadTx): Pick<DetectionEventRow, 'id' | 'clip_sha256' | 'snapshot_sha256'>[] {
  return tx.all(clips)
}

/** Counts detections of motion within a span and the first `logSize` leaves of a log, by the state of their clips. */
export function countByClipStatus(tx: ReadTx, span: { fromMs: number; toMs: number; log: number; logSize: number }) {
  return tx.all(countedByStatus, { from_ms: span.fromMs, to_ms: span.toMs, log: span.log, size: span.logSize })
}
