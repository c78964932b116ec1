import { pick, type ReadTx, statement } from '../../database/index.ts'
import { type PlacementEventRow, tables } from '../tables.ts'

/** So many events of an asset are looked at: the newest, some milliseconds of reading. */
export const mostEventsOfAsset = 3000

const newestOf = statement({
  columns: pick(tables.placement_event, 'id', 'slot_id', 'photo_sha256'),
  sql: `SELECT id, slot_id, photo_sha256 FROM main.placement_event WHERE asset_key = +?
    ORDER BY timestamp_ms DESC, id DESC LIMIT ${mostEventsOfAsset}`,
})

/** Returns the newest events of an asset of every type, with slot and photo. */
export function eventsOfAsset(
  tx: ReadTx,
  assetKey: string,
): Pick<PlacementEventRow, 'id' | 'slot_id' | 'photo_sha256'>[] {
  return tx.all(newestOf, [assetKey])
}
