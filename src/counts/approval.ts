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
import { type SeenSlot, seenSlots } from './scanned.ts'
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

/** Records the corrections and each slot's result, in the transaction. The caller changes the state of the count. */
export function approve(tx: Tx, countId: number, { recorder, by, approver, sight }: Approving): Approval {
  const seen = seenSlots(tx, countId, sight)
  const statuses = compare(seen)
  const statusOf = ({ slotId }: SeenSlot) => statuses.get(slotId) ?? 'not_counted'
  const lines = seen.flatMap((slot) => {
    const status = statusOf(slot)
    const { found } = slot
    return found && (status === 'matched' || status === 'different')
      ? [{ ...slot, found, isMatched: status === 'matched' }]
      : []
  })
  const scans = new Map(lines.map(({ slotId, scan }) => [slotId, scan]))
  const plan = corrections(lines, whereIsNow(tx, sight))
  const atMs = behindAll(tx, plan, sight, recorder.nowMs())
  const eventIds = plan.map((correction) => {
    const scan = scans.get(correction.scanOf)
    if (!scan) throw new Error(`slot ${correction.scanOf} was corrected without a scan`)
    return record(tx, correction, scan, correction.atMs ?? atMs + rank[correction.type], { recorder, by })
  })
  const outcomes = seen.map((slot) => ({ ...slot, outcome: outcomeOf[statusOf(slot)] }))
  for (const outcome of outcomes) store.appendOutcome(tx, countId, outcome, recorder.nowMs())
  const left = outcomes.filter(({ outcome }) => outcome !== 'matched' && outcome !== 'corrected')
  const codes: ApprovalWarning[] = [
    ...(lines.some(({ scan }) => scan && isBy(tx, scan, approver)) ? (['COUNTED_BY_APPROVER'] as const) : []),
    ...(left.length > 0 ? (['SLOTS_LEFT_OUT'] as const) : []),
  ]
  return {
    eventIds,
    leftOut: left.map(({ slotId, outcome }) => ({ slot_id: slotId, slot_code: labelOf(tx, slotId) ?? '', outcome })),
    warnings: codes.map((code) => ({ code, message: warningText[code] })),
  }
}

function isBy(tx: Tx, scan: store.Scan, person: Identity): boolean {
  const counter = store.counterOf(tx, scan)
  return counter !== undefined && mayBeSame(counter, person)
}

/** Reads the current ledger. No slot of the plan has moved since its scan, so the present equals the time of the scan. */
function whereIsNow(tx: ReadTx, sight: Sight): WhereIs {
  return (key) => {
    const placed = newestPlacementOf(tx, key, sight, boundsOf(tx))
    return {
      slotId: assetLocation(tx, key, sight).slotId,
      placed: placed && { slotId: placed.slot_id, atMs: placed.timestamp_ms },
    }
  }
}

/** Returns a time after every event of the plan's slots and pallets, in milliseconds. */
function behindAll(tx: ReadTx, plan: readonly Correction[], sight: Sight, nowMs: number): number {
  const newestMs = ({ slotId, pallet }: Correction) => newestTimestampMs(tx, slotId, pallet.key, sight)
  return plan.reduce((ms, correction) => Math.max(ms, newestMs(correction) + 1), nowMs)
}

function record(
  tx: Tx,
  { type, slotId, pallet }: Correction,
  scan: store.Scan,
  atMs: number,
  { recorder, by }: Pick<Approving, 'recorder' | 'by'>,
): number {
  const counter = store.counterOf(tx, scan)
  const grounds = { kind: 'count' as const, countId: scan.count_id, scanId: scan.id, scanSha256: scan.sha256, counter }
  const request = NewPlacementEvent.parse({
    event_type: type,
    slot_id: slotId,
    asset_barcode: pallet.barcode,
  })
  const { event } = recorder.appendIn(tx, request, { by, deviceTimeMs: undefined }, { atMs, grounds })
  return event.id
}
