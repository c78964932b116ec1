import type { ReadTx } from '../../database/index.ts'
import { countLimit, type TimePlace } from '../../http/index.ts'
import { type Sight, seenOnly } from '../../warehouse/index.ts'
import { type Bounds, bounded, judgements, moves, type Placement } from './state.ts'

/**
 * A move, the next move of the same slot or asset, and the judgements in between. The step of a PLACED is a stay. Where the
 * stays of a slot and of an asset disagree, there is a discrepancy.
 */
export type Step = {
  readonly move: Placement
  readonly next: Placement | undefined
  /** VERIFIED and DISPUTED of the asset in the slot, behind the move and in front of the next, oldest first. */
  readonly judgementIds: readonly number[]
}

export type StepsOf = { readonly slotId: number } | { readonly assetKey: string }

export type StepPage = {
  readonly limit: number
  readonly offset: number
  /** The move to go on behind, in the order of the page. */
  readonly behind?: TimePlace | undefined
  readonly order: 'newest first' | 'oldest first'
  /** Stays begin with a PLACED; else every move counts. */
  readonly onlyStays: boolean
  readonly sight: Sight
}

export type Steps = { readonly steps: Step[]; readonly hasMore: boolean; readonly total: number | null }

const columns = 'id, timestamp_ms, event_type, slot_id, asset_barcode, asset_key'
const judgementsTold = 100
const warehouseOf = (slot: string) => `(SELECT warehouse_id FROM main.slot WHERE id = ${slot})`

/** One page of the stays or moves of a slot or an asset. */
export function stepsOf(tx: ReadTx, of: StepsOf, bounds: Bounds, page: StepPage): Steps {
  const { sql, parameters } = movesOf(of, bounds, page)
  const { behind } = page
  const [after, order] = page.order === 'oldest first' ? ['>', 'timestamp_ms, id'] : ['<', 'timestamp_ms DESC, id DESC']
  const rows = tx.allOf<Placement>(
    `SELECT ${columns} ${sql}${behind ? ` AND (timestamp_ms, id) ${after} (+?, +?)` : ''} ORDER BY ${order} LIMIT ? OFFSET ?`,
    [...parameters, ...(behind ? [behind.timestampMs, behind.id] : []), page.limit + 1, page.offset],
  )
  const counted = tx.oneOf<{ n: number }>(`SELECT count(*) AS n FROM (SELECT 1 ${sql} LIMIT ?)`, [
    ...parameters,
    countLimit + 1,
  ])
  return {
    steps: rows.slice(0, page.limit).map((move) => stepFrom(tx, of, move, bounds, page.sight)),
    hasMore: rows.length > page.limit,
    total: counted && counted.n <= countLimit ? counted.n : null,
  }
}

function movesOf(of: StepsOf, bounds: Bounds, { onlyStays, sight }: StepPage) {
  const limit = bounded(bounds)
  const { sql, parameter } = subject(of)
  const seen = seenOnly(sight, 'placement_event.slot_id')
  const kept = onlyStays ? ` AND +event_type = 'PLACED'` : ''
  return {
    sql: `FROM main.placement_event WHERE ${sql} AND ${moves}${kept}${limit.sql}${seen.sql}`,
    parameters: [parameter, ...limit.parameters, ...seen.parameters],
  }
}

/**
 * The stay of an asset ends with its next PLACED, or with a REMOVED in the same warehouse: see `newestOfAsset`. The stay in a
 * slot ends with the next move there.
 */
function stepFrom(tx: ReadTx, of: StepsOf, move: Placement, bounds: Bounds, sight: Sight): Step {
  const limit = bounded(bounds)
  const seen = seenOnly(sight, 'placement_event.slot_id')
  const sameHall =
    'slotId' in of
      ? { sql: '', parameters: [] }
      : {
          sql: ` AND (event_type = 'PLACED' OR ${warehouseOf('placement_event.slot_id')} = ${warehouseOf('+?')})`,
          parameters: [move.slot_id],
        }
  const { sql, parameter } = subject(of)
  const next = tx.oneOf<Placement>(
    `SELECT ${columns} FROM main.placement_event WHERE ${sql} AND ${moves} AND (timestamp_ms, id) > (+?, +?)${sameHall.sql}${limit.sql}${seen.sql}
     ORDER BY timestamp_ms, id LIMIT 1`,
    [parameter, move.timestamp_ms, move.id, ...sameHall.parameters, ...limit.parameters, ...seen.parameters],
  )
  return { move, next, judgementIds: judgementIds(tx, move, next, bounds) }
}

/** Strictly later than the move, as for the flags of a slot. */
function judgementIds(tx: ReadTx, move: Placement, next: Placement | undefined, bounds: Bounds): number[] {
  const limit = bounded(bounds)
  const rows = tx.allOf<{ id: number }>(
    `SELECT id FROM main.placement_event
     WHERE slot_id = +? AND ${judgements} AND timestamp_ms > +?${next ? ' AND (timestamp_ms, id) < (+?, +?)' : ''}
       AND asset_key = +?${limit.sql} ORDER BY timestamp_ms, id LIMIT ${judgementsTold}`,
    [
      move.slot_id,
      move.timestamp_ms,
      ...(next ? [next.timestamp_ms, next.id] : []),
      move.asset_key,
      ...limit.parameters,
    ],
  )
  return rows.map(({ id }) => id)
}

function subject(of: StepsOf): { sql: string; parameter: number | string } {
  return 'slotId' in of
    ? { sql: 'slot_id = +?', parameter: of.slotId }
    : { sql: 'asset_key = +?', parameter: of.assetKey }
}
