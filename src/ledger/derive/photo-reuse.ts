import { built, integer, pick, type ReadTx, statement, statements } from '../../database/index.ts'
import { type PlacementEventRow, sql, tables } from '../tables.ts'
import type { WarningCode } from '../warnings.ts'
import { moves } from './state.ts'
import { correctionsOf } from './walk.ts'

/** The facts of an event with its photo. */
export type Shown = Pick<
  PlacementEventRow,
  'id' | 'event_type' | 'slot_id' | 'asset_key' | 'timestamp_ms' | 'photo_url' | 'photo_sha256' | 'corrects_event_id'
>

/** A placement that names the photo as its proof. */
export type Proven = Pick<PlacementEventRow, 'id' | 'slot_id' | 'asset_key' | 'asset_barcode' | 'timestamp_ms'>

const shownById = built(pick(tables.placement_event, 'id'), ({ id }) =>
  sql
    .selectFrom('placement_event')
    .select([
      'id',
      'event_type',
      'slot_id',
      'asset_key',
      'timestamp_ms',
      'photo_url',
      'photo_sha256',
      'corrects_event_id',
    ])
    .select(['scan_evidence', 'scale_weight_kg', 'warnings'])
    .where('id', '=', id),
)
/** The limit is written out: SQLite prepares a statement anew for every bound one. */
const named = (condition: string, limit: number) =>
  `SELECT * FROM (SELECT id, slot_id, asset_key, asset_barcode, timestamp_ms FROM main.placement_event
   WHERE ${condition} AND event_type = 'PLACED' AND id < +? ORDER BY id DESC LIMIT ${limit})`
/** Placements that name a photo by its hash, or by its address; missing values equal nothing. */
const placementsNaming = statements({
  columns: pick(tables.placement_event, 'id', 'slot_id', 'asset_key', 'asset_barcode', 'timestamp_ms'),
  sql: (limit: number) =>
    `${named('photo_sha256 = +?', limit)} UNION ALL ${named(`photo_evidence = 'claimed' AND photo_url = +?`, limit)}`,
  samples: [[1]],
})

/** Placements with one photo that are read: the newest. */
const lookedAt = 20

/**
 * Returns another placement, recorded before `event`, that the same photo proves already; the newest, undefined without one. It is
 * no other placement while the same asset stays in the same slot: a repeat, a judgement. A placement that was corrected proves
 * nothing any more; its correction does.
 * @param isSeen whether the caller may know of events in a slot
 * @param lastId corrections up to this event count
 */
export function otherProof(
  tx: ReadTx,
  event: Shown,
  isSeen: (slotId: number) => boolean,
  lastId = Number.MAX_SAFE_INTEGER,
): Proven | undefined {
  if (event.photo_url === null && event.photo_sha256 === null) return undefined
  const isOther = (placed: Proven) =>
    isSeen(placed.slot_id) && isAnother(tx, placed, event, lastId) && !isTakenBack(tx, placed.id, event, lastId)
  // A photo that is used again is mostly used for another placement: then the newest one decides.
  const [newest] = placementsWith(tx, event, 1)
  if (!newest || isOther(newest)) return newest
  return placementsWith(tx, event, lookedAt).find(isOther)
}

/** Returns the scan and weight of a recorded placement, and another placement that its photo already proves. */
export function proofOf(tx: ReadTx, id: number, isSeen: (slotId: number) => boolean, lastId?: number) {
  const row = tx.get(shownById, { id })
  // A correction repeats a photo: the judgement from when the photo was sent stays valid.
  const isSent = row?.corrects_event_id === null || (row !== undefined && isReusedBy(row))
  return {
    isScanMismatched: row?.scan_evidence === 'mismatched',
    photoOf: row && isSent ? otherProof(tx, row, isSeen, lastId) : undefined,
    scaleWeightKg: row?.scale_weight_kg ?? null,
  }
}

/** Returns whether the event has the warning PHOTO_REUSED. */
export function isReusedBy({ warnings }: Pick<PlacementEventRow, 'warnings'>): boolean {
  return (JSON.parse(warnings) as WarningCode[]).includes('PHOTO_REUSED')
}

/** Returns earlier placements with the photo, by its hash, or by its address when it is not held; the newest first. */
function placementsWith(tx: ReadTx, { id, photo_url, photo_sha256 }: Shown, limit: number): Proven[] {
  const found = tx.all(placementsNaming(limit), [photo_sha256, id, photo_url, id])
  return found.length > 1 ? found.toSorted((a, b) => b.id - a.id) : found
}

function isAnother(tx: ReadTx, placed: Proven, event: Shown, lastId: number): boolean {
  if (placed.asset_key !== event.asset_key) return true
  // The two halves of a move may show one photo, and a removal needs none.
  if (event.event_type === 'REMOVED') return false
  return placed.slot_id !== event.slot_id || hasLeft(tx, placed, event, lastId)
}

const movesBetween = statement({
  columns: { id: integer },
  sql: `SELECT id FROM main.placement_event
    WHERE asset_key = +? AND ${moves} AND (timestamp_ms, id) > (+?, +?) AND (timestamp_ms, id) < (+?, +?)
      AND NOT (event_type = 'PLACED' AND slot_id = ?) AND id <= ? ORDER BY timestamp_ms, id LIMIT ${lookedAt}`,
})

/** Returns whether the asset was elsewhere between the two, whichever of them happened first. */
function hasLeft(tx: ReadTx, placed: Proven, event: Shown, lastId: number): boolean {
  const inOrder = [placed, event].toSorted((a, b) => a.timestamp_ms - b.timestamp_ms || a.id - b.id)
  const bounds = inOrder.flatMap(({ timestamp_ms, id }) => [timestamp_ms, id])
  const between = tx.all(movesBetween, [event.asset_key, ...bounds, event.slot_id, lastId])
  return between.some((move) => !isTakenBack(tx, move.id, event, lastId))
}

/** Returns whether this event or another one corrects it. */
function isTakenBack(tx: ReadTx, id: number, event: Shown, lastId: number): boolean {
  if (event.corrects_event_id === id) return true
  return correctionsOf(tx, id, lastId).length > 0
}
