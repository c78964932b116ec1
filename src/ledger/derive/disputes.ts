import { integer, pick, type ReadTx, statements } from '../../database/index.ts'
import { resolutionOf } from '../resolution-store.ts'
import { tables } from '../tables.ts'
import { moveBefore } from './around.ts'
import { type Bounds, bounded, boundSamples, judgements, type Placement } from './state.ts'
import { correctionsOf } from './walk.ts'

type Dispute = Pick<Placement, 'id' | 'timestamp_ms' | 'slot_id' | 'asset_key' | 'asset_barcode'>

/** A placement that a supervisor disputes, and the dispute. */
export type OpenDispute = { readonly placed: Placement; readonly dispute: Dispute }

/** The plus keeps SQLite from the index over all events of one type. */
const disputesOfSlot = statements({
  columns: pick(tables.placement_event, 'id', 'timestamp_ms', 'slot_id', 'asset_key', 'asset_barcode'),
  sql: (limit: string) => `SELECT id, timestamp_ms, slot_id, asset_key, asset_barcode FROM main.placement_event
    WHERE slot_id = +? AND ${judgements} AND +event_type = 'DISPUTED'${limit} ORDER BY timestamp_ms DESC, id DESC LIMIT 100`,
  samples: boundSamples(),
})
const verifiedSince = statements({
  columns: { is: integer },
  sql: (limit: string) => `SELECT EXISTS (SELECT 1 FROM main.placement_event WHERE asset_key = +? AND ${judgements}
    AND +event_type = 'VERIFIED' AND (timestamp_ms, id) > (+?, +?) AND +id > +? AND +slot_id = coalesce(+?, slot_id)${limit}) AS "is"`,
  samples: boundSamples(),
})

/**
 * Returns the open disputes of a slot, newest first, one for each asset. A dispute ends by a supervisor's word: a later VERIFIED of
 * its asset, a VERIFIED in this slot of the asset to which the placement was corrected before, a correction of the dispute, or its
 * resolution. No booking of an operator ends it.
 */
export function openDisputes(tx: ReadTx, slotId: number, bounds: Bounds): OpenDispute[] {
  const limit = bounded(bounds)
  const seen = new Set<string>()
  return tx.all(disputesOfSlot(limit.sql), [slotId, ...limit.parameters]).flatMap((dispute) => {
    if (seen.has(dispute.asset_key)) return []
    seen.add(dispute.asset_key)
    const placed = disputedPlacement(tx, dispute, bounds)
    return placed && !isSettled(tx, { placed, dispute }, bounds) ? [{ placed, dispute }] : []
  })
}

/** Returns the placement that the supervisor saw, or one that was recorded later; undefined when the asset was not there. */
export function disputedPlacement(
  tx: ReadTx,
  dispute: Omit<Dispute, 'asset_barcode'>,
  bounds: Bounds,
): Placement | undefined {
  const then = moveBefore(tx, dispute, { atMs: undefined, lastId: dispute.id })
  return [then, moveBefore(tx, dispute, bounds)].find(
    (move) => move?.event_type === 'PLACED' && move.asset_key === dispute.asset_key,
  )
}

/** Returns the moment up to which resolutions count, in ms. */
export function momentOf({ atMs = Number.MAX_SAFE_INTEGER, knownAtMs = Number.MAX_SAFE_INTEGER }: Bounds): number {
  return Math.min(atMs, knownAtMs)
}

function isSettled(tx: ReadTx, { placed, dispute }: OpenDispute, bounds: Bounds): boolean {
  const lastId = bounds.lastId ?? Number.MAX_SAFE_INTEGER
  if (correctionsOf(tx, dispute.id, lastId).length > 0) return true
  const resolvedMs = resolutionOf(tx, dispute.id)?.timestamp_ms
  if (resolvedMs !== undefined && resolvedMs <= momentOf(bounds)) return true
  const limit = bounded(bounds)
  const isVerified = (key: string, behindId: number, slotId: number | null) => {
    const values = [key, dispute.timestamp_ms, dispute.id, behindId, slotId, ...limit.parameters]
    return tx.get(verifiedSince(limit.sql), values)?.is === 1
  }
  // An operator chooses the asset of a correction, so a verification elsewhere or before it says nothing about this dispute.
  const corrected = correctionsOf(tx, placed.id, lastId)
  return (
    isVerified(dispute.asset_key, 0, null) ||
    corrected.some((one) => isVerified(one.asset_key, one.id, dispute.slot_id))
  )
}
