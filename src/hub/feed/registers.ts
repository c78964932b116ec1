import type { PlacementFact, UnitFact } from './facts.ts'

/** The newest events of a feed: what its slots, assets and judgements are now, as far as this feed knows. */
export type Newest = {
  readonly slots: readonly PlacementFact[]
  /** The newest PLACED of each, with which its stay begins; of one that was placed nowhere the newest REMOVED. */
  readonly assets: readonly PlacementFact[]
  readonly judgements: readonly PlacementFact[]
}

/** Picks the newest event of each slot, each asset (a PLACED before any REMOVED), and each slot with an asset, by (time, seq). Pure. */
export function newestOf(placements: readonly PlacementFact[]): Newest {
  const moves = placements.filter(({ letter }) => letter === 'P' || letter === 'R')
  const judgements = placements.filter(({ letter }) => letter === 'V' || letter === 'D')
  return {
    slots: newestBy(moves, ({ slotId }) => `${slotId}`),
    assets: newestBy(moves, ({ assetKey }) => assetKey, beginsStay),
    judgements: newestBy(judgements, ({ slotId, assetKey }) => `${slotId} ${assetKey}`),
  }
}

/**
 * Picks the newest step of each transport unit, by (time, seq). Its SSCC, direction and reference come from earlier steps where it
 * names none: often only the first one does. Pure.
 */
export function newestSteps(steps: readonly UnitFact[]): UnitFact[] {
  return [...Map.groupBy(steps, ({ unitId }) => unitId).values()].map((ofUnit) =>
    ofUnit.toSorted((one, other) => (isNewer(one, other) ? -1 : 1)).reduce(completed),
  )
}

const completed = (unit: UnitFact, earlier: UnitFact): UnitFact => ({
  ...unit,
  direction: unit.direction ?? earlier.direction,
  sscc: unit.sscc ?? earlier.sscc,
  reference: unit.reference ?? earlier.reference,
})

type Timed = { readonly atMs: number; readonly seq: number }

function newestBy<T extends Timed>(
  facts: readonly T[],
  keyOf: (fact: T) => string,
  isBetter: (one: T, other: T) => boolean = isNewer,
): T[] {
  const newest = new Map<string, T>()
  for (const fact of facts) {
    const known = newest.get(keyOf(fact))
    if (!known || isBetter(fact, known)) newest.set(keyOf(fact), fact)
  }
  return [...newest.values()]
}

const isNewer = (one: Timed, other: Timed): boolean =>
  one.atMs > other.atMs || (one.atMs === other.atMs && one.seq > other.seq)

const beginsStay = (one: PlacementFact, other: PlacementFact): boolean =>
  one.letter === other.letter ? isNewer(one, other) : one.letter === 'P'
