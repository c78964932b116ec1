import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, Reply } from '../http/index.ts'
import type { Idempotency } from '../journal/index.ts'
import { type Evidence, type EvidenceStates, type Provable, recordedOnly } from '../log/index.ts'
import type { AssetService, WarehouseService } from '../warehouse/index.ts'
import { type HistoryPage, pageOfHistory } from './derive/history.ts'
import { provableEvent } from './provable.ts'
import { demandFor, type Recorder } from './record/recorder.ts'
import { eventReply } from './record/stored-reply.ts'
import type { TimedAsk } from './record/timed-ask.ts'
import type { ListedEvent, NewPlacementEvent, PlacementEvent, RecordedReply } from './schema.ts'
import * as store from './store.ts'

export type HistoryQuery = {
  slot_id?: number | undefined
  slot_code?: string | undefined
  asset_barcode?: string | undefined
  event_type?: string | undefined
  operator?: string | undefined
  work_order_ref?: string | undefined
  corrects_event_id?: number | undefined
  zoneId?: number | undefined
  warehouseId?: number | undefined
  from?: number | undefined
  to?: number | undefined
}

type LedgerServiceNeeds = {
  readonly work: UnitOfWork
  readonly recorder: Recorder
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly idempotency: Idempotency
  readonly dataDir: string
  readonly evidenceStates: EvidenceStates
}

/** Records events, each in a separate transaction, and reads the history. */
export class LedgerService {
  readonly #needs: LedgerServiceNeeds

  constructor(needs: LedgerServiceNeeds) {
    this.#needs = needs
  }

  /**
   * Records one event. Resolves after it is on disk.
   * Throws PERMISSION_DENIED, EVIDENCE_REQUIRED, REFERENCE_NOT_FOUND, TIMESTAMP_IN_FUTURE, CONSTRAINT_VIOLATED.
   */
  record(request: NewPlacementEvent, asked: TimedAsk): Promise<Reply<RecordedReply>> {
    demandFor(request.event_type, asked.by.caller)
    return this.#needs.work.writeRepeatable((tx) =>
      this.#needs.idempotency.once(
        tx,
        asked.claim,
        () => {
          const { event, isNew } = this.#needs.recorder.appendIn(tx, request, asked)
          const evidence = isNew ? recordedOnly : this.#evidenceOf(tx, event.id)
          const body = { ...event, evidence }
          return { status: isNew ? (201 as const) : (200 as const), body, location: pathOf(event.id) }
        },
        eventReply,
      ),
    )
  }

  /** Throws NOT_FOUND. */
  event(id: number | undefined, caller: Caller): PlacementEvent & { evidence: Evidence } {
    return this.#needs.work.read((tx) => {
      const row = id === undefined ? undefined : store.findEvent(tx, id)
      if (!row || !this.#needs.recorder.isVisible(tx, row, caller)) throw AppError.notFound('Event')
      return { ...store.toPlacementEvent(row), evidence: this.#needs.evidenceStates.of(tx, row) }
    })
  }

  /** Returns what is needed to prove an event. Throws NOT_FOUND. Without a caller, a person at the box asks. */
  provable(id: number | undefined, caller: Caller | undefined): Provable {
    return this.#needs.work.read((tx) => {
      const row = id === undefined ? undefined : store.findEvent(tx, id)
      const isSeen = row && (!caller || this.#needs.recorder.isVisible(tx, row, caller))
      if (!isSeen) throw AppError.notFound('Event')
      return provableEvent(tx, row, this.#needs.dataDir)
    })
  }

  /** Returns one page of the history that the caller may see. Ends early when `signal` is aborted. */
  async events(
    query: HistoryQuery,
    page: HistoryPage & { readonly afterSeq?: number | undefined },
    caller: Caller,
    signal?: AbortSignal,
  ): Promise<{ events: ListedEvent[]; hasMore: boolean; total: number | null }> {
    const { zoneId, warehouseId, asset_barcode } = query
    const filter = {
      operator: query.operator,
      workOrderRef: query.work_order_ref,
      correctsEventId: query.corrects_event_id,
      fromMs: query.from,
      toMs: query.to,
      eventType: query.event_type,
      afterSeq: page.afterSeq,
    }
    const about = this.#needs.work.read((tx) => ({
      slotId: this.#slotOf(tx, query),
      assetKeys: asset_barcode === undefined ? undefined : this.#needs.assets.keysOf(tx, asset_barcode),
    }))
    const slots = { zoneId, warehouseId, hiddenWarehouses: this.#needs.warehouse.hiddenFrom(caller) }
    const { rows, hasMore, total } = await pageOfHistory(this.#needs.work, { ...filter, ...about }, slots, page, signal)
    const stateOf = this.#needs.work.read((tx) => this.#needs.evidenceStates.ofPage(tx, rows))
    const events = rows.map((row) => ({ ...store.toPlacementEvent(row), evidence: stateOf(row) }))
    return { events, hasMore, total }
  }

  #evidenceOf(tx: ReadTx, id: number): Evidence {
    const row = store.findEvent(tx, id)
    return row ? this.#needs.evidenceStates.of(tx, row) : recordedOnly
  }

  /** Returns the slot of a query, by number, by label, or by both when they agree; `noSlot` otherwise. */
  #slotOf(tx: ReadTx, { slot_id, slot_code }: HistoryQuery): number | undefined {
    if (slot_code === undefined) return slot_id
    const named = this.#needs.warehouse.slotLabelled(tx, slot_code)?.id ?? noSlot
    return slot_id === undefined || slot_id === named ? named : noSlot
  }
}

const noSlot = 0

const pathOf = (id: number) => `/api/whms/events/${id}`
