import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, demand, type Reply } from '../http/index.ts'
import type { AuditTrail, Idempotency, Outbox } from '../journal/index.ts'
import { callerMark, type EventOrigin, type Recorder, requestHash, type TimedAsk } from '../ledger/index.ts'
import type { Log, Openings, People, Provable } from '../log/index.ts'
import type { Photos } from '../photos/index.ts'
import { ownTurn } from '../platform/index.ts'
import type { WarehouseService } from '../warehouse/index.ts'
import { notificationsOf } from './events.ts'
import { provableSteps } from './provable.ts'
import {
  type Evidence,
  type NewTransportUnit,
  type TransportUnit,
  type TransportUnitItem,
  type TransportUnitResource,
  type UnitAction,
  type UnitAdvance,
  type UnitEvidence,
  type UnitsQuery,
  unitsPath,
  type WorkflowResource,
} from './schema.ts'
import { readSscc } from './sscc.ts'
import * as store from './store.ts'
import type { UnitHistoryRow } from './tables.ts'
import { type UnsealedHistoryRow, unitHistoryFacts } from './unit-history-leaf.ts'
import { photosIn, stateOf, type UnitPhoto, unitItem, unitRecord } from './unit-record.ts'
import { decideMove, type Move, type Step, stageOf, unitStatuses } from './workflow.ts'

const sliceUnits = 500

/** A reading of a scale that names a unit. */
export type Weighing = {
  readonly scaleReadingId: number
  readonly scaleId: string
  readonly weightKg: number
  readonly stable: boolean | undefined
  readonly timestampMs: number
}

/** Common fields of every action of a client. */
type Words = {
  readonly operator?: string | undefined
  readonly timestamp?: number | undefined
  readonly note?: string | undefined
  readonly reason?: string | undefined
  readonly client_event_id?: string | undefined
}

/** Fields of a row besides people, time and evidence. */
type Change = Pick<UnitHistoryRow, 'unit_id' | 'action' | 'from_stage' | 'stage' | 'status'> &
  Partial<Pick<UnitHistoryRow, 'reference' | 'sscc' | 'direction' | 'warehouse_id' | 'carrier'>> & {
    readonly vehicle?: string | undefined
  }

type Weight = Pick<UnitHistoryRow, 'scale_weight_kg' | 'scale_reading_id' | 'scale_id' | 'scale_stable'>

type UnitServiceNeeds = {
  readonly dataDir: string
  readonly work: UnitOfWork
  readonly log: Log
  readonly openings: Openings
  readonly people: People
  readonly recorder: Pick<Recorder, 'nowMs' | 'timeOf'>
  readonly warehouse: WarehouseService
  readonly photos: Pick<Photos, 'hashOf' | 'isHeldFor'>
  readonly outbox: Outbox
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly makeId: () => string
  readonly stages: () => readonly string[]
}

/** Transport units and their way through the warehouse. Stage and status are only in the history of a unit. */
export class UnitService {
  readonly #needs: UnitServiceNeeds

  constructor(needs: UnitServiceNeeds) {
    this.#needs = needs
  }

  /** Registers a unit in the first stage. Throws REFERENCE_NOT_FOUND, TIMESTAMP_IN_FUTURE, VALIDATION_ERROR. */
  create(request: NewTransportUnit, asked: TimedAsk): Promise<Reply<TransportUnitResource>> {
    return this.#once(asked, 'created', request, (tx) => {
      const { reference, sscc, direction, carrier, vehicle, warehouseId } = request
      const warehouse_id = this.#needs.warehouse.warehouseReference(tx, warehouseId, asked.by.caller)
      const stage = this.#needs.stages()[0]
      if (stage === undefined) throw new Error('a workflow without stages')
      const unit_id = this.#needs.makeId()
      const change = { unit_id, action: 'created', from_stage: null, stage, status: 'active' } as const
      const made = {
        ...change,
        reference,
        sscc: sscc ?? null,
        direction,
        warehouse_id,
        carrier: carrier ?? null,
        vehicle,
      }
      return this.#append(tx, [], made, request, request.evidence, asked)
    })
  }

  /**
   * Moves the unit to the next stage, or to the named one. Throws NOT_FOUND, INVALID_TRANSITION, PERMISSION_DENIED (skipping a
   * stage needs units:override), VALIDATION_ERROR (and a reason).
   */
  advance(unitId: string, request: UnitAdvance, asked: TimedAsk): Promise<Reply<TransportUnitResource>> {
    const move = { to: 'stage', stage: request.toStage } as const
    return this.#move(unitId, move, request, asked)
  }

  /** Throws NOT_FOUND, INVALID_TRANSITION. */
  act(unitId: string, to: 'hold' | 'resume' | 'cancel', request: UnitAction, asked: TimedAsk) {
    return this.#move(unitId, { to }, request, asked)
  }

  /** Adds evidence at the present stage, also after the end: a photo of the departed lorry may come late. */
  addEvidence(unitId: string, request: UnitEvidence, asked: TimedAsk): Promise<Reply<TransportUnitResource>> {
    const { photo_urls, scale_weight_kg, evidence } = request
    return this.#once(asked, `evidence ${unitId}`, request, (tx) => {
      const history = this.#historyFor(tx, unitId, asked.by.caller)
      return this.#append(
        tx,
        history,
        where(unitId, 'evidence', history),
        request,
        evidence ?? { photo_urls, scale_weight_kg },
        asked,
      )
    })
  }

  /** Adds a reading to the history of the unit, inside the transaction of that reading. Throws NOT_FOUND. */
  weighed(tx: Tx, unitId: string, weighing: Weighing, asking: EventOrigin): void {
    const history = this.#historyFor(tx, unitId, asking.by.caller)
    const weight = {
      scale_weight_kg: weighing.weightKg,
      scale_reading_id: weighing.scaleReadingId,
      scale_id: weighing.scaleId,
      scale_stable: weighing.stable === undefined ? null : Number(weighing.stable),
    }
    const words = { timestamp: weighing.timestampMs }
    this.#append(
      tx,
      history,
      where(unitId, 'weighed', history),
      words,
      undefined,
      { ...asking, deviceTimeMs: undefined },
      weight,
    )
  }

  /** Throws NOT_FOUND, also when the caller may not see its warehouse. */
  unit(unitId: string, caller: Caller): TransportUnit {
    return this.#needs.work.read((tx) => unitRecord(this.#historyFor(tx, unitId, caller), this.#needs.stages()))
  }

  /** Returns the provable row of every step of a unit, oldest first. Throws NOT_FOUND. */
  provable(unitId: string, caller: Caller): { row: number; provable: Provable }[] {
    return this.#needs.work.read((tx) => {
      this.#historyFor(tx, unitId, caller)
      return provableSteps(tx, unitId, this.#needs.dataDir)
    })
  }

  /**
   * Returns the names by which a work order can mean only this unit. These are its id, and its reference while no other unit of
   * this box has the same. Throws NOT_FOUND.
   */
  workOrders(unitId: string, caller: Caller): string[] {
    return this.#needs.work.read((tx) => {
      const reference = this.#historyFor(tx, unitId, caller)[0]?.reference ?? ''
      const alike = store.listUnits(tx, 0, 2, { reference })
      return alike.length > 1 ? [unitId] : [unitId, reference]
    })
  }

  /** Returns the warehouse of a unit that a body refers to. Throws REFERENCE_NOT_FOUND. */
  warehouseOf(tx: ReadTx, unitId: string, caller: Caller): number {
    const warehouseId = store.historyOf(tx, unitId)[0]?.warehouse_id
    if (typeof warehouseId === 'number' && this.#needs.warehouse.isVisible(caller, warehouseId)) return warehouseId
    throw new AppError('REFERENCE_NOT_FOUND', 'There is no such transport unit', {
      fields: [{ path: 'transportUnitId', message: `no unit ${unitId}` }],
    })
  }

  /** Returns the warehouse of a unit and the hashes of its photos; undefined when there is no such unit. */
  holdings(tx: ReadTx, unitId: string): { warehouseId: number; photos: string[] } | undefined {
    const history = store.historyOf(tx, unitId)
    const warehouseId = history[0]?.warehouse_id
    if (typeof warehouseId !== 'number') return undefined
    const photos = history.flatMap((row) => photosIn(row)).flatMap(({ sha256 }) => sha256 ?? [])
    return { warehouseId, photos: [...new Set(photos)] }
  }

  /** Yields every unit that the query names and the caller may see, in slices, in the order in which they were registered. */
  async *units(query: UnitsQuery, caller: Caller): AsyncGenerator<readonly TransportUnitItem[], void> {
    const strong = { sscc: query.sscc, reference: query.reference }
    for (let afterRow: number | undefined = 0; afterRow !== undefined; ) {
      await ownTurn()
      const rows = this.#needs.work.read((tx) => this.#slice(tx, afterRow ?? 0, strong))
      yield rows.units.filter(
        (unit) => this.#needs.warehouse.isVisible(caller, unit.warehouseId) && matches(unit, query),
      )
      afterRow = rows.lastRow
    }
  }

  /** Returns the units that a scanned or typed code may mean, by id, SSCC or reference; at most 20 of each. */
  matches(tx: ReadTx, code: string, caller: Caller) {
    const read = readSscc(code)
    const byCode = 'sscc' in read ? store.listUnits(tx, 0, 20, { sscc: read.sscc }) : []
    const rows = [
      ...store.listUnits(tx, 0, 1, { unitId: code }),
      ...byCode,
      ...store.listUnits(tx, 0, 20, { reference: code }),
    ]
    return [...new Map(rows.map((row) => [row.row, row])).values()]
      .filter((row) => this.#needs.warehouse.isVisible(caller, row.warehouse_id))
      .map((row) => this.#item(tx, row))
      .map((unit) => ({ kind: 'transport_unit', id: unit.id, path: `${unitsPath}/${unit.id}`, resource: unit }))
  }

  workflow(): WorkflowResource {
    const stages = [...this.#needs.stages()]
    const [initialStage = '', finalStage = ''] = [stages[0], stages.at(-1)]
    return { success: true, stages, initialStage, finalStage, statuses: [...unitStatuses] }
  }

  #slice(tx: ReadTx, afterRow: number, strong: store.StrongFilter) {
    const rows = store.listUnits(tx, afterRow, sliceUnits, strong)
    return {
      units: rows.map((row) => this.#item(tx, row)),
      lastRow: rows.length < sliceUnits ? undefined : rows.at(-1)?.row,
    }
  }

  #item(tx: ReadTx, row: store.UnitRow): TransportUnitItem {
    return unitItem(row, { status: row.status, visited: store.visitedStages(tx, row.unit_id) }, this.#needs.stages())
  }

  #move(unitId: string, move: Move, request: UnitAdvance | UnitAction, asked: TimedAsk) {
    return this.#once(asked, `${move.to} ${unitId}`, request, (tx) => {
      const history = this.#historyFor(tx, unitId, asked.by.caller)
      const step = decideMove(stateOf(history), move, this.#needs.stages())
      if ('refused' in step) throw new AppError('INVALID_TRANSITION', step.refused, { details: step.possible })
      demandForStep(step, request, asked.by.caller)
      const { action, fromStage, stage, status } = step
      const change = { unit_id: unitId, action, from_stage: fromStage, stage, status }
      return this.#append(tx, history, change, request, request.evidence, asked)
    })
  }

  /** Runs one act of a client: answers a repeat by Idempotency-Key or client_event_id, otherwise calls `act`. */
  #once(asked: TimedAsk, what: string, request: Words, act: (tx: Tx) => string): Promise<Reply<TransportUnitResource>> {
    const { caller } = asked.by
    const requestSha256 = requestHash({ ...request, what })
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, asked.claim, () => {
        const repeated = this.#repeated(tx, request.client_event_id, requestSha256, caller)
        const unitId = repeated ?? act(tx)
        if (repeated === undefined && request.client_event_id !== undefined) {
          const mark = callerMark(tx, caller)
          store.keepClientEventId(tx, mark, request.client_event_id, store.endOfHistory(tx).row, requestSha256)
        }
        const body = { success: true as const, ...unitRecord(store.historyOf(tx, unitId), this.#needs.stages()) }
        const isNew = what === 'created' && repeated === undefined
        return {
          status: isNew ? (201 as const) : (200 as const),
          body,
          location: what === 'created' ? `${unitsPath}/${unitId}` : undefined,
        }
      }),
    )
  }

  #repeated(tx: ReadTx, clientEventId: string | undefined, requestSha256: string, caller: Caller): string | undefined {
    if (clientEventId === undefined) return undefined
    const known = store.findByClientEventId(tx, callerMark(tx as Tx, caller), clientEventId)
    if (known && known.request_sha256 !== requestSha256) {
      throw AppError.field('client_event_id', `was used for unit ${known.unit_id} with another body`)
    }
    return known?.unit_id
  }

  #historyFor(tx: ReadTx, unitId: string, caller: Caller): store.OpenedRow[] {
    const history = store.historyOf(tx, unitId)
    const warehouseId = history[0]?.warehouse_id
    if (typeof warehouseId !== 'number' || !this.#needs.warehouse.isVisible(caller, warehouseId)) {
      throw AppError.notFound('Transport unit')
    }
    return history
  }

  /** Appends leaf, row, notifications and audit entry, together or not at all. Returns the id of the unit. */
  #append(
    tx: Tx,
    history: readonly store.OpenedRow[],
    change: Change,
    words: Words,
    evidence: Evidence | undefined,
    { by, deviceTimeMs }: EventOrigin,
    weight?: Weight,
  ): string {
    const newestMs = history.reduce((newest, row) => Math.max(newest, row.timestamp_ms), 0)
    const when = this.#needs.recorder.timeOf({ timestampMs: words.timestamp, deviceTimeMs }, newestMs)
    const end = store.endOfHistory(tx)
    const { vehicle, ...columns } = change
    const actor = this.#needs.people.ofCaller(tx, by.caller)
    const operator = this.#needs.people.ofOperator(tx, words.operator, by.caller)
    const place = this.#needs.log.next()
    const photos = this.#photosOf(tx, evidence?.photo_urls ?? [], by.caller)
    const unsealed: UnsealedHistoryRow = {
      ...{ reference: null, sscc: null, direction: null, warehouse_id: null, carrier: null },
      ...{ scale_reading_id: null, scale_id: null, scale_stable: null },
      scale_weight_kg: evidence?.scale_weight_kg ?? null,
      ...columns,
      ...weight,
      row: end.row + 1,
      event_id: this.#needs.makeId(),
      operator_commitment: operator.inLeaf(place, 'operator'),
      actor_commitment: actor.inLeaf(place, 'actor'),
      note_commitment: this.#text(tx, words.note),
      reason_commitment: this.#text(tx, words.reason),
      timestamp_ms: when.timestampMs,
      device_timestamp_ms: when.deviceTimestampMs,
      received_at_ms: Math.max(this.#needs.recorder.nowMs(), end.receivedAtMs),
      clock_offset_ms: when.clockOffsetMs,
      time_quality: when.timeQuality,
      photos: photos.length === 0 ? null : JSON.stringify(photos),
      vehicle_commitment: this.#text(tx, vehicle),
      client_event_id: words.client_event_id ?? null,
    }
    const leaf = this.#needs.log.append(tx, 'unit-history', String(unsealed.row), unitHistoryFacts(unsealed))
    const row: UnitHistoryRow = { ...unsealed, ...leaf }
    store.append(tx, row)
    this.#needs.people.link(tx, operator, { subject: 'unit_history', row: row.row, field: 'operator' })
    this.#needs.people.link(tx, actor, { subject: 'unit_history', row: row.row, field: 'actor' })
    const unit = unitRecord(store.historyOf(tx, row.unit_id), this.#needs.stages())
    for (const { sha256, evidence: has } of photos)
      if (sha256 && has === 'held') store.keepPhoto(tx, sha256, unit.warehouseId)
    for (const event of notificationsOf(row, unit, operator.name, this.#needs.makeId)) {
      if ('eventId' in event) this.#needs.outbox.publish(tx, event)
      else this.#needs.outbox.created(tx, event)
    }
    const { action, from_stage: fromStage, stage: toStage, status } = row
    this.#needs.audit.write(tx, by, {
      action: `transport_unit.${action}`,
      entity: 'transport_unit',
      entityId: row.unit_id,
      operator: words.operator,
      changes: fromStage === null ? { toStage, status } : { fromStage, toStage, status },
    })
    return row.unit_id
  }

  #text(tx: Tx, value: string | undefined): string | null {
    return value === undefined ? null : this.#needs.openings.text(tx, value)
  }

  #photosOf(tx: ReadTx, urls: readonly string[], caller: Caller): UnitPhoto[] {
    return urls.map((url) => {
      const sha256 = this.#needs.photos.hashOf(url)
      if (sha256 === undefined) return { url, evidence: 'claimed' }
      return { url, sha256, evidence: this.#needs.photos.isHeldFor(tx, sha256, caller) ? 'held' : 'claimed' }
    })
  }
}

/** Returns a row that leaves the unit where it is. */
function where(unit_id: string, action: 'evidence' | 'weighed', history: readonly store.OpenedRow[]): Change {
  const state = stateOf(history)
  const stage = stageOf(state)
  return { unit_id, action, from_stage: stage, stage, status: state.status }
}

function demandForStep({ action }: Step, words: Words, caller: Caller): void {
  if (action !== 'skipped') return
  demand(caller, 'units:override')
  if (words.reason === undefined && words.note === undefined) throw AppError.field('reason', 'required to skip a stage')
}

function matches(unit: TransportUnitItem, query: UnitsQuery): boolean {
  const createdMs = Date.parse(unit.createdAt)
  return (
    (query.status === undefined || unit.status === query.status) &&
    (query.stage === undefined || unit.stage === query.stage) &&
    (query.direction === undefined || unit.direction === query.direction) &&
    (query.reference === undefined || unit.reference === query.reference) &&
    (query.sscc === undefined || unit.sscc === query.sscc) &&
    (query.warehouseId === undefined || unit.warehouseId === query.warehouseId) &&
    (query.carrier === undefined || unit.carrier === query.carrier) &&
    (query.from === undefined || createdMs >= query.from) &&
    (query.to === undefined || createdMs < query.to)
  )
}
