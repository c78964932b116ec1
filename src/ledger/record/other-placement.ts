import type { ReadTx } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import { isoTime } from '../../platform/index.ts'
import type { Slot } from '../../warehouse/index.ts'
import { boundsOf, newestInSlot, type Placement } from '../derive/state.ts'
import type { NewPlacementEvent } from '../schema.ts'

/**
 * Throws PLACEMENT_MISMATCH unless the slot held the placement that the event names. Another pallet may be in the slot by now, or
 * the same pallet anew. An event that names none passes.
 * @param at the placement that the slot held at the time of the event
 */
export function refuseOtherPlacement(
  tx: ReadTx,
  { placement_event_id: named }: NewPlacementEvent,
  slot: Slot,
  at: { placement: Placement | undefined; timestampMs: number },
): void {
  if (named === undefined || at.placement?.id === named) return
  const newest = newestInSlot(tx, slot.id, boundsOf(tx))
  const held = newest?.event_type === 'PLACED' ? newest : undefined
  throw held ? otherPlacement(named, slot, held, at.timestampMs) : noPlacement(named, slot)
}

const noPlacement = (named: number, { slot_id }: Slot) =>
  mismatch(
    `The slot is empty and does not hold placement ${named}`,
    'the slot is empty',
    `slot ${slot_id}; read it again`,
  )

function otherPlacement(named: number, { slot_id }: Slot, held: Placement, timestampMs: number): AppError {
  const isNamed = held.id === named
  const isOlder = timestampMs < held.timestamp_ms
  const holds = `holds placement ${held.id}${isNamed ? '' : `, not placement ${named}`}`
  const older = `${isNamed ? ', but' : ', and'} the timestamp of the event is older`
  const since = `slot ${slot_id} holds ${held.asset_barcode} since ${isoTime(held.timestamp_ms)}`
  const times = isOlder ? `; the event is of ${isoTime(timestampMs)}` : ''
  const advice = isNamed ? 'send a later timestamp, or none' : 'read it again'
  return mismatch(
    `The slot ${holds}${isOlder ? older : ''}`,
    `the slot holds placement ${held.id}`,
    `${since}${times}; ${advice}`,
  )
}

const mismatch = (message: string, problem: string, details: string) =>
  new AppError('PLACEMENT_MISMATCH', message, {
    details,
    fields: [{ path: 'placement_event_id', message: problem }],
  })
