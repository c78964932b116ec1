import { integer, pick, type ReadTx, statement, statements } from '../../database/index.ts'
import { moves } from '../derive/state.ts'
import { type PlacementEventRow, tables } from '../tables.ts'
import type { Scene, Step } from './correction.ts'

type Move = Pick<PlacementEventRow, 'id' | 'timestamp_ms' | 'event_type' | 'slot_id' | 'asset_key'>

/** The newest move of a slot, and the newest placement of an asset. */
const conditions = { slot_id: 'slot_id = +?', asset_key: `asset_key = +? AND +event_type = 'PLACED'` } as const
type Column = keyof typeof conditions

const newestMoves = statements({
  columns: pick(tables.placement_event, 'id', 'timestamp_ms', 'event_type', 'slot_id', 'asset_key'),
  sql: (column: Column) => `SELECT id, timestamp_ms, event_type, slot_id, asset_key FROM main.placement_event
    WHERE ${conditions[column]} AND ${moves} AND timestamp_ms <= +? AND id <> ? ORDER BY timestamp_ms DESC, id DESC LIMIT 1`,
  samples: [['slot_id'], ['asset_key']],
})
const newestPlacement = statement({
  columns: { id: integer },
  sql: `SELECT id FROM main.placement_event
    WHERE asset_key = +? AND ${moves} AND timestamp_ms <= +? AND slot_id = +? AND event_type = 'PLACED' AND id <> ?
    ORDER BY timestamp_ms DESC, id DESC LIMIT 1`,
})

/** Around which moment: all that is at the event's own time counts, but the event itself when it is left out. */
type Moment = { readonly timestampMs: number; readonly withoutId: number }

/** Returns the floor at the time of an event, as booked and as it were with `right` in the event's place, or nothing there. */
export function scenesAround(
  tx: ReadTx,
  event: Pick<PlacementEventRow, 'id' | 'timestamp_ms' | 'slot_id' | 'asset_key'>,
  right: Step | undefined,
): { booked: Scene; wanted: Scene } {
  const slots = new Set([event.slot_id, ...(right ? [right.slotId] : [])])
  const assets = new Set([event.asset_key, ...(right ? [right.assetKey] : [])])
  const look = () => ({
    booked: sceneOf(slots, assets, bookedMoves(tx, event.timestamp_ms)),
    wanted: sceneOf(slots, assets, wantedMoves(tx, event, right)),
  })
  // Whatever is placed anew can displace what stood there, and that has its own place.
  for (let round = 0; round < 3; round += 1) {
    for (const { occupants, places } of Object.values(look())) {
      for (const occupant of occupants.values()) if (occupant !== null) assets.add(occupant)
      for (const place of places.values()) if (place !== null) slots.add(place)
    }
  }
  return look()
}

/** The newest move of a slot, and the newest placement of an asset. */
type Moves = { ofSlot(id: number): Move | undefined; placementOf(key: string): Move | undefined }

/** An asset is in the slot of its newest placement while nothing has moved there since. */
function sceneOf(slots: ReadonlySet<number>, assets: ReadonlySet<string>, newest: Moves): Scene {
  const occupantOf = (id: number) => {
    const move = newest.ofSlot(id)
    return move?.event_type === 'PLACED' ? move.asset_key : null
  }
  const placeOf = (key: string) => {
    const placed = newest.placementOf(key)
    return placed && newest.ofSlot(placed.slot_id)?.id === placed.id ? placed.slot_id : null
  }
  return {
    occupants: new Map([...slots].map((id) => [id, occupantOf(id)])),
    places: new Map([...assets].map((key) => [key, placeOf(key)])),
  }
}

function bookedMoves(tx: ReadTx, timestampMs: number): Moves {
  const moment = { timestampMs, withoutId: 0 }
  return {
    ofSlot: (id) => newestMove(tx, 'slot_id', id, moment),
    placementOf: (key) => newestMove(tx, 'asset_key', key, moment),
  }
}

function wantedMoves(tx: ReadTx, event: Pick<Move, 'id' | 'timestamp_ms'>, right: Step | undefined): Moves {
  const moment = { timestampMs: event.timestamp_ms, withoutId: event.id }
  const inPlace: Move | undefined = right && {
    id: event.id,
    timestamp_ms: event.timestamp_ms,
    event_type: right.type,
    slot_id: right.slotId,
    asset_key: right.assetKey,
  }
  const later = (one: Move | undefined, other: Move | undefined) => {
    if (!one || !other) return one ?? other
    return one.timestamp_ms > other.timestamp_ms || (one.timestamp_ms === other.timestamp_ms && one.id > other.id)
      ? one
      : other
  }
  return {
    ofSlot: (id) => later(newestMove(tx, 'slot_id', id, moment), inPlace?.slot_id === id ? inPlace : undefined),
    placementOf: (key) => {
      const isPlaced = inPlace?.event_type === 'PLACED' && inPlace.asset_key === key
      return later(newestMove(tx, 'asset_key', key, moment), isPlaced ? inPlace : undefined)
    },
  }
}

function newestMove(
  tx: ReadTx,
  column: Column,
  value: number | string,
  { timestampMs, withoutId }: Moment,
): Move | undefined {
  return tx.get(newestMoves(column), [value, timestampMs, withoutId])
}

/** Returns the placement by which an asset came into a slot, the newest up to that time: its evidence still holds. */
export function placementIdOf(tx: ReadTx, slotId: number, assetKey: string, moment: Moment): number | undefined {
  return tx.get(newestPlacement, [assetKey, moment.timestampMs, slotId, moment.withoutId])?.id
}
