import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Ask, Caller, Reply, RequestOrigin } from '../http/index.ts'
import type { AuditTrail, Idempotency } from '../journal/index.ts'
import { assetLocation, type Recorder } from '../ledger/index.ts'
import type { Openings, People } from '../log/index.ts'
import { isoTime, type RandomBytes } from '../platform/index.ts'
import type { AssetService, WarehouseService } from '../warehouse/index.ts'
import { approve } from './approval.ts'
import { compare, expectedIn, has } from './comparison.ts'
import { decidingScan, type SeenSlot, seenSlots } from './scanned.ts'
import { demandSlot, Scans } from './scans.ts'
import type { Approval, Count, CountSlot, NewCount, NewCountScan, Recount, ReviewLine } from './schema.ts'
import { namedSlots, selectSlots } from './selection.ts'
import { type CountStep, stateAfter } from './state.ts'
import * as store from './store.ts'

/** A step of a count; `version` comes from If-Match. */
export type Going = Ask & { readonly id: number | undefined; readonly version: number | undefined }

type Shown<T> = { success: true } & T

type CountsServiceNeeds = {
  readonly work: UnitOfWork
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly recorder: Recorder
  readonly openings: Openings
  readonly people: People
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly random: RandomBytes
  readonly warehouseId: () => number
}

/** Runs counts: blind counting of slots, review, recounts, and corrections of the ledger. */
export class CountsService {
  readonly #needs: CountsServiceNeeds
  readonly #scans: Scans

  constructor(needs: CountsServiceNeeds) {
    this.#needs = needs
    this.#scans = new Scans(needs)
  }

  /** Opens a count over the selected slots. Throws VALIDATION_ERROR, REFERENCE_NOT_FOUND. */
  open(asked: NewCount, { by, claim }: Ask): Promise<Reply<Shown<Count>>> {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const warehouse = this.#needs.warehouse
        const warehouseId = this.#warehouseOf(tx, asked, by.caller)
        const slots = selectSlots(tx, asked, { warehouse, warehouseId, caller: by.caller, random: this.#needs.random })
        const { reference, ...selection } = asked
        const row = {
          warehouse_id: warehouseId,
          reference: reference ?? null,
          selection: JSON.stringify(selectionFacts(selection)),
          created_by: this.#in(tx, by, store.nextSessionId(tx), 'created_by'),
        }
        const id = store.insertSession(tx, row, slots, this.#needs.recorder.nowMs())
        this.#tell(tx, by, 'count.opened', id, { slots: slots.length })
        const body = shown(countOf(tx, this.#session(tx, id, by.caller)))
        return { status: 201 as const, body, location: `/api/whms/counts/${id}` }
      }),
    )
  }

  counts(caller: Caller): Count[] {
    return this.#needs.work.read((tx) =>
      store
        .listSessions(tx)
        .filter((session) => this.#needs.warehouse.isVisible(caller, session.warehouse_id))
        .map((session) => countOf(tx, session)),
    )
  }

  /** Returns a count. Throws NOT_FOUND. */
  count(id: number | undefined, caller: Caller): Count {
    return this.#needs.work.read((tx) => countOf(tx, this.#session(tx, id, caller)))
  }

  /** Returns the slots with their open work, but not their expected contents. Throws NOT_FOUND. */
  slots(id: number | undefined, caller: Caller): CountSlot[] {
    return this.#needs.work.read((tx) => {
      const session = this.#session(tx, id, caller)
      const scans = Map.groupBy(store.scansOf(tx, session.id), (scan) => scan.slot_id)
      const marks = store.recountsOf(tx, session.id)
      return store.slotIdsOf(tx, session.id).map((slotId): CountSlot => {
        const { slot_id, zone } = this.#needs.warehouse.slot(tx, slotId, caller)
        const isDone = decidingScan(scans.get(slotId) ?? [], marks.get(slotId)) !== undefined
        return {
          slot_id: slotId,
          slot_code: slot_id,
          zone,
          state: isDone ? 'counted' : marks.has(slotId) ? 'to_recount' : 'to_count',
        }
      })
    })
  }

  /** Stores a scan; the answer does not reveal the expected contents. Throws NOT_FOUND, REFERENCE_NOT_FOUND, INVALID_TRANSITION. */
  scan(asked: NewCountScan, deviceTimeMs: number | undefined, { id, by, claim }: Omit<Going, 'version'>) {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const session = this.#session(tx, id, by.caller)
        const repeated = this.#scans.repeated(tx, session.id, asked, by.caller)
        if (repeated) return { status: 200 as const, body: shown(this.#scans.shownTo(tx, repeated)) }
        const row = this.#scans.append(tx, session.id, asked, deviceTimeMs, by)
        this.#step(tx, session, 'scan')
        this.#tell(tx, by, 'count.scanned', session.id, { slotId: row.slot_id, scanId: row.id })
        return { status: 201 as const, body: shown(this.#scans.shownTo(tx, row.id)) }
      }),
    )
  }

  submit(going: Going): Promise<Reply<Shown<Count>>> {
    return this.#go(going, (tx, session) => {
      this.#step(tx, session, 'submit')
      this.#tell(tx, going.by, 'count.submitted', session.id)
    })
  }

  /** Returns found and expected, slot by slot, for the supervisor. Throws NOT_FOUND. */
  review(id: number | undefined, caller: Caller): Count & { lines: ReviewLine[] } {
    return this.#needs.work.read((tx) => {
      const session = this.#session(tx, id, caller)
      const seen = seenSlots(tx, session.id, this.#needs.warehouse.sightOf(caller))
      const statuses = compare(seen)
      const outcomes = store.outcomesBySlotOf(tx, session.id)
      const lines = seen.map((slot) => ({
        ...this.#line(tx, slot, statuses.get(slot.slotId) ?? 'not_counted', caller),
        outcome: outcomes.get(slot.slotId) ?? null,
      }))
      return { ...countOf(tx, session), lines }
    })
  }

  /** Asks for slots to be counted again. Earlier scans of them stay stored but do not count. */
  recount(asked: Recount, going: Going): Promise<Reply<Shown<Count>>> {
    const { by } = going
    return this.#go(going, (tx, session) => {
      this.#step(tx, session, 'recount')
      const actor = this.#needs.people.ofCaller(tx, by.caller)
      const reasonCommitment = asked.reason === undefined ? null : this.#needs.openings.text(tx, asked.reason)
      const slots = namedSlots(tx, asked, this.#needs.warehouse, by.caller) ?? []
      const requested_at_ms = this.#needs.recorder.nowMs()
      for (const slot of slots) {
        demandSlot(tx, session.id, slot)
        const mark = { slot_id: slot.id, after_scan_id: store.nextScanId(tx) - 1, requested_at_ms }
        store.appendRecount(tx, { ...mark, count_id: session.id, reasonCommitment }, this.#needs.people, actor)
      }
      this.#tell(tx, by, 'count.recount_requested', session.id, { slotIds: slots.map((slot) => slot.id) })
    })
  }

  cancel(reason: string | undefined, going: Going): Promise<Reply<Shown<Count>>> {
    const { by } = going
    return this.#go(going, (tx, session) => {
      this.#step(tx, session, 'cancel')
      const commitment = reason === undefined ? null : this.#needs.openings.text(tx, reason)
      store.close(tx, session.id, this.#in(tx, by, session.id, 'closed_by'), commitment, this.#needs.recorder.nowMs())
      this.#tell(tx, by, 'count.cancelled', session.id)
    })
  }

  /** Corrects the ledger in one commit. Slots that have moved since, or contradict each other, are left out. */
  approve(going: Going): Promise<Reply<Shown<Count & Approval>>> {
    return this.#needs.work.writeInSlices((tx) =>
      this.#needs.idempotency.onceInSlices(tx, going.claim, () => this.#approve(tx, going)),
    )
  }

  *#approve(tx: Tx, { id, version, by }: Going) {
    const session = this.#session(tx, id, by.caller, version)
    this.#step(tx, session, 'approve')
    const approver = this.#needs.people.ofCaller(tx, by.caller)
    const sight = this.#needs.warehouse.sightOf(by.caller)
    const done = yield* approve(tx, session.id, { recorder: this.#needs.recorder, by, approver, sight })
    store.close(tx, session.id, this.#in(tx, by, session.id, 'closed_by'), null, this.#needs.recorder.nowMs())
    this.#tell(tx, by, 'count.approved', session.id, { events: done.eventIds.length })
    const body = { ...countOf(tx, this.#session(tx, id, by.caller)), ...done }
    return { status: 200 as const, body: shown(body) }
  }

  /** Runs one step and answers with the count. */
  #go({ id, version, by, claim }: Going, step: (tx: Tx, session: store.Session) => void): Promise<Reply<Shown<Count>>> {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const session = this.#session(tx, id, by.caller, version)
        step(tx, session)
        return { status: 200 as const, body: shown(countOf(tx, this.#session(tx, id, by.caller))) }
      }),
    )
  }

  #session(tx: ReadTx, id: number | undefined, caller: Caller, version?: number): store.Session {
    const found = id === undefined ? undefined : store.findSession(tx, id)
    if (!found || !this.#needs.warehouse.isVisible(caller, found.warehouse_id)) throw AppError.notFound('Count')
    if (version !== undefined && version !== found.version) {
      throw new AppError('VERSION_MISMATCH', `The count has version ${found.version} by now`)
    }
    return found
  }

  /** Changes the state. Throws INVALID_TRANSITION. */
  #step(tx: Tx, session: store.Session, step: CountStep): void {
    const next = stateAfter(session.state, step)
    if (!next) {
      throw new AppError('INVALID_TRANSITION', 'The count cannot do that now', {
        details: `it is ${session.state}; ${step} is not possible`,
      })
    }
    store.touch(tx, session.id, next, this.#needs.recorder.nowMs())
  }

  /** Returns the caller's commitment for a column of a count. */
  #in(tx: Tx, by: RequestOrigin, row: number, field: string): string {
    return this.#needs.people.inRow(tx, this.#needs.people.ofCaller(tx, by.caller), {
      subject: 'count_session',
      row,
      field,
    })
  }

  #tell(tx: Tx, by: RequestOrigin, action: string, id: number, changes?: Record<string, unknown>): void {
    this.#needs.audit.write(tx, by, { action, entity: 'count', entityId: id, ...(changes && { changes }) })
  }

  #warehouseOf(tx: ReadTx, { warehouseId, zoneId }: NewCount, caller: Caller): number {
    if (zoneId === undefined) {
      const id = warehouseId ?? this.#needs.warehouseId()
      return refer('warehouseId', id, () => this.#needs.warehouse.warehouse(tx, id, caller)).id
    }
    const zone = refer('zoneId', zoneId, () => this.#needs.warehouse.zone(tx, zoneId, caller))
    if (warehouseId !== undefined && warehouseId !== zone.warehouseId)
      throw AppError.field('zoneId', `is not in warehouse ${warehouseId}`)
    return zone.warehouseId
  }

  #line(tx: ReadTx, seen: SeenSlot, status: ReviewLine['status'], caller: Caller): Omit<ReviewLine, 'outcome'> {
    const expected = expectedIn(seen)
    const { found, scan } = seen
    const extra = (found ?? []).filter(({ key }) => !has(expected, key))
    return {
      slot_id: seen.slotId,
      slot_code: this.#needs.warehouse.slot(tx, seen.slotId, caller).slot_id,
      status,
      expected: expected.map(({ barcode }) => barcode),
      found: found?.map(({ barcode }) => barcode) ?? null,
      missing: found ? expected.filter(({ key }) => !has(found, key)).map(({ barcode }) => barcode) : [],
      extra: extra.map(({ barcode, key }) => ({ asset_barcode: barcode, ledgerSlot: this.#whereIs(tx, key, caller) })),
      scanId: scan?.id ?? null,
      counter: scan?.counter ?? null,
      scannedAt: scan ? isoTime(scan.timestamp_ms) : null,
      scans: seen.scans,
    }
  }

  /** Returns the label of the slot where the ledger has a pallet; null without one that the caller may see. */
  #whereIs(tx: ReadTx, key: string, caller: Caller): string | null {
    const { slotId } = assetLocation(tx, key, this.#needs.warehouse.sightOf(caller))
    return (slotId !== null && this.#needs.warehouse.visibleSlot(tx, slotId, caller)?.slot_id) || null
  }
}

const shown = <T extends object>(body: T): Shown<T> => ({ success: true, ...body })

/** Turns NOT_FOUND into REFERENCE_NOT_FOUND for a field of the body. */
function refer<T>(path: string, id: number, get: () => T): T {
  try {
    return get()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
    throw new AppError('REFERENCE_NOT_FOUND', error.message, { fields: [{ path, message: `no ${id}` }] })
  }
}

/** Returns the selection as requested, with readable times. */
function selectionFacts({ notCountedSince, ...rest }: Omit<NewCount, 'reference'>): Record<string, unknown> {
  return { ...rest, ...(notCountedSince !== undefined && { notCountedSince: isoTime(notCountedSince) }) }
}

function countOf(tx: ReadTx, session: store.Session): Count {
  return {
    id: session.id,
    state: session.state,
    warehouseId: session.warehouse_id,
    reference: session.reference,
    selection: JSON.parse(session.selection) as Record<string, unknown>,
    slots: { total: store.countSlots(tx, session.id), counted: store.scannedSlots(tx, session.id) },
    outcomes: session.state === 'approved' ? store.outcomesOf(tx, session.id) : null,
    createdBy: session.creator,
    closedBy: session.closer,
    closedAt: session.closed_at_ms === null ? null : isoTime(session.closed_at_ms),
    reason: session.reason,
    version: session.version,
    createdAt: isoTime(session.created_at_ms),
    updatedAt: isoTime(session.updated_at_ms),
  }
}
