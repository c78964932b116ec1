import { integer, type ReadTx, statements } from '../../database/index.ts'
import { countLimit, type TimePlace } from '../../http/index.ts'
import { type Sight, seenOnly, wholeSight } from '../../warehouse/index.ts'
import { type AssetMove, endOfStay, nextInSlot, nextMoveOfAsset } from './location.ts'
import { type Bounds, bounded, judgements, moves, type Placement, placementColumns, seenSample } from './state.ts'

/**
 * A move, the move after it, and the judgements in between. The step of a PLACED is a stay, and the next move ends the stay. A slot
 * still shows an asset that was placed elsewhere since: then there is a discrepancy.
 */
export type Step = {
  readonly move: Placement
  readonly next: AssetMove | undefined
  /** VERIFIED and DISPUTED of the asset in the slot, behind the move and in front of the next, oldest first. */
  readonly judgementIds: readonly number[]
}

export type StepsOf = { readonly slotId: number } | { readonly assetKey: string }

export type StepPage = {
  readonly limit: number
  readonly offset: number
  /** The move to continue behind, in the order of the page. */
  readonly behind?: TimePlace | undefined
  readonly order: 'newest first' | 'oldest first'
  /** Stays begin with a PLACED; else every move counts. */
  readonly onlyStays: boolean
  readonly sight: Sight
}

export type Steps = { readonly steps: Step[]; readonly hasMore: boolean; readonly total: number | null }

const columns = 'id, timestamp_ms, event_type, slot_id, asset_barcode, asset_key'
const mostJudgements = 100

/** Returns one page of the stays or moves of a slot or an asset. */
export function stepsOf(tx: ReadTx, of: StepsOf, bounds: Bounds, page: StepPage): Steps {
  const { sql, parameters } = movesOf(of, bounds, page)
  const { behind, order } = page
  const rows = tx.all(movesWhere(sql, order, behind !== undefined), [
    ...parameters,
    ...(behind ? [behind.timestampMs, behind.id] : []),
    page.limit + 1,
    page.offset,
  ])
  const counted = tx.get(countedMoves(sql), [...parameters, countLimit + 1])
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

function stepFrom(tx: ReadTx, of: StepsOf, move: Placement, bounds: Bounds, sight: Sight): Step {
  const next = behindMove(tx, of, move, bounds, sight)
  return { move, next, judgementIds: judgementIds(tx, move, next, bounds) }
}

function behindMove(tx: ReadTx, of: StepsOf, move: Placement, bounds: Bounds, sight: Sight): AssetMove | undefined {
  if ('slotId' in of) return nextInSlot(tx, move, bounds)
  if (move.event_type === 'REMOVED') return nextMoveOfAsset(tx, move, sight, bounds)
  return endOfStay(tx, move, sight, bounds)
}

/** Strictly later than the move, as for the flags of a slot. */
function judgementIds(tx: ReadTx, move: Placement, next: AssetMove | undefined, bounds: Bounds): number[] {
  const limit = bounded(bounds)
  const rows = tx.all(judgementsOfStay(next !== undefined, limit.sql), [
    move.slot_id,
    move.timestamp_ms,
    ...(next ? [next.timestamp_ms, next.id] : []),
    move.asset_key,
    ...limit.parameters,
  ])
  return rows.map(({ id }) => id)
}

function subject(of: StepsOf): { sql: string; parameter: number | string } {
  return 'slotId' in of
    ? { sql: 'slot_id = +?', parameter: of.slotId }
    : { sql: 'asset_key = +?', parameter: of.assetKey }
}

const movesWhere = statements({
  columns: placementColumns,
  sql: (where: string, order: StepPage['order'], isBehind: boolean) => {
    const isOldest = order === 'oldest first'
    const behind = isBehind ? ` AND (timestamp_ms, id) ${isOldest ? '>' : '<'} (+?, +?)` : ''
    return `SELECT ${columns} ${where}${behind} ORDER BY ${isOldest ? 'timestamp_ms, id' : 'timestamp_ms DESC, id DESC'} LIMIT ? OFFSET ?`
  },
  samples: [
    [sampleMoves({ slotId: 1 }), 'oldest first', true],
    [sampleMoves({ assetKey: '' }), 'newest first', true],
  ],
})
const countedMoves = statements({
  columns: { n: integer },
  sql: (where: string) => `SELECT count(*) AS n FROM (SELECT 1 ${where} LIMIT ?)`,
  samples: [[sampleMoves({ slotId: 1 })], [sampleMoves({ assetKey: '' })]],
})
const judgementsOfStay = statements({
  columns: { id: integer },
  sql: (isOver: boolean, limit: string) => `SELECT id FROM main.placement_event
    WHERE slot_id = +? AND ${judgements} AND timestamp_ms > +?${isOver ? ' AND (timestamp_ms, id) < (+?, +?)' : ''}
      AND asset_key = +?${limit} ORDER BY timestamp_ms, id LIMIT ${mostJudgements}`,
  samples: [
    [true, bounded({ atMs: 1, lastId: 1 }).sql],
    [false, ''],
  ],
})

function sampleMoves(of: StepsOf): string {
  const page = { limit: 1, offset: 0, order: 'newest first', onlyStays: true, sight: wholeSight } as const
  return `${movesOf(of, { atMs: 1, lastId: 1 }, page).sql}${seenSample}`
}
