import type { ReadTx } from '../../database/index.ts'
import { beginning, type EventPlace, indexSliceRows, lookAt, sourceOf } from './look.ts'

/** The place before the first event of a slot. */
export const beforeFirstTouch: EventPlace = beginning('oldest first', {}, 0)

/** Returns id and time of the next events of a slot, of every type, oldest first: one slice from a place on. */
export function touchesOfSlot(tx: ReadTx, slotId: number, place: EventPlace) {
  const rows = lookAt(
    tx,
    sourceOf({ slotId }, undefined),
    'oldest first',
    {},
    {
      place,
      looked: indexSliceRows,
      placesOnly: true,
    },
  )
  const found = rows.map(({ id, timestamp_ms }): EventPlace => ({ id, timestampMs: timestamp_ms }))
  return { found, next: found.length === indexSliceRows ? found.at(-1) : undefined }
}
