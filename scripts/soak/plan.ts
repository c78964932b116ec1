/**
 * Plan of the scanners of a run. The plan and the number of an event alone determine the event, so it can be made again.
 */
export type Plan = {
  readonly seed: number
  readonly scanners: number
  readonly events: number
  readonly slots: number
  readonly pallets: number
  /** Before the first event; late ones happened up to ten minutes earlier, ms since the epoch. */
  readonly startMs: number
  readonly photoUrl: string
}

export type PlannedEvent = {
  readonly client_event_id: string
  readonly event_type: 'PLACED' | 'REMOVED' | 'VERIFIED' | 'DISPUTED'
  readonly slot_id: number
  readonly asset_barcode: string
  readonly photo_url?: string
  /** Time of a late event, RFC 3339. */
  readonly timestamp?: string
}

/** How a scanner sends an event. */
export type Habit = 'once' | 'double' | 'again-later' | 'falls-silent'

const lateShare = 5
const longestLateMs = 10 * 60_000

export const clientIdOf = (n: number): string => `scan-${n}`

/** The number in a client_event_id; undefined for one that no scanner made. */
export function numberIn(clientEventId: string | null): number | undefined {
  const digits = clientEventId?.match(/^scan-(\d+)$/)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

export function plannedEvent(plan: Plan, n: number): PlannedEvent {
  const chance = chanceOf(plan.seed, n)
  const type = chance(100)
  const event = {
    client_event_id: clientIdOf(n),
    event_type: type < 40 ? 'PLACED' : type < 72 ? 'REMOVED' : type < 94 ? 'VERIFIED' : 'DISPUTED',
    slot_id: 1 + chance(plan.slots),
    asset_barcode: `PALLET-${chance(plan.pallets)}`,
  } as const
  const isLate = chance(100) < lateShare
  return {
    ...event,
    ...(event.event_type === 'PLACED' && { photo_url: plan.photoUrl }),
    ...(isLate && { timestamp: new Date(plan.startMs - chance(longestLateMs)).toISOString() }),
  }
}

export function habitOf(plan: Plan, n: number): Habit {
  const dice = chanceOf(plan.seed ^ 0x5bd1e995, n)(1000)
  if (dice < 20) return 'double'
  if (dice < 40) return 'again-later'
  return dice < 42 ? 'falls-silent' : 'once'
}

/** Numbers that look like chance, the same for the same seed and event (splitmix32). */
function chanceOf(seed: number, n: number): (below: number) => number {
  let state = (seed + Math.imul(n, 0x9e3779b9)) | 0
  return (below) => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below
  }
}
