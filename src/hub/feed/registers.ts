import type { PlacementFact } from './facts.ts'

/** The newest events of a feed: what its slots, assets and judgements are now, as far as this feed knows. */
export type Newest = {
  readonly slots: readonly PlacementFact[]
  readonly assets: readonly PlacementFact[]
  readonly judgements: readonly PlacementFact[]
}

/** Picks the newest event of each slot, each asset, and each slot with an asset, by (time, seq). Pure. */
export function newestOf(placements: readonly PlacementFact[]): Newest {
  const moves = placements.filter(({ letter }) => letter === 'P' || letter === 'R')
  const judgements = placements.filter(({ letter }) => letter === 'V' || letter === 'D')
  return {
    slots: newestBy(moves, ({ slotId }) => `${slotId}`),
    assets: newestBy(moves, ({ assetKey }) => assetKey),
    judgements: newestBy(judgements, ({ slotId, assetKey }) => `${slotId} ${assetKey}`),
  }
}

function newestBy(facts: readonly PlacementFact[], keyOf: (fact: PlacementFact) => string): PlacementFact[] {
  const newest = new Map<string, PlacementFact>()
  for (const fact of facts) {
    const known = newest.get(keyOf(fact))
    if (!known || isNewer(fact, known)) newest.set(keyOf(fact), fact)
  }
  return [...newest.values()]
}

const isNewer = (one: PlacementFact, other: PlacementFact): boolean =>
  one.atMs > other.atMs || (one.atMs === other.atMs && one.seq > other.seq)
