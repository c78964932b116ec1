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
  /** Key that the barcode is matched by. */
  assetKey: string
  timestampMs: number
  receivedAtMs: number
  /** Id of the event that this one corrects. */
  corrects?: number | null
}

/** `isVerified` and `isDisputed` are there exactly while the slot is occupied. */
export type SlotState = {
  isOccupied: boolean
  assetBarcode: string | null
  isVerified?: boolean
  isDisputed?: boolean
}

/**
 * Both inclusive. `atMs`: events that had happened by then. `knownAtMs`: events that the gateway had received by then.
 */
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

type ReplayedLocation = { slotId: number | null; lastSlotId: number | null; endedBy: number | null }

/** Undefined: no event of this asset. A slot of null: its newest stay has ended, or it was never placed. */
export function replayLocation(
  events: readonly ReplayedEvent[],
  assetKey: string,
  when: When = {},
): ReplayedLocation | undefined {
  const all = inOrder(events, when)
  if (!all.some((event) => event.assetKey === assetKey)) return undefined

  const newestPlaced = all.filter((event) => event.eventType === 'PLACED' && event.assetKey === assetKey).at(-1)
  if (newestPlaced === undefined) return { slotId: null, lastSlotId: null, endedBy: null }
  const { slotId } = newestPlaced
  const end = endInSlot(all, newestPlaced)
  return end ? { slotId: null, lastSlotId: slotId, endedBy: end.id } : { slotId, lastSlotId: null, endedBy: null }
}

/** A later REMOVED of any barcode, or a later PLACED of another asset, in the slot of a placement: the first of them. */
function endInSlot(all: readonly ReplayedEvent[], placed: ReplayedEvent): ReplayedEvent | undefined {
  return all
    .slice(all.indexOf(placed) + 1)
    .filter((event) => event.slotId === placed.slotId)
    .find((e) => e.eventType === 'REMOVED' || (e.eventType === 'PLACED' && e.assetKey !== placed.assetKey))
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

/**
 * Stays in a slot, or of an asset, newest first. In a slot, a stay lasts from a placement to the next move there. For an
 * asset, it lasts from a placement to the next move in that slot or the next placement of the asset, whichever comes
 * first.
 */
export function replayStays(
  events: readonly ReplayedEvent[],
  of: { slotId: number } | { assetKey: string },
  when: When = {},
): ReplayedStay[] {
  const all = inOrder(events, when)
  const began = all
    .filter((e) => e.eventType === 'PLACED')
    .filter((e) => ('slotId' in of ? e.slotId === of.slotId : e.assetKey === of.assetKey))
  const stays = began.map((placed): ReplayedStay => {
    const isPlacedAgain = (e: ReplayedEvent) =>
      'assetKey' in of && e.eventType === 'PLACED' && e.assetKey === placed.assetKey
    const ended = all
      .slice(all.indexOf(placed) + 1)
      .filter(isMove)
      .find((e) => e.slotId === placed.slotId || isPlacedAgain(e))
    const judgedBy = all
      .filter((e) => !isMove(e) && e.slotId === placed.slotId && e.assetKey === placed.assetKey)
      .filter((e) => e.timestampMs > placed.timestampMs && (!ended || all.indexOf(e) < all.indexOf(ended)))
      .map((e) => e.id)
    return { placedId: placed.id, endedId: ended?.id ?? null, judgedBy }
  })
  return stays.toReversed()
}

/** Returns the contradictions within the ledger alone, as `kind slot: event ids`, sorted. */
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
    const disputes = openDisputes(all, slotId)
    const ofAsset = moves.filter((e) => e.assetKey === newest?.assetKey).at(-1)
    if (newest?.eventType === 'PLACED') {
      const newestPlaced = moves.filter((e) => e.eventType === 'PLACED' && e.assetKey === newest.assetKey).at(-1)
      const ended = newestPlaced && endInSlot(all, newestPlaced)
      // The slot still shows an asset whose newest PLACED is elsewhere.
      if (newestPlaced && newestPlaced !== newest) {
        if (ended?.eventType === 'REMOVED') say('removed_elsewhere', newest, ended)
        else say('asset_in_two_slots', newest, newestPlaced)
      }
      // A REMOVED that was scanned from another slot ends nothing.
      if (newestPlaced === newest && ofAsset?.eventType === 'REMOVED') say('removed_elsewhere', newest, ofAsset)
      if (judged[0] && judged[0].assetKey !== newest.assetKey) say('verified_mismatch', newest, judged[0])
    } else {
      const before = here.at(-2)
      const stoodThere = before?.eventType === 'PLACED' && before.assetKey === newest?.assetKey
      if (newest && !stoodThere && ofAsset === newest) say('removed_not_there', before, newest)
      const other = judged.find((e) => !disputes.some(([, dispute]) => dispute === e))
      if (other) say('judged_while_empty', newest, other)
    }
    for (const [placed, dispute] of disputes) say('disputed', placed, dispute)
  }
  for (const assetKey of new Set(moves.map((e) => e.assetKey))) {
    const placed = moves.filter((e) => e.assetKey === assetKey).at(-1)
    if (placed?.eventType !== 'PLACED' || !slotIds.includes(placed.slotId)) continue
    const end = endInSlot(all, placed)
    if (!end) continue
    found.push(
      `${end.eventType === 'PLACED' ? 'two_in_one_slot' : 'left_behind'} ${placed.slotId}: ${placed.id},${end.id}`,
    )
  }
  return found.toSorted()
}

/**
 * The newest dispute of each asset in a slot, with the placement that it is about. It ends when it is corrected, when the asset is
 * verified, and when the asset to which the placement was corrected is verified in this slot.
 */
function openDisputes(all: readonly ReplayedEvent[], slotId: number): [ReplayedEvent, ReplayedEvent][] {
  const disputed = all.filter((e) => e.slotId === slotId && e.eventType === 'DISPUTED').toReversed()
  return disputed.flatMap((dispute, n): [ReplayedEvent, ReplayedEvent][] => {
    if (disputed.findIndex((e) => e.assetKey === dispute.assetKey) < n) return []
    const behind = all.slice(all.indexOf(dispute) + 1)
    const verified = behind.filter((e) => e.eventType === 'VERIFIED')
    if (verified.some((e) => e.assetKey === dispute.assetKey) || all.some((e) => e.corrects === dispute.id)) return []
    const before = all.slice(0, all.indexOf(dispute)).filter((e) => isMove(e) && e.slotId === slotId)
    const placed = [before.findLast((e) => e.id < dispute.id), before.at(-1)].find(
      (e) => e?.eventType === 'PLACED' && e.assetKey === dispute.assetKey,
    )
    const isVerifiedAnew = all
      .filter((e) => placed && e.corrects === placed.id)
      .some((right) => verified.some((e) => e.assetKey === right.assetKey && e.slotId === slotId && e.id > right.id))
    return placed && !isVerifiedAnew ? [[placed, dispute]] : []
  })
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
