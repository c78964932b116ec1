/** Makes leaves of a busy floor, and computes the floor from the leaves alone: nothing of `src` is imported. */

type Leaf = {
  readonly seq: number
  readonly eventType: 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'
  readonly slotId: number
  readonly assetKey: string
  readonly timestamp: string
}

/** A small generator with a seed, so that a failure can be repeated. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

const startMs = Date.UTC(2026, 2, 2, 6)
const kinds = ['PLACED', 'PLACED', 'REMOVED', 'VERIFIED', 'DISPUTED'] as const

export type FloorOptions = {
  siteId?: string
  logId?: string
  count?: number
  seed?: number
  slots?: number
  assets?: number
}

/** Makes leaves of placements, one in ten of them late. */
export function floorLeaves(options: FloorOptions = {}): Buffer[] {
  const { siteId = 'dc-7', logId = '0190a5c4-3c00-7000-8000-000000000001' } = options
  const { count = 600, seed = 7, slots = 20, assets = 40 } = options
  const next = chance(seed)
  return Array.from({ length: count }, (_, i) => {
    const slotId = 1 + Math.floor(next() * slots)
    const lateMs = next() < 0.1 ? Math.floor(next() * 60) * 60_000 : 0
    const facts = {
      ...{ v: 2, kind: 'placement', siteId, logId, seq: i + 1, eventId: `event-${i}` },
      eventType: kinds[Math.floor(next() * kinds.length)] ?? 'PLACED',
      ...{ slotId, slotCode: `A-${String(slotId).padStart(2, '0')}`, assetKey: `P-${Math.floor(next() * assets)}` },
      timestamp: new Date(startMs + i * 60_000 - lateMs).toISOString(),
      receivedAt: new Date(startMs + i * 60_000).toISOString(),
      photoSha256: i % 3 === 0 ? String(i).padStart(64, '0') : undefined,
    }
    return Buffer.from(JSON.stringify(facts))
  })
}

/**
 * Replays the moves by (time, seq). Returns the newest move of each slot id as `P 17 P-3`. Returns the newest PLACED of each asset
 * key, or else its newest REMOVED, as `P 17 A-03`.
 */
export function replayed(leaves: readonly Buffer[]): { slots: Map<number, string>; assets: Map<string, string> } {
  const slots = new Map<number, string>()
  const assets = new Map<string, string>()
  const moves = leaves
    .map((leaf) => JSON.parse(leaf.toString()) as Leaf & { slotCode: string })
    .filter(({ eventType }) => eventType === 'PLACED' || eventType === 'REMOVED')
    .toSorted((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp) || a.seq - b.seq)
  for (const { eventType, seq, slotId, slotCode, assetKey } of moves) {
    slots.set(slotId, `${eventType[0]} ${seq} ${assetKey}`)
    if (eventType === 'PLACED' || !assets.get(assetKey)?.startsWith('P'))
      assets.set(assetKey, `${eventType[0]} ${seq} ${slotCode}`)
  }
  return { slots, assets }
}

/** The newest verdict of each asset in each slot by (time, seq): `V 17 06:20` by `3 P-3`. */
export function judgedIn(leaves: readonly Buffer[]): Map<string, string> {
  const verdicts = new Map<string, string>()
  const judgements = leaves
    .map((leaf) => JSON.parse(leaf.toString()) as Leaf)
    .filter(({ eventType }) => eventType === 'VERIFIED' || eventType === 'DISPUTED')
    .toSorted((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp) || a.seq - b.seq)
  for (const { eventType, seq, slotId, assetKey, timestamp } of judgements) {
    verdicts.set(`${slotId} ${assetKey}`, `${eventType[0]} ${seq} ${timestamp.slice(11, 16)}`)
  }
  return verdicts
}
