import { sql as raw } from 'kysely'
import { wasSetBetween } from '../clock/index.ts'
import { built, integer, type ReadTx, type Tx } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import type { CameraClock } from './schema.ts'
import { type CameraClockRow, sql, tables } from './tables.ts'

/** A measurement does not apply to a clip that is farther away in time: clocks drift and are set. */
const validForMs = 24 * 60 * 60 * 1000

const newOffset = built(tables.camera_clock, (row) => sql.insertInto('camera_clock').values(row))
const lastId = built({}, () => sql.selectFrom('camera_clock').select('id').orderBy('id', 'desc').limit(raw.lit(1)))
const newestUpTo = built({ cctv_id: integer, at_ms: integer }, ({ cctv_id, at_ms }) =>
  sql
    .selectFrom('camera_clock')
    .selectAll()
    .where('cctv_id', '=', cctv_id)
    .where('measured_at_ms', '<=', at_ms)
    .orderBy('measured_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(raw.lit(1)),
)
const firstBehind = built({ cctv_id: integer, at_ms: integer }, ({ cctv_id, at_ms }) =>
  sql
    .selectFrom('camera_clock')
    .selectAll()
    .where('cctv_id', '=', cctv_id)
    .where('measured_at_ms', '>', at_ms)
    .orderBy('measured_at_ms')
    .orderBy('id')
    .limit(raw.lit(1)),
)

export function appendOffset(tx: Tx, row: Omit<CameraClockRow, 'id'>): void {
  tx.run(newOffset, { ...row, id: (tx.get(lastId)?.id ?? 0) + 1 })
}

/** Returns the newest measurement of a camera's clock; null: there is none. */
export function newestClock(tx: ReadTx, cctvId: number): CameraClock | null {
  const row = tx.get(newestUpTo, { cctv_id: cctvId, at_ms: Number.MAX_SAFE_INTEGER })
  return row ? toCameraClock(row) : null
}

/**
 * Returns the measurement that counts for a time: the newest before it, else the first after it, within a day. Null: there is
 * none, or the gateway's own clock was set in between, so that the two times cannot be compared.
 */
export function clockAt(tx: ReadTx, cctvId: number, atMs: number): CameraClock | null {
  const isNear = (row: CameraClockRow | undefined): row is CameraClockRow => {
    if (!row || Math.abs(row.measured_at_ms - atMs) > validForMs) return false
    return !wasSetBetween(tx, Math.min(row.measured_at_ms, atMs), Math.max(row.measured_at_ms, atMs))
  }
  const row = [newestUpTo, firstBehind].map((which) => tx.get(which, { cctv_id: cctvId, at_ms: atMs })).find(isNear)
  return row ? toCameraClock(row) : null
}

const toCameraClock = ({ offset_ms, measured_at_ms, uncertainty_ms, by }: CameraClockRow): CameraClock => ({
  offsetMs: offset_ms,
  measuredAt: isoTime(measured_at_ms),
  uncertaintyMs: uncertainty_ms,
  by,
})
