/**
 * The derived state of the floor, read straight off a list of events: filter, sort, look at the newest. Slow and plain
 * on purpose, and without anything from `src`, so that a test may hold the gateway's answers against it.
 */

export type ReplayedEvent = {
  id: number
  eventType: 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'
  slotId: number
  /** The barcode as it was scanned. */
  assetBarcode: string
  /** What the barcode is matched by. */
  assetKey: string
  timestampMs: number
  receivedAtMs: number
}

/** `isVerified` and `isDisputed` are there exactly while the slot is occupied. */
export type SlotState = {
  isOccupied: boolean
  assetBarcode: string | null
  isVerified?: boolean
  isDisputed?: boolean
}

/** Both inclusive. `atMs`: what had happened by then; `knownAtMs`: what the gateway had received by then. */
export type When = { atMs?: number | undefined; knownAtMs?: number | undefined }

export function replaySlot(events: readonly ReplayedEvent[], slotId: number, when: When = {}): SlotState {
  const here = inOrder(events, when).filter((event) => event.slotId === slotId)

  const newestMove = here.filter(isMove).at(-1)
  if (newestMove === undefined || newestMove.eventType === 'REMOVED') return { isOccupied: false, assetBarcode: null }

  const placement = newestMove
  const newestJudgement = here
    .filter((event) => !isMove(event))
    .filter((event) => event.assetKey === placement.assetKey)
    .filter((event) => event.timestampMs > placement.timestampMs)
    .at(-1)
  return {
    isOccupied: true,
    assetBarcode: placement.assetBarcode,
    isVerified: newestJudgement?.eventType === 'VERIFIED',
    isDisputed: newestJudgement?.eventType === 'DISPUTED',
  }
}

/** Undefined: no event of this asset. A slot of null: seen, but its newest move is a removal, or it has no move. */
export function replayLocation(
  events: readonly ReplayedEvent[],
  assetKey: string,
  when: When = {},
): { slotId: number | null } | undefined {
  const ofAsset = inOrder(events, when).filter((event) => event.assetKey === assetKey)
  if (ofAsset.length === 0) return undefined

  const newestMove = ofAsset.filter(isMove).at(-1)
  if (newestMove === undefined || newestMove.eventType === 'REMOVED') return { slotId: null }
  return { slotId: newestMove.slotId }
}

/** Over the given slots; pending are those occupied and not verified, disputed ones among them. */
export function replayUtilization(
  events: readonly ReplayedEvent[],
  slotIds: readonly number[],
  when: When = {},
): { totalSlots: number; occupiedSlots: number; pendingVerifications: number } {
  const occupied = slotIds.map((slotId) => replaySlot(events, slotId, when)).filter((state) => state.isOccupied)
  return {
    totalSlots: slotIds.length,
    occupiedSlots: occupied.length,
    pendingVerifications: occupied.filter((state) => !state.isVerified).length,
  }
}

/** The events that count, oldest first: by timestamp, then by id. */
function inOrder(events: readonly ReplayedEvent[], { atMs, knownAtMs }: When): ReplayedEvent[] {
  return events
    .filter((event) => atMs === undefined || event.timestampMs <= atMs)
    .filter((event) => knownAtMs === undefined || event.receivedAtMs <= knownAtMs)
    .toSorted((a, b) => a.timestampMs - b.timestampMs || a.id - b.id)
}

function isMove(event: ReplayedEvent): boolean {
  return event.eventType === 'PLACED' || event.eventType === 'REMOVED'
}
