/**
 * Computes the events to append so that the floor is as if an event had been booked right, or not at all. Pure.
 *
 * The events get the very time of the wrong one, behind all others of that time, so later events still count. Between the error and
 * its correction the ledger, as known now, is never wrong.
 */
export type Step = {
  readonly type: 'PLACED' | 'REMOVED'
  readonly slotId: number
  readonly assetKey: string
}

/** Occupants of some slots, and places of some assets. A slot may show an asset that is elsewhere or nowhere. */
export type Scene = {
  /** Null: the slot is empty. */
  readonly occupants: ReadonlyMap<number, string | null>
  /** Null: the asset is nowhere. */
  readonly places: ReadonlyMap<string, number | null>
}

/**
 * Returns the steps from the floor as it is booked to the floor as it should be. First come the removals, then `right` (the event
 * as it should have been booked). Last, assets that these two wrongly took away are placed anew. A removal from another slot would
 * still contradict the asset's location, so that asset is placed anew too.
 * @param contradicted assets of which the wrong event is such a removal
 */
export function compensation(
  booked: Scene,
  wanted: Scene,
  right: Step | undefined,
  contradicted: readonly string[],
): Step[] {
  const floor = { occupants: new Map(booked.occupants), places: new Map(booked.places) }
  const open = new Set(contradicted)
  const steps: Step[] = []
  const step = (type: Step['type'], slotId: number, assetKey: string) => {
    steps.push({ type, slotId, assetKey })
    open.delete(assetKey)
    for (const [key, place] of floor.places) if (place === slotId) floor.places.set(key, null)
    floor.occupants.set(slotId, type === 'PLACED' ? assetKey : null)
    if (type === 'PLACED') floor.places.set(assetKey, slotId)
  }
  const take = (slotId: number, assetKey: string) => {
    const stands = floor.places.get(assetKey) ?? null
    step('REMOVED', slotId, assetKey)
    if (stands !== null && stands !== slotId) open.add(assetKey)
  }
  for (const [slotId, wants] of wantedOccupants(booked, wanted)) {
    const stands = floor.occupants.get(slotId) ?? null
    if (stands !== null && wants === null) take(slotId, stands)
  }
  for (const [assetKey, wants] of wanted.places) {
    const stands = floor.places.get(assetKey) ?? null
    if (wants === null && stands !== null) take(stands, assetKey)
  }
  const isDone =
    right && steps.some((s) => s.type === right.type && s.slotId === right.slotId && s.assetKey === right.assetKey)
  // It may contradict the ledger as any event may.
  if (right && !isDone) step(right.type, right.slotId, right.assetKey)
  for (const [assetKey, wants] of wanted.places) {
    if (wants !== null && (floor.places.get(assetKey) !== wants || open.has(assetKey))) step('PLACED', wants, assetKey)
  }
  return steps
}

/**
 * A pallet that a slot shows though it went elsewhere stays shown there. It is never put back, because placing it there would move
 * it.
 */
function* wantedOccupants(booked: Scene, wanted: Scene): Generator<[number, string | null]> {
  for (const [slotId, occupant] of wanted.occupants) {
    const isGhost = occupant !== null && wanted.places.get(occupant) !== slotId
    if (isGhost && booked.occupants.get(slotId) !== occupant) yield [slotId, null]
    else yield [slotId, occupant]
  }
}
