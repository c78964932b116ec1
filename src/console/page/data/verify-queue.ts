import type { Heard } from './heard.ts'
import type { PlacementEvent, Slot } from './shapes.ts'

/** A placement that waits for a supervisor. `placed` is undefined when it is older than the events on the page. */
export type Waiting = { readonly slot: Slot; readonly placed: PlacementEvent | undefined }

/** The floor as the page knows it. `events`: newest first. */
export type FloorNow = { readonly slots: readonly Slot[]; readonly events: readonly PlacementEvent[] }

/** Whether a placement waits to be verified. A disputed one waits for more than that. */
export const isPending = (slot: Slot): boolean =>
  slot.isOccupied && slot.isVerified !== true && slot.isDisputed !== true

/**
 * Returns the waiting placements. First comes the one of `first`, then the oldest with a known event, because films expire. Those
 * without a known event come last, by label. Pure.
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
    return comesBefore(a, b) ? -1 : 1
  })
}

function comesBefore(a: Waiting, b: Waiting): boolean {
  if (a.placed && b.placed) return a.placed.timestamp < b.placed.timestamp
  if (a.placed || b.placed) return a.placed !== undefined
  return a.slot.slot_id < b.slot.slot_id
}

/** Says whether both are one placement, as far as their events are known. */
const isSame = (a: Waiting, b: Waiting): boolean =>
  a.slot.id === b.slot.id &&
  a.slot.assetBarcode === b.slot.assetBarcode &&
  (a.placed === undefined || b.placed === undefined || a.placed.id === b.placed.id)

export type Neighbors = { readonly before: Waiting | undefined; readonly after: Waiting | undefined }

/** Returns the placements before and after one that may have left the list. Pure. */
export function neighborsOf(waiting: readonly Waiting[], one: Waiting): Neighbors {
  const at = waiting.findIndex((other) => isSame(other, one))
  if (at >= 0) return { before: waiting[at - 1], after: waiting[at + 1] }
  const next = waiting.findIndex((other) => comesBefore(one, other))
  const after = next < 0 ? waiting.length : next
  return { before: waiting[after - 1], after: waiting[after] }
}

/** Act of others on a placement while somebody viewed it; `waits`: none. `event`: their verdict, if the page has read it. */
export type Fate =
  | { readonly kind: 'waits' | 'removed' | 'placedAgain' }
  | { readonly kind: 'replaced'; readonly by: string }
  | { readonly kind: 'verified' | 'disputed'; readonly event: PlacementEvent | undefined }

/** Returns the fate of a placement since somebody began to view it. Pure. */
export function fateOf(pinned: Waiting, { slots, events }: FloorNow): Fate {
  const slot = slots.find(({ id }) => id === pinned.slot.id)
  if (!slot?.isOccupied) return { kind: 'removed' }
  if (slot.assetBarcode !== pinned.slot.assetBarcode) return { kind: 'replaced', by: slot.assetBarcode ?? '' }
  const newest = (type: PlacementEvent['event_type']) =>
    events.find(({ slot_id, event_type }) => slot_id === slot.id && event_type === type)
  const placed = newest('PLACED')
  if (placed && pinned.placed && isLater(placed, pinned.placed)) return { kind: 'placedAgain' }
  if (slot.isVerified === true) return { kind: 'verified', event: newest('VERIFIED') }
  const isNew = slot.isDisputed === true && pinned.slot.isDisputed !== true
  return isNew ? { kind: 'disputed', event: newest('DISPUTED') } : { kind: 'waits' }
}

const isLater = (a: PlacementEvent, b: PlacementEvent): boolean =>
  a.timestamp === b.timestamp ? a.id > b.id : a.timestamp > b.timestamp

/** Returns the floor after a message of the stream; the same when it says nothing about it. Pure. */
export function afterHearing(floor: FloorNow, heard: Heard): FloorNow {
  if (heard.kind === 'event') return { ...floor, events: withEvent(floor.events, heard.data) }
  if (heard.kind !== 'floor' || heard.data.slots.length === 0) return floor
  return { ...floor, slots: withStates(floor.slots, heard.data.slots) }
}

/** An event that a handheld sent late is older than some known events. */
function withEvent(events: readonly PlacementEvent[], event: PlacementEvent): readonly PlacementEvent[] {
  const others = events.filter(({ id }) => id !== event.id)
  return [event, ...others].toSorted((a, b) =>
    a.timestamp === b.timestamp ? b.id - a.id : a.timestamp < b.timestamp ? 1 : -1,
  )
}

export type SlotState = Pick<Slot, 'id' | 'isOccupied' | 'assetBarcode' | 'isVerified' | 'isDisputed'>

/** Returns the slots with these states; unchanged slots as the same objects. */
export function withStates(slots: readonly Slot[], states: readonly SlotState[]): readonly Slot[] {
  const byId = new Map(states.map((state) => [state.id, state]))
  return slots.map((slot) => {
    const state = byId.get(slot.id)
    if (!state) return slot
    const { isVerified: _, isDisputed: __, ...rest } = slot
    return { ...rest, ...state }
  })
}
