import type { PlacementEvent, Slot } from './answers.ts'
import type { Heard } from './heard.ts'

/** A placement that waits for a supervisor. `placed` is undefined when it is older than what the page has read. */
export type Waiting = { readonly slot: Slot; readonly placed: PlacementEvent | undefined }

/** What the page knows of the floor. `events`: newest first. */
export type FloorNow = { readonly slots: readonly Slot[]; readonly events: readonly PlacementEvent[] }

/** Says whether a placement waits to be verified. What is disputed waits for more than that. */
export const isPending = (slot: Slot): boolean =>
  slot.isOccupied && slot.isVerified !== true && slot.isDisputed !== true

/**
 * Returns the placements that wait, the one of `first` at the beginning, then the oldest that the page knows, because films
 * expire; those of which it knows no event come last, by label. Pure.
 */
export function waitingIn({ slots, events }: FloorNow, first: number | undefined): Waiting[] {
  const placed = new Map<number, PlacementEvent>()
  for (const event of events) {
    if (event.event_type === 'PLACED' && !placed.has(event.slot_id)) placed.set(event.slot_id, event)
  }
  const waiting = slots
    .filter((slot) => isPending(slot) || (slot.id === first && slot.isOccupied && slot.isVerified !== true))
    .map((slot): Waiting => {
      const event = placed.get(slot.id)
      return { slot, placed: event?.asset_barcode === slot.assetBarcode ? event : undefined }
    })
  return waiting.toSorted((a, b) => {
    if (a.slot.id === first || b.slot.id === first) return a.slot.id === first ? -1 : 1
    if (a.placed && b.placed) return a.placed.timestamp < b.placed.timestamp ? -1 : 1
    if (a.placed || b.placed) return a.placed ? -1 : 1
    return a.slot.slot_id < b.slot.slot_id ? -1 : 1
  })
}

/** Returns the floor after a message of the stream; the same when it says nothing about it. Pure. */
export function afterHearing(floor: FloorNow, heard: Heard): FloorNow {
  if (heard.kind === 'event') return { ...floor, events: withEvent(floor.events, heard.data) }
  if (heard.kind !== 'floor' || heard.data.slots.length === 0) return floor
  return { ...floor, slots: withStates(floor.slots, heard.data.slots) }
}

/** An event that a handheld kept for a while is older than some that are known. */
function withEvent(events: readonly PlacementEvent[], event: PlacementEvent): readonly PlacementEvent[] {
  const others = events.filter(({ id }) => id !== event.id)
  return [event, ...others].toSorted((a, b) =>
    a.timestamp === b.timestamp ? b.id - a.id : a.timestamp < b.timestamp ? 1 : -1,
  )
}

type State = Pick<Slot, 'id' | 'isOccupied' | 'assetBarcode' | 'isVerified' | 'isDisputed'>

/** Returns the slots with these states; unchanged slots as the same objects. */
export function withStates(slots: readonly Slot[], states: readonly State[]): readonly Slot[] {
  const byId = new Map(states.map((state) => [state.id, state]))
  return slots.map((slot) => {
    const state = byId.get(slot.id)
    if (!state) return slot
    const { isVerified: _, isDisputed: __, ...rest } = slot
    return { ...rest, ...state }
  })
}
