import { statSync } from 'node:fs'
import { databaseFile } from '../../src/database/index.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { slotStates } from '../../src/ledger/index.ts'
import { allOf } from '../../test/support/plain-sql.ts'
import { SimulatedClock } from '../../test/support/simulated-clock.ts'
import { type Figure, millis, rounded, thousands } from './figure.ts'
import { measureReads, type Reads } from './reads.ts'
import { openRooms, origin, type Rooms } from './rooms.ts'
import { furnish, History, keepPhoto } from './seed.ts'
import type { Serving } from './serving.ts'
import { inTurn, timed } from './statistics.ts'

const hallSlots = 10_000
const hallPallets = 20_000
const rounds = 15

/** A hall is full only from here on; before that a longer ledger also has more to tell of it. */
const grownEvents = 1_000_000

/** Recorded one by one up to here, which is the honest way; filled from here on. */
const recordedOnes = 100_000

type Taken = {
  events: number
  boundMs: number
  statesMs: number
  utilizationMs: number
  reads: Reads
  size: FileSize
  serving: Serving
}

type FileSize = { readonly fileBytes: number; readonly filledMs: number }

/**
 * Measures the lists in a hall of 10,000 slots against the least work that any list must do. Its ledger in `dataDir`
 * grows through `sizes` events, and stays there for other parts.
 */
export async function measureLists(
  dataDir: string,
  sizes: readonly number[],
  served: () => Promise<Serving>,
): Promise<Figure[]> {
  // One event a second, the last of them an hour ago.
  const clock = new SimulatedClock(Date.now() - ((sizes.at(-1) ?? 0) + 3600) * 1000)
  let rooms = openQuick()
  const taken: Taken[] = []
  try {
    await furnish(rooms, hallSlots, hallPallets)
    const photoUrl = await keepPhoto(rooms)
    const history = new History({ rooms, clock, slots: hallSlots, pallets: hallPallets, photoUrl })
    for (const events of sizes) {
      const startedMs = performance.now()
      await history.growTo(Math.min(events, recordedOnes))
      if (events > recordedOnes) history.fillTo(rooms, events)
      const filledMs = performance.now() - startedMs
      const reads = await measureReads(rooms, hallSlots)
      const fileBytes = statSync(databaseFile(dataDir)).size
      const states = await measureAt(rooms)
      rooms.close()
      taken.push({ events, ...states, reads, size: { fileBytes, filledMs }, serving: await served() })
      rooms = openQuick()
      history.goOnIn(rooms)
    }
  } finally {
    rooms.close()
  }
  return [
    ...taken.flatMap(figuresOf),
    ...taken.flatMap(overHttp),
    ...growth(taken),
    ...taken.map(readsFigure),
    ...taken.map(servingFigure),
    verification(dataDir),
  ]

  /** The seeding need not survive a power cut, and is no figure. */
  function openQuick() {
    const opened = openRooms(dataDir, clock)
    opened.db.pragma('synchronous = OFF')
    return opened
  }
}

/**
 * Two index seeks a slot in one prepared statement: the newest move, and the newest judgement. This is the lower
 * bound for every list of all slots.
 */
const boundSql = `SELECT s.id,
  (SELECT asset_barcode FROM main.placement_event WHERE slot_id = s.id AND event_type IN ('PLACED', 'REMOVED')
   ORDER BY timestamp_ms DESC, id DESC LIMIT 1) AS moved,
  (SELECT event_type FROM main.placement_event WHERE slot_id = s.id AND event_type IN ('VERIFIED', 'DISPUTED')
   ORDER BY timestamp_ms DESC, id DESC LIMIT 1) AS judged
FROM main.slot s`

async function measureAt({ work, floor }: Rooms): Promise<Pick<Taken, 'boundMs' | 'statesMs' | 'utilizationMs'>> {
  const taken = await inTurn(rounds, {
    bound: () => work.read((tx) => allOf(tx, boundSql)),
    states: () => work.read((tx) => slotStates(tx)),
    utilization: () => floor.utilization(origin.caller, {}),
  })
  if ((await floor.utilization(origin.caller, {})).totalSlots !== hallSlots)
    throw new Error('not all slots were counted')
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

/** The same list over HTTP: the cost of the answer besides the seeks, and one page of it. */
function overHttp({ events, boundMs, serving: { listCpuMs, sameListCpuMs, pageMs } }: Taken): Figure[] {
  const hall = `10,000 slots, ${thousands(events)} events`
  return [
    {
      id: `list-${events}`,
      what: `Processor time of GET /slots after a slot has changed, against two index seeks a slot (${hall})`,
      value: listCpuMs / boundMs,
      unit: '×',
      target: { limit: 1.3, sense: 'at most' },
      raw: `${millis(listCpuMs)} against ${millis(boundMs)}; ${millis(sameListCpuMs)} while nothing changes`,
      numbers: { listCpuMs, sameListCpuMs, boundMs },
    },
    {
      id: `page-${events}`,
      what: `GET /slots?limit=100 (${hall})`,
      value: pageMs,
      unit: 'ms',
      target: { limit: 3, sense: 'at most' },
      raw: `p50 ${millis(pageMs)}`,
      numbers: { pageMs },
    },
  ]
}

/** Everything else that is read of the ledger, which must not feel how long that is. */
function readsFigure({ events, reads, size }: Taken): Figure {
  const micros = (ms: number) => `${rounded(ms * 1000)} µs`
  const at = `all slots at a time ${millis(reads.statesAtMs)}, as known then ${millis(reads.statesKnownMs)}`
  const pages = `page of the history ${micros(reads.pageMs)}, in its middle ${micros(reads.deepPageMs)}, of a slot ${micros(reads.slotPageMs)}`
  return {
    id: `reads-${events}`,
    what: `Other reads at ${thousands(events)} events`,
    value: null,
    unit: 'ms',
    raw: `one slot ${micros(reads.slotMs)}; ${pages}; ${at}; export ${rounded(reads.walkMs * 1000)} µs an event; file ${rounded(size.fileBytes / 2 ** 20)} MiB, made in ${rounded(size.filledMs / 1000)} s`,
    numbers: { ...reads, ...size },
  }
}

function servingFigure({ events, serving }: Taken): Figure {
  const mib = (bytes: number) => `${rounded(bytes / 2 ** 20)} MiB`
  return {
    id: `serving-${events}`,
    what: `The daemon over ${thousands(events)} events`,
    value: null,
    unit: 'ms',
    raw: `answers ${millis(serving.answeredAfterMs)} after its start; after some lists and pages ${mib(serving.ownBytes)} of its own memory, ${mib(serving.residentBytes)} with pages of its files`,
    numbers: serving,
  }
}

/** Compares the states at ten times as many events. The bound grows too, because its tree is deeper. */
function growth(taken: readonly Taken[]): Figure[] {
  return taken.slice(1).flatMap((larger, i) => {
    const smaller = taken[i]
    if (!smaller) return []
    return {
      id: `growth-${smaller.events}-${larger.events}`,
      what: `State of all slots at ${thousands(larger.events)} events, against ${thousands(smaller.events)}`,
      value: larger.statesMs / smaller.statesMs,
      unit: '×' as const,
      ...(smaller.events >= grownEvents && { target: { limit: 2, sense: 'at most' as const } }),
      raw: `${millis(larger.statesMs)} against ${millis(smaller.statesMs)}; the bound ${millis(larger.boundMs)} against ${millis(smaller.boundMs)}`,
      numbers: { largerMs: larger.statesMs, smallerMs: smaller.statesMs },
    }
  })
}

/** Verifies the measured ledger and takes the time. Throws when it does not verify. */
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
