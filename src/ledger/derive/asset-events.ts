import { pick, type ReadTx, statements } from '../../database/index.ts'
import { type PlacementEventRow, tables } from '../tables.ts'
import { judgements, moves } from './state.ts'

/** Largest number of moves, and of judgements, of an asset that are read: the newest, some milliseconds of reading. */
const mostOfAsset = 2000

// Each by its own partial index: without the types no index would do, and the whole ledger would be read.
const newestOf = statements({
  columns: pick(tables.placement_event, 'id', 'slot_id', 'photo_sha256'),
  sql: (types: string) => `SELECT id, slot_id, photo_sha256 FROM main.placement_event WHERE asset_key = +? AND ${types}
    ORDER BY timestamp_ms DESC, id DESC LIMIT ${mostOfAsset}`,
  samples: [[moves], [judgements]],
})

/** Returns the newest 2,000 moves and the newest 2,000 judgements of an asset, with slot and photo. */
export function eventsOfAsset(
  tx: ReadTx,
  assetKey: string,
): Pick<PlacementEventRow, 'id' | 'slot_id' | 'photo_sha256'>[] {
  return [moves, judgements].flatMap((types) => tx.all(newestOf(types), [assetKey]))
}
