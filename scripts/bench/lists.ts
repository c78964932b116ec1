import { verifyLedger } from '../../src/evidence/index.ts'
import { slotStates } from '../../src/ledger/index.ts'
import { SimulatedClock } from '../../test/support/simulated-clock.ts'
import { type Figure, millis, rounded, thousands } from './figure.ts'
import { openRooms, origin, type Rooms } from './rooms.ts'
import { furnish, History, keepPhoto } from './seed.ts'
import { inTurn, timed } from './statistics.ts'

const hallSlots = 10_000
const hallPallets = 20_000
const rounds = 15

/** Long enough ago that a history of a million events, one a second, ends before now. */
const twoWeeksMs = 14 * 24 * 60 * 60 * 1000

type Taken = { events: number; boundMs: number; statesMs: number; utilizationMs: number }

/**
 * A hall of 10,000 slots whose ledger grows through `sizes` events in `dataDir`, where it is left for others; at each
 * size the lists are measured against the least that any list must do.
 */
export async function measureLists(dataDir: string, sizes: readonly number[]): Promise<Figure[]> {
  const clock = new SimulatedClock(Date.now() - twoWeeksMs)
  const rooms = openRooms(dataDir, clock)
  const taken: Taken[] = []
  try {
    // The seeding need not survive a power cut, and is no figure.
    rooms.db.pragma('synchronous = OFF')
    await furnish(rooms, hallSlots, hallPallets)
    const photoUrl = await keepPhoto(rooms)
    const history = new History({ rooms, clock, slots: hallSlots, pallets: hallPallets, photoUrl })
    for (const events of sizes) {
      await history.growTo(events)
      taken.push({ events, ...measureAt(rooms) })
    }
  } finally {
    rooms.close()
  }
  return [...taken.flatMap(figuresOf), ...growth(taken), verification(dataDir)]
}

/**
 * Two index seeks a slot in one prepared statement: who moved last in it, and what was last said of it. The limit for
 * everything that says how all slots are.
 */
const boundSql = `SELECT s.id,
  (SELECT asset_barcode FROM main.placement_event WHERE slot_id = s.id AND event_type IN ('PLACED', 'REMOVED')
   ORDER BY timestamp_ms DESC, id DESC LIMIT 1) AS moved,
  (SELECT event_type FROM main.placement_event WHERE slot_id = s.id AND event_type IN ('VERIFIED', 'DISPUTED')
   ORDER BY timestamp_ms DESC, id DESC LIMIT 1) AS judged
FROM main.slot s`

function measureAt({ work, floor }: Rooms): Omit<Taken, 'events'> {
  const taken = inTurn(rounds, {
    bound: () => work.read((tx) => tx.allOf(boundSql)),
    states: () => work.read((tx) => slotStates(tx)),
    utilization: () => floor.utilization(origin.caller, {}),
  })
  if (floor.utilization(origin.caller, {}).totalSlots !== hallSlots) throw new Error('not all slots were counted')
  return { boundMs: taken.bound, statesMs: taken.states, utilizationMs: taken.utilization }
}

function figuresOf({ events, boundMs, statesMs, utilizationMs }: Taken): Figure[] {
  const hall = `10,000 slots, ${thousands(events)} events`
  return [
    {
      id: `states-${events}`,
      what: `State of all slots, against two index seeks a slot (${hall})`,
      value: statesMs / boundMs,
      unit: '×',
      target: { limit: 1.3, sense: 'at most' },
      raw: `${millis(statesMs)} against ${millis(boundMs)}`,
      numbers: { statesMs, boundMs },
    },
    {
      id: `utilization-${events}`,
      what: `Utilization, against two index seeks a slot (${hall})`,
      value: utilizationMs / boundMs,
      unit: '×',
      target: { limit: 1.5, sense: 'at most' },
      raw: `${millis(utilizationMs)} against ${millis(boundMs)}; ${rounded(utilizationMs / statesMs)} × the state of all slots`,
      numbers: { utilizationMs, boundMs, statesMs },
    },
  ]
}

/** What ten times as many events do to the states; the bound grows too, for its tree gets deeper. */
function growth(taken: readonly Taken[]): Figure[] {
  return taken.slice(1).flatMap((larger, i) => {
    const smaller = taken[i]
    if (!smaller) return []
    return {
      id: `growth-${smaller.events}-${larger.events}`,
      what: `State of all slots at ${thousands(larger.events)} events, against ${thousands(smaller.events)}`,
      value: larger.statesMs / smaller.statesMs,
      unit: '×' as const,
      target: { limit: 2, sense: 'at most' as const },
      raw: `${millis(larger.statesMs)} against ${millis(smaller.statesMs)}; the bound ${millis(larger.boundMs)} against ${millis(smaller.boundMs)}`,
      numbers: { largerMs: larger.statesMs, smallerMs: smaller.statesMs },
    }
  })
}

/** The ledger that was measured is a true one; and what it takes to find that out. */
function verification(dataDir: string): Figure {
  let found: ReturnType<typeof verifyLedger> | undefined
  const verifiedMs = timed(() => {
    found = verifyLedger(dataDir)
  })
  if (!found?.ok) throw new Error(`the seeded ledger does not verify: ${JSON.stringify(found?.mismatches[0])}`)
  const leafMs = verifiedMs / found.size
  return {
    id: 'verify',
    what: 'Verification of the whole ledger',
    value: null,
    unit: 'ms',
    raw: `${thousands(found.size)} leaves in ${millis(verifiedMs)}, ${rounded(leafMs * 1000)} µs a leaf`,
    numbers: { leaves: found.size, verifiedMs },
  }
}
