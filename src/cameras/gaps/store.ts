import { sql as raw } from 'kysely'
import { built, integer, listings, pick, type ReadTx, statement, type Tx } from '../../database/index.ts'
import { statedSql } from '../../log/index.ts'
import type { Span } from '../span.ts'
import { type CameraGapRow, type CameraWatchRow, sql, tables } from '../tables.ts'

/** Rows in one slice of a long read. */
const sliceRows = 500

const newGap = built(tables.camera_gap, (row) => sql.insertInto('camera_gap').values(row))
const gapById = built(pick(tables.camera_gap, 'id'), ({ id }) =>
  sql.selectFrom('camera_gap').selectAll().where('id', '=', id),
)
const lastGap = built({}, () =>
  sql.selectFrom('camera_gap').select(['id', 'recorded_at_ms']).orderBy('id', 'desc').limit(raw.lit(1)),
)
/** The newest that begins at or before a time: the only one of those that can reach beyond it. */
const gapBefore = built(pick(tables.camera_gap, 'cctv_id', 'from_ms'), ({ cctv_id, from_ms }) =>
  sql
    .selectFrom('camera_gap')
    .select(['from_ms', 'to_ms'])
    .where('cctv_id', '=', cctv_id)
    .where('from_ms', '<=', from_ms)
    .orderBy('from_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(raw.lit(1)),
)
/** The oldest that begins at a time or later. */
const gapFrom = built(pick(tables.camera_gap, 'cctv_id', 'from_ms'), ({ cctv_id, from_ms }) =>
  sql
    .selectFrom('camera_gap')
    .select(['from_ms', 'cause'])
    .where('cctv_id', '=', cctv_id)
    .where('from_ms', '>=', from_ms)
    .orderBy('from_ms')
    .orderBy('id')
    .limit(raw.lit(1)),
)
const gapsWithin = built(pick(tables.camera_gap, 'cctv_id', 'from_ms', 'to_ms'), ({ cctv_id, from_ms, to_ms }) =>
  sql
    .selectFrom('camera_gap')
    .selectAll()
    .where('cctv_id', '=', cctv_id)
    .where('from_ms', '>=', from_ms)
    .where('from_ms', '<', to_ms)
    .orderBy('from_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(raw.lit(500)),
)
const gapsBehind = built(
  { cctv_id: integer, from_ms: integer, ms: integer, id: integer },
  ({ cctv_id, from_ms, ms, id }) =>
    sql
      .selectFrom('camera_gap')
      .selectAll()
      .where('cctv_id', '=', cctv_id)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('from_ms', 'id'), '<', tuple(ms, id)))
      .where('from_ms', '>=', from_ms)
      .orderBy('from_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(raw.lit(sliceRows)),
)
/** Up to a leaf, whichever camera: a report covers the leaves of its log size. */
const gapsUpToLeaf = built({ id: integer, log: integer, size: integer, limit: integer }, ({ id, log, size, limit }) =>
  sql
    .selectFrom('camera_gap')
    .select(['id', 'from_ms', 'to_ms', 'cause'])
    .where('id', '>', id)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('log_id', 'leaf_seq'), '<=', tuple(log, size)))
    .orderBy('id')
    .limit(limit),
)
const watchOf = built(pick(tables.camera_watch, 'cctv_id'), ({ cctv_id }) =>
  sql.selectFrom('camera_watch').selectAll().where('cctv_id', '=', cctv_id),
)
const watches = built({}, () => sql.selectFrom('camera_watch').selectAll().orderBy('cctv_id'))
const keptWatch = built(tables.camera_watch, ({ cctv_id, ...facts }) =>
  sql
    .insertInto('camera_watch')
    .values({ cctv_id, ...facts })
    .onConflict((on) => on.column('cctv_id').doUpdateSet(facts)),
)
const lastBeat = built({}, () => sql.selectFrom('camera_heartbeat').select('at_ms'))
const newBeat = built(pick(tables.camera_heartbeat, 'at_ms'), ({ at_ms }) =>
  sql
    .insertInto('camera_heartbeat')
    .values({ one: 1, at_ms })
    .onConflict((on) => on.column('one').doUpdateSet({ at_ms })),
)

const asked = statedSql('camera_gap', 'camera-gap')

/** The rows that leaves state, for verification. */
export const statedGaps = {
  between: statement({ columns: tables.camera_gap, sql: asked.between }),
  upTo: statement({ columns: { n: integer }, sql: asked.upTo }),
  withoutLeaf: statement({ columns: { n: integer }, sql: asked.withoutLeaf }),
}

/** Returns the next id, and the newest time of recording, which never decreases. */
export function endOfGaps(tx: ReadTx): { nextId: number; recordedAtMs: number } {
  const last = tx.get(lastGap)
  return { nextId: (last?.id ?? 0) + 1, recordedAtMs: last?.recorded_at_ms ?? 0 }
}

export function appendGap(tx: Tx, row: CameraGapRow): void {
  tx.run(newGap, row)
}

export function findGap(tx: ReadTx, id: number): CameraGapRow | undefined {
  return tx.get(gapById, { id })
}

/** Returns the begin of the gap that lasts at a time, else that time: gaps that overlap a span from there on begin behind it. */
export function beginOfOverlap(tx: ReadTx, cctvId: number, atMs: number): number {
  const before = tx.get(gapBefore, { cctv_id: cctvId, from_ms: atMs })
  return before && before.to_ms > atMs ? before.from_ms : atMs
}

/** Returns the first gap that begins at a time or later, whether it has ended or lasts; undefined when there is none. */
export function nextGap(tx: ReadTx, cctvId: number, atMs: number) {
  const ended = tx.get(gapFrom, { cctv_id: cctvId, from_ms: atMs })
  if (ended) return { fromMs: ended.from_ms, cause: ended.cause }
  const { open_from_ms: fromMs = null, open_cause: cause = null } = findWatch(tx, cctvId) ?? {}
  return fromMs === null || cause === null || fromMs < atMs ? undefined : { fromMs, cause }
}

/** Returns the newest 500 gaps of a camera that overlap a span, newest first. */
export function gapsIn(tx: ReadTx, cctvId: number, { fromMs, toMs }: Span): CameraGapRow[] {
  return tx.all(gapsWithin, { cctv_id: cctvId, from_ms: beginOfOverlap(tx, cctvId, fromMs), to_ms: toMs })
}

/** A place in the gaps of a camera, newest first: begin and id. */
export type GapPlace = readonly [fromMs: number, id: number]

/** Returns the next slice of a camera's gaps that begin at `fromMs` or later, behind a place. */
export function sliceOfGaps(tx: ReadTx, cctvId: number, fromMs: number, [ms, id]: GapPlace) {
  const found = tx.all(gapsBehind, { cctv_id: cctvId, from_ms: fromMs, ms, id })
  const last = found.at(-1)
  const next: GapPlace | undefined = last && found.length === sliceRows ? [last.from_ms, last.id] : undefined
  return { found, next }
}

export type GapFilter = {
  readonly cctvId: number
  /** As `beginOfOverlap` returns it; undefined: from the first. */
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
}

/** Newest first; the key is begin and id. */
export const newestGaps = listings(
  ({ cctvId, fromMs, toMs }: GapFilter) => ({
    from: 'main.camera_gap',
    key: ['from_ms', 'id'],
    behind: toMs === undefined ? undefined : [toMs, 0],
    within: [
      { sql: 'cctv_id = +?', values: [cctvId] },
      ...(fromMs === undefined ? [] : [{ sql: 'from_ms >= +?', values: [fromMs] }]),
    ],
    passing: [],
  }),
  [[{ cctvId: 1, fromMs: undefined, toMs: undefined }], [{ cctvId: 1, fromMs: 0, toMs: 1 }]],
)

export function findWatch(tx: ReadTx, cctvId: number): CameraWatchRow | undefined {
  return tx.get(watchOf, { cctv_id: cctvId })
}

export function everyWatch(tx: ReadTx): CameraWatchRow[] {
  return tx.all(watches)
}

export function keepWatch(tx: Tx, row: CameraWatchRow & { readonly cctv_id: number }): void {
  tx.run(keptWatch, row)
}

/** Returns when the gateway last noted that it lives; undefined before the first time. */
export function heartbeat(tx: ReadTx): number | undefined {
  return tx.get(lastBeat)?.at_ms
}

export function beat(tx: Tx, atMs: number): void {
  tx.run(newBeat, { at_ms: atMs })
}

/** Returns the next gaps behind an id, of all cameras, whose leaf is among the first `logSize` of the log or in an earlier one. */
export function gapsUpTo(tx: ReadTx, afterId: number, log: number, logSize: number, limit: number) {
  return tx.all(gapsUpToLeaf, { id: afterId, log, size: logSize, limit })
}
