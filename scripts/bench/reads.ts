import { slotState, slotStates } from '../../src/ledger/index.ts'
import { listEvents } from '../../src/ledger/store.ts'
import { walk } from '../../src/ledger/walk.ts'
import type { Rooms } from './rooms.ts'
import { median, timed } from './statistics.ts'

/** Milliseconds, each the median of many. */
export type Reads = {
  /** The whole state of one slot. */
  readonly slotMs: number
  /** Fifty events: the newest of all, those in the middle of the ledger, the newest of one slot. */
  readonly pageMs: number
  readonly deepPageMs: number
  readonly slotPageMs: number
  /** All slots as they were in the middle of the ledger, as known today and as known then. */
  readonly statesAtMs: number
  readonly statesKnownMs: number
  /** One event of a walk through the ledger, as an export makes it. */
  readonly walkMs: number
}

const times = 50
const walkedRows = 5000
const limit = 50

/** Reads that touch little: they are made all over the ledger, so that not all of them find their pages in memory. */
export function measureReads({ work }: Rooms, slots: number): Reads {
  const read = work.read.bind(work)
  const newest = read((tx) => tx.oneOf<{ id: number }>('SELECT max(id) AS id FROM main.placement_event'))?.id ?? 0
  const middle = read((tx) =>
    tx.oneOf<{ timestamp_ms: number; received_at_ms: number }>(
      'SELECT timestamp_ms, received_at_ms FROM main.placement_event WHERE id = +?',
      [Math.ceil(newest / 2)],
    ),
  )
  if (!middle) throw new Error('the ledger is empty')
  const page = { limit, offset: 0 }
  const before = { timestampMs: middle.timestamp_ms, id: 0 }
  const slotOf = (n: number) => 1 + ((n * 7919) % slots)
  const often = (one: (n: number) => unknown, rounds = times) =>
    median(Array.from({ length: rounds }, (_, n) => timed(() => one(n))))
  const all = { hiddenWarehouses: [] }
  const reads = {
    slotMs: often((n) => read((tx) => slotState(tx, slotOf(n))), 1000),
    pageMs: often(() => read((tx) => listEvents(tx, all, page).rows)),
    deepPageMs: often((n) =>
      read(
        (tx) =>
          listEvents(tx, all, { ...page, before: { ...before, timestampMs: before.timestampMs - n * 60_000 } }).rows,
      ),
    ),
    slotPageMs: often((n) => read((tx) => listEvents(tx, { ...all, slotId: slotOf(n) }, page).rows)),
    statesAtMs: often(() => read((tx) => slotStates(tx, { atMs: middle.timestamp_ms }).size), 5),
    statesKnownMs: often(() => read((tx) => slotStates(tx, { knownAtMs: middle.received_at_ms }).size), 5),
  }
  const walkMs = median([0.1, 0.3, 0.5, 0.7, 0.9].map((share) => walkedMs(work, newest, share)))
  return { ...reads, walkMs }
}

/** Milliseconds an event, from that share of the ledger on. */
function walkedMs(work: Rooms['work'], newest: number, share: number): number {
  const from = work.read((tx) =>
    tx.oneOf<{ timestamp_ms: number }>('SELECT timestamp_ms FROM main.placement_event WHERE id = +?', [
      Math.ceil(newest * share),
    ]),
  )
  let rows = 0
  const ms = timed(() => {
    const place = { timestampMs: from?.timestamp_ms ?? 0, id: 0, seq: 0 }
    rows = work.read((tx) => walk(tx, { lastId: newest }, place, walkedRows).rows.length)
  })
  return ms / rows
}
