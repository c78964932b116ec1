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

export type ReplayedStay = { placedId: number; endedId: number | null; judgedBy: number[] }

/** Stays in a slot, or of an asset, newest first: from each placement to the next move there, or of it. */
export function replayStays(
  events: readonly ReplayedEvent[],
  of: { slotId: number } | { assetKey: string },
  when: When = {},
): ReplayedStay[] {
  const all = inOrder(events, when)
  const own = all.filter(isMove).filter((e) => ('slotId' in of ? e.slotId === of.slotId : e.assetKey === of.assetKey))
  const stays = own.flatMap((placed, i): ReplayedStay[] => {
    if (placed.eventType !== 'PLACED') return []
    const ended = own[i + 1]
    const judgedBy = all
      .filter((e) => !isMove(e) && e.slotId === placed.slotId && e.assetKey === placed.assetKey)
      .filter((e) => e.timestampMs > placed.timestampMs && (!ended || all.indexOf(e) < all.indexOf(ended)))
      .map((e) => e.id)
    return [{ placedId: placed.id, endedId: ended?.id ?? null, judgedBy }]
  })
  return stays.toReversed()
}

/** What the ledger alone contradicts, as `kind slot: event ids`, sorted. */
export function replayDiscrepancies(
  events: readonly ReplayedEvent[],
  slotIds: readonly number[],
  when: When = {},
): string[] {
  const all = inOrder(events, when)
  const moves = all.filter(isMove)
  const found: string[] = []
  for (const slotId of slotIds) {
    const here = moves.filter((e) => e.slotId === slotId)
    const newest = here.at(-1)
    const say = (kind: string, ...proof: (ReplayedEvent | undefined)[]) =>
      found.push(`${kind} ${slotId}: ${proof.flatMap((e) => e?.id ?? []).join(',')}`)
    const judged = all
      .filter((e) => !isMove(e) && e.slotId === slotId && e.timestampMs > (newest?.timestampMs ?? -1))
      .toReversed()
    const ofAsset = moves.filter((e) => e.assetKey === newest?.assetKey).at(-1)
    if (newest?.eventType === 'PLACED') {
      if (ofAsset && ofAsset !== newest) {
        say(ofAsset.eventType === 'PLACED' ? 'asset_in_two_slots' : 'removed_elsewhere', newest, ofAsset)
      }
      const own = judged.find((e) => e.assetKey === newest.assetKey)
      if (own?.eventType === 'DISPUTED') say('disputed', newest, own)
      if (judged[0] && judged[0].assetKey !== newest.assetKey) say('verified_mismatch', newest, judged[0])
    } else {
      const before = here.at(-2)
      const stoodThere = before?.eventType === 'PLACED' && before.assetKey === newest?.assetKey
      if (newest && !stoodThere && ofAsset === newest) say('removed_not_there', before, newest)
      if (judged[0]) say('judged_while_empty', newest, judged[0])
    }
  }
  for (const assetKey of new Set(moves.map((e) => e.assetKey))) {
    const placed = moves.filter((e) => e.assetKey === assetKey).at(-1)
    const inSlot = moves.filter((e) => e.slotId === placed?.slotId).at(-1)
    if (placed?.eventType !== 'PLACED' || inSlot === placed || !slotIds.includes(placed.slotId)) continue
    const kind = inSlot?.eventType === 'PLACED' ? 'two_in_one_slot' : 'left_behind'
    found.push(`${kind} ${placed.slotId}: ${placed.id},${inSlot?.id}`)
  }
  return found.toSorted()
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
