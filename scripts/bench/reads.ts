import { pageOfHistory } from '../../src/ledger/derive/history.ts'
import { walk } from '../../src/ledger/derive/walk.ts'
import { type HistoryFilter, slotState, slotStates } from '../../src/ledger/index.ts'
import { oneOf } from '../../test/support/plain-sql.ts'
import type { Rooms } from './rooms.ts'
import { median, timed, timedUntilDone } from './statistics.ts'

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
export async function measureReads({ work }: Rooms, slots: number): Promise<Reads> {
  const read = work.read.bind(work)
  const newest = read((tx) => oneOf<{ id: number }>(tx, 'SELECT max(id) AS id FROM main.placement_event'))?.id ?? 0
  const middle = read((tx) =>
    oneOf<{ timestamp_ms: number; received_at_ms: number }>(
      tx,
      'SELECT timestamp_ms, received_at_ms FROM main.placement_event WHERE id = +?',
      [Math.ceil(newest / 2)],
    ),
  )
  if (!middle) throw new Error('the ledger is empty')
  const page = { limit, offset: 0 }
  const slotOf = (n: number) => 1 + ((n * 7919) % slots)
  const often = (one: (n: number) => unknown, rounds = times) =>
    median(Array.from({ length: rounds }, (_, n) => timed(() => one(n))))
  const pageMs = (filter: (n: number) => HistoryFilter, beforeMs?: (n: number) => number) =>
    oftenOf((n) => {
      const place = beforeMs && { before: { timestampMs: beforeMs(n), id: 0 } }
      return pageOfHistory(work, filter(n), { hiddenWarehouses: [] }, { ...page, ...place })
    })
  const reads = {
    slotMs: often((n) => read((tx) => slotState(tx, slotOf(n))), 1000),
    pageMs: await pageMs(() => ({})),
    deepPageMs: await pageMs(
      () => ({}),
      (n) => middle.timestamp_ms - n * 60_000,
    ),
    slotPageMs: await pageMs((n) => ({ slotId: slotOf(n) })),
    statesAtMs: often(() => read((tx) => slotStates(tx, { atMs: middle.timestamp_ms }).size), 5),
    statesKnownMs: often(() => read((tx) => slotStates(tx, { knownAtMs: middle.received_at_ms }).size), 5),
  }
  const walkMs = median([0.1, 0.3, 0.5, 0.7, 0.9].map((share) => walkedMs(work, newest, share)))
  return { ...reads, walkMs }
}

async function oftenOf(one: (n: number) => Promise<unknown>): Promise<number> {
  const taken: number[] = []
  for (let n = 0; n < times; n += 1) taken.push(await timedUntilDone(() => one(n)))
  return median(taken)
}

/** Milliseconds an event, from that share of the ledger on. */
function walkedMs(work: Rooms['work'], newest: number, share: number): number {
  const from = work.read((tx) =>
    oneOf<{ timestamp_ms: number }>(tx, 'SELECT timestamp_ms FROM main.placement_event WHERE id = +?', [
      Math.ceil(newest * share),
    ]),
  )
  let rows = 0
  const ms = timed(() => {
    const place = { timestampMs: from?.timestamp_ms ?? 0, id: 0 }
    rows = work.read((tx) => walk(tx, { lastId: newest }, place, walkedRows).rows.length)
  })
  return ms / rows
}
