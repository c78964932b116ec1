import type { Tx, UnitOfWork } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import { batchRefusal, type Caller, demand, errorFacts, type Reply } from '../../http/index.ts'
import type { Idempotency } from '../../journal/index.ts'
import type { AssetService, Slot, WarehouseService } from '../../warehouse/index.ts'
import { assetLocation } from '../derive/location.ts'
import type { AppendedEvent, NewPlacementEvent, RecordedEvent } from '../schema.ts'
import * as store from '../store.ts'
import {
  type BatchItemResult,
  type NewBatch,
  type NewMove,
  type RecordedBatch,
  type RecordedMove,
  readItem,
} from './act-schema.ts'
import { type Appended, type Recorder, requestHash } from './recorder.ts'
import type { TimedAsk } from './timed-ask.ts'

/** Outcome of one event of a batch. */
type ItemOutcome = { readonly done: Appended } | { readonly refused: AppError }

function resultOf(outcome: ItemOutcome, index: number): BatchItemResult {
  if ('refused' in outcome) return { index, status: outcome.refused.status, error: errorFacts(outcome.refused) }
  const { success: _, ...event } = outcome.done.event
  return { index, status: outcome.done.isNew ? 201 : 200, event }
}

/** As `batchRefusal`. */
const refusalOf = (outcomes: readonly ItemOutcome[]): AppError | undefined =>
  batchRefusal(
    outcomes.map((outcome) => ('refused' in outcome ? outcome.refused : undefined)),
    { list: 'events', nothing: 'Nothing was recorded' },
  )

type ActsNeeds = {
  readonly work: UnitOfWork
  readonly recorder: Recorder
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly idempotency: Idempotency
}

/** Acts of the floor that append several events in one commit: batches and moves. */
export class Acts {
  readonly #needs: ActsNeeds

  constructor(needs: ActsNeeds) {
    this.#needs = needs
  }

  /**
   * Records up to 100 events in the order in which they are sent. With `proceed`, refused events leave nothing, the others are
   * recorded. With `rollback`, throws with every problem of every event, and nothing is recorded.
   */
  batch({ mode, events }: NewBatch, asked: TimedAsk): Promise<Reply<RecordedBatch>> {
    const items = events.map(readItem)
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, asked.claim, () => {
        const outcomes = items.map((item) => this.#outcome(tx, item, asked))
        const refusal = mode === 'proceed' ? undefined : refusalOf(outcomes)
        if (refusal) throw refusal
        const body = { success: true as const, results: outcomes.map(resultOf) }
        return { status: mode === 'proceed' ? (200 as const) : (201 as const), body }
      }),
    )
  }

  /** Records a removal and a placement behind it. Throws as an event does, with the move's own names of the fields. */
  move(request: NewMove, asked: TimedAsk): Promise<Reply<RecordedMove>> {
    demand(asked.by.caller, 'events:create')
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, asked.claim, () => {
        const hash = requestHash(request)
        const known = this.#needs.recorder.repeated(tx, request.client_event_id, () => hash, asked.by.caller)
        const made = known ? this.#asMoved(tx, known, asked.by.caller) : this.#move(tx, request, hash, asked)
        const body = { success: true as const, ...made }
        return { status: known ? (200 as const) : (201 as const), body, location: pathOf(made.placed.id) }
      }),
    )
  }

  #outcome(tx: Tx, item: NewPlacementEvent | AppError, asked: TimedAsk): ItemOutcome {
    if (item instanceof AppError) return { refused: item }
    return this.#needs.recorder.attempt(tx, () => this.#needs.recorder.appendIn(tx, item, asked))
  }

  #move(tx: Tx, request: NewMove, hash: string, asked: TimedAsk) {
    const { caller } = asked.by
    const to = under('to_', () =>
      this.#needs.warehouse.slotReference(tx, { id: request.to_slot_id, code: request.to_slot_code }, caller),
    )
    const from = this.#from(tx, request, asked)
    const { asset_barcode, operator, timestamp, work_order_ref, client_event_id } = request
    const common = { asset_barcode, operator, timestamp, work_order_ref, client_event_id }
    const taken: NewPlacementEvent | undefined = from && {
      ...nothing,
      ...common,
      event_type: 'REMOVED',
      slot_id: from.id,
    }
    const removed = taken && under('from_', () => this.#needs.recorder.append(tx, taken, asked, { isKeyed: false }))
    const { to_slot_id: _, to_slot_code: __, from_slot_id: ___, from_slot_code: ____, ...evidence } = request
    const put: NewPlacementEvent = { ...nothing, ...evidence, event_type: 'PLACED', slot_id: to.id }
    const afterMs = removed && Date.parse(removed.timestamp)
    const placed = under('to_', () => this.#needs.recorder.append(tx, put, asked, { afterMs, requestSha256: hash }))
    return { removed: removed ? withoutSuccess(removed) : null, placed: withoutSuccess(placed) }
  }

  /** Where the move begins: the slot that is named, else the one in which the asset stood at that time. */
  #from(
    tx: Tx,
    { from_slot_id: id, from_slot_code: code, asset_barcode, timestamp }: NewMove,
    asked: TimedAsk,
  ): Slot | undefined {
    const { caller } = asked.by
    if (id !== undefined || code !== undefined)
      return under('from_', () => this.#needs.warehouse.slotReference(tx, { id, code }, caller))
    const claim = { timestampMs: timestamp, deviceTimeMs: asked.deviceTimeMs }
    const when = timestamp === undefined ? {} : { atMs: this.#needs.recorder.timeOf(claim, 0).timestampMs }
    const { key } = this.#needs.assets.readBarcode(tx, asset_barcode)
    const { slotId } = assetLocation(tx, key, this.#needs.warehouse.sightOf(caller), when)
    return slotId === null ? undefined : this.#needs.warehouse.visibleSlot(tx, slotId, caller)
  }

  /** Returns a move that was recorded earlier, as it is now: its removal is directly in front, under the same client's id. */
  #asMoved(tx: Tx, placed: RecordedEvent, caller: Caller) {
    const before = store.findEvent(tx, placed.id - 1)
    const isPart = before?.event_type === 'REMOVED' && before.client_event_id === placed.client_event_id
    return {
      removed: isPart ? withoutSuccess(this.#needs.recorder.asItIsNow(tx, before.id, caller)) : null,
      placed: withoutSuccess(placed),
    }
  }
}

/** Absent fields of an event; the request fills some of them. */
const nothing = {
  slot_code: undefined,
  photo_url: undefined,
  photo_sha256: undefined,
  photo_taken_at: undefined,
  scale_weight_kg: undefined,
  evidence_hash: undefined,
  cctv_clip_url: undefined,
  verification_notes: undefined,
  scan: undefined,
  corrects_event_id: undefined,
  placement_event_id: undefined,
} as const

const pathOf = (id: number) => `/api/whms/events/${id}`

export function withoutSuccess({ success: _, ...event }: RecordedEvent): AppendedEvent {
  return event
}

/** Runs `work`; a refusal that names a slot's field names it as the caller did. */
function under<T>(prefix: 'from_' | 'to_', work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AppError) || !error.fields) throw error
    const fields = error.fields.map((field) => {
      if (!/^slot_(id|code)$/.test(field.path)) return field
      return { path: `${prefix}${field.path}`, message: field.message.replaceAll(/\bslot_(id|code)\b/g, `${prefix}$&`) }
    })
    throw new AppError(error.code, error.message, { fields })
  }
}
