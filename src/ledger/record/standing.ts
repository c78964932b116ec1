import { type ReadTx, statement, word } from '../../database/index.ts'
import { judgements, newestInSlot } from '../derive/state.ts'
import type { PlacementEventRow } from '../tables.ts'

type Judgement = 'VERIFIED' | 'DISPUTED'

const newestJudgement = statement({
  columns: { event_type: word<Judgement>() },
  sql: `SELECT event_type FROM main.placement_event
    WHERE slot_id = +? AND ${judgements} AND timestamp_ms > +? AND timestamp_ms <= +? AND asset_key = +? AND id <> ?
    ORDER BY timestamp_ms DESC, id DESC LIMIT 1`,
})

/**
 * Returns the effect of a VERIFIED or DISPUTED at its own time: the judgement of the stay with it (`now`) and without it. Undefined
 * where it judges nothing: its asset was not there, or came at the same moment.
 */
export function judgementAt(
  tx: ReadTx,
  event: Pick<PlacementEventRow, 'id' | 'timestamp_ms' | 'slot_id' | 'asset_key'>,
): { placementId: number; now: Judgement | undefined; without: Judgement | undefined } | undefined {
  const placed = newestInSlot(tx, event.slot_id, { atMs: event.timestamp_ms, lastId: undefined })
  if (placed?.event_type !== 'PLACED' || placed.asset_key !== event.asset_key) return undefined
  if (placed.timestamp_ms >= event.timestamp_ms) return undefined
  const { slot_id, timestamp_ms, asset_key } = event
  const newest = (withoutId: number) =>
    tx.get(newestJudgement, [slot_id, placed.timestamp_ms, timestamp_ms, asset_key, withoutId])?.event_type
  return { placementId: placed.id, now: newest(0), without: newest(event.id) }
}
