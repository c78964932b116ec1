import type { ReadTx, Tx } from '../database/index.ts'
import type { RequestOrigin } from '../http/index.ts'
import {
  assetLocation,
  boundsOf,
  NewPlacementEvent,
  newestPlacementOf,
  newestTimestampMs,
  type Recorder,
} from '../ledger/index.ts'
import { type Identity, mayBeSame } from '../log/index.ts'
import { labelOf, type Sight } from '../warehouse/index.ts'
import { compare, type LineStatus } from './comparison.ts'
import { type Correction, corrections, type WhereIs } from './corrections.ts'
import { eachSeenSlot, type SeenSlot } from './scanned.ts'
import type { Approval, ApprovalWarning } from './schema.ts'
import * as store from './store.ts'

const warningText = {
  COUNTED_BY_APPROVER: 'the count is approved by somebody who has counted in it',
  SLOTS_LEFT_OUT: 'some slots of the count have no result',
} as const satisfies Record<ApprovalWarning, string>

const outcomeOf = {
  matched: 'matched',
  different: 'corrected',
  moved: 'moved',
  conflict: 'conflict',
  not_counted: 'not_counted',
} as const satisfies Record<LineStatus, store.OutcomeKind>

/** Order of the events: a pallet is removed from one slot before it is placed in another, and confirmed last. */
const rank = { REMOVED: 0, PLACED: 1, VERIFIED: 2 } as const

type Approving = {
  readonly recorder: Recorder
  readonly by: RequestOrigin
  readonly approver: Identity
  readonly sight: Sight
}

/** Slots or events of one turn of the event loop. An event takes about half a millisecond. */
const perTurn = 20

/**
 * Records the corrections and each slot's result, in slices of the transaction. The caller changes the state of the count.
 */
export function* approve(
  tx: Tx,
  countId: number,
  { recorder, by, approver, sight }: Approving,
): Generator<void, Approval> {
  const seen = yield* each(eachSeenSlot(tx, countId, sight), (slot) => slot)
  const statuses = compare(seen)
  const statusOf = ({ slotId }: SeenSlot) => statuses.get(slotId) ?? 'not_counted'
  const lines = seen.flatMap((slot) => {
    const status = statusOf(slot)
    const { found } = slot
    return found && (status === 'matched' || status === 'different')
      ? [{ ...slot, found, isMatched: status === 'matched' }]
      : []
  })
  const counted = new Map(yield* each(lines, ({ slotId, scan }) => [slotId, scan && countedBy(tx, scan)] as const))
  const plan = corrections(lines, yield* whereIsNow(tx, lines, sight))
  const newest = yield* each(plan, ({ slotId, pallet }) => newestTimestampMs(tx, slotId, pallet.key, sight))
  // Behind every event of the plan's slots and pallets.
  const atMs = newest.reduce((ms, newestMs) => Math.max(ms, newestMs + 1), recorder.nowMs())
  const eventIds = yield* each(plan, (correction) => {
    const grounds = counted.get(correction.scanOf)
    if (!grounds) throw new Error(`slot ${correction.scanOf} was corrected without a scan`)
    return record(tx, correction, grounds, correction.atMs ?? atMs + rank[correction.type], { recorder, by })
  })
  const outcomes = seen.map((slot) => ({ ...slot, outcome: outcomeOf[statusOf(slot)] }))
  yield* each(outcomes, (outcome) => store.appendOutcome(tx, countId, outcome, recorder.nowMs()))
  const left = outcomes.filter(({ outcome }) => outcome !== 'matched' && outcome !== 'corrected')
  const leftOut = yield* each(left, ({ slotId, outcome }) => ({
    slot_id: slotId,
    slot_code: labelOf(tx, slotId) ?? '',
    outcome,
  }))
  const isOwn = [...counted.values()].some((by) => by?.counter !== undefined && mayBeSame(by.counter, approver))
  const codes: ApprovalWarning[] = [
    ...(isOwn ? (['COUNTED_BY_APPROVER'] as const) : []),
    ...(left.length > 0 ? (['SLOTS_LEFT_OUT'] as const) : []),
  ]
  return { eventIds, leftOut, warnings: codes.map((code) => ({ code, message: warningText[code] })) }
}

/** Does the work for each item and ends the turn of the event loop after every 20. */
function* each<Item, Done>(items: Iterable<Item>, work: (item: Item) => Done): Generator<void, Done[]> {
  const done: Done[] = []
  for (const item of items) {
    done.push(work(item))
    if (done.length % perTurn === 0) yield
  }
  return done
}

function countedBy(tx: ReadTx, scan: store.Scan) {
  const counter = store.counterOf(tx, scan)
  return { kind: 'count' as const, countId: scan.count_id, scanId: scan.id, scanSha256: scan.sha256, counter }
}

/**
 * Reads the current ledger for the pallets of the lines that differ. No slot of the plan has moved since its scan, so the present
 * equals the time of the scan.
 */
function* whereIsNow(
  tx: ReadTx,
  lines: readonly (SeenSlot & { isMatched: boolean })[],
  sight: Sight,
): Generator<void, WhereIs> {
  const pallets = lines
    .filter(({ isMatched }) => !isMatched)
    .flatMap(({ found = [], occupant }) => [...found, ...(occupant ? [occupant] : [])])
  const keys = new Set(pallets.map(({ key }) => key))
  const places = yield* each(keys, (key): [string, ReturnType<WhereIs>] => {
    const placed = newestPlacementOf(tx, key, sight, boundsOf(tx))
    return [
      key,
      {
        slotId: assetLocation(tx, key, sight).slotId,
        placed: placed && { slotId: placed.slot_id, atMs: placed.timestamp_ms },
      },
    ]
  })
  const byKey = new Map(places)
  return (key) => {
    const place = byKey.get(key)
    if (!place) throw new Error('the plan asks for a pallet of no line')
    return place
  }
}

function record(
  tx: Tx,
  { type, slotId, pallet }: Correction,
  grounds: ReturnType<typeof countedBy>,
  atMs: number,
  { recorder, by }: Pick<Approving, 'recorder' | 'by'>,
): number {
  const request = NewPlacementEvent.parse({
    event_type: type,
    slot_id: slotId,
    asset_barcode: pallet.barcode,
  })
  const { event } = recorder.appendIn(tx, request, { by, deviceTimeMs: undefined }, { atMs, grounds })
  return event.id
}
