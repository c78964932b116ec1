import { keysOfPage, type ReadTx, type Tx, type UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import { type Caller, countLimit, type Reply, type TimePlace } from '../http/index.ts'
import type { AuditTrail, Idempotency, Outbox } from '../journal/index.ts'
import type { Recorder, TimedAsk } from '../ledger/index.ts'
import type { People } from '../log/index.ts'
import type { UnitService } from '../units/index.ts'
import type { AssetService, WarehouseService } from '../warehouse/index.ts'
import { readingRecorded } from './events.ts'
import { type NewScaleReading, readingsPath, type ScaleReading } from './schema.ts'
import * as store from './store.ts'
import type { ScaleReadingRow } from './tables.ts'

export type ReadingsAsked = {
  scaleId?: string | undefined
  slot_id?: number | undefined
  asset_barcode?: string | undefined
  transportUnitId?: string | undefined
  from?: number | undefined
  to?: number | undefined
}

type ScaleServiceNeeds = {
  readonly work: UnitOfWork
  readonly people: People
  readonly recorder: Pick<Recorder, 'nowMs' | 'timeOf'>
  readonly warehouse: WarehouseService
  readonly assets: AssetService
  readonly units: Pick<UnitService, 'warehouseOf' | 'weighed'>
  readonly outbox: Outbox
  readonly audit: AuditTrail
  readonly idempotency: Idempotency
  readonly makeId: () => string
}

/** Readings of scales. A reading is stored as it came and never changes; one that names a unit becomes its evidence. */
export class ScaleService {
  readonly #needs: ScaleServiceNeeds

  constructor(needs: ScaleServiceNeeds) {
    this.#needs = needs
  }

  /** Throws REFERENCE_NOT_FOUND, TIMESTAMP_IN_FUTURE, VALIDATION_ERROR. */
  record(request: NewScaleReading, asked: TimedAsk): Promise<Reply<{ success: true } & ScaleReading>> {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, asked.claim, () => {
        const reading = this.#append(tx, request, asked)
        return { status: 201, body: { success: true, ...reading }, location: `${readingsPath}/${reading.id}` }
      }),
    )
  }

  /** Throws NOT_FOUND. */
  reading(id: number | undefined, caller: Caller): ScaleReading {
    const row = id === undefined ? undefined : this.#needs.work.read((tx) => store.findReading(tx, id))
    if (!row || (row.warehouse_id !== null && !this.#needs.warehouse.isVisible(caller, row.warehouse_id))) {
      throw AppError.notFound('Scale reading')
    }
    return store.toReading(row)
  }

  /** Returns the warehouse of a reading; undefined when it has none, or when there is no such reading. */
  warehouseOf(tx: ReadTx, id: number | undefined): number | undefined {
    return (id === undefined ? undefined : store.findReading(tx, id))?.warehouse_id ?? undefined
  }

  /** Newest first. Ends early when `signal` reports that the client has gone. */
  async readings(
    query: ReadingsAsked,
    { limit, offset, before }: { limit: number; offset: number; before: TimePlace | undefined },
    caller: Caller,
    signal?: AbortSignal,
  ): Promise<{ readings: ScaleReading[]; hasMore: boolean; total: number | null }> {
    const { asset_barcode } = query
    const listing = store.readingsOf({
      scaleId: query.scaleId,
      slotId: query.slot_id,
      transportUnitId: query.transportUnitId,
      fromMs: query.from,
      toMs: query.to,
      hidden: this.#needs.warehouse.hiddenFrom(caller),
      assetKey:
        asset_barcode === undefined
          ? undefined
          : this.#needs.work.read((tx) => this.#needs.assets.readBarcode(tx, asset_barcode).key),
    })
    const page = { limit, offset, before: before && [before.timestampMs, before.id] }
    const { keys, ...found } = await keysOfPage(this.#needs.work, listing, page, countLimit, signal)
    const rows = this.#needs.work.read((tx) => keys.flatMap(([, id = 0]) => store.findReading(tx, id) ?? []))
    return { readings: rows.map(store.toReading), ...found }
  }

  #append(tx: Tx, request: NewScaleReading, asked: TimedAsk): ScaleReading {
    const { by, deviceTimeMs } = asked
    const { slot_id, asset_barcode, transportUnitId } = request
    const slot = slot_id === undefined ? undefined : this.#needs.warehouse.slotReference(tx, { id: slot_id }, by.caller)
    const unitWarehouse =
      transportUnitId === undefined ? undefined : this.#needs.units.warehouseOf(tx, transportUnitId, by.caller)
    const warehouseId = slot?.warehouseId ?? unitWarehouse
    const when = this.#needs.recorder.timeOf({ timestampMs: request.timestamp, deviceTimeMs }, 0)
    const id = store.nextId(tx)
    const actor = this.#needs.people.ofCaller(tx, by.caller)
    const row: ScaleReadingRow = {
      id,
      event_id: this.#needs.makeId(),
      scale_id: request.scaleId,
      weight_kg: request.weightKg,
      stable: request.stable === undefined ? null : Number(request.stable),
      timestamp_ms: when.timestampMs,
      device_timestamp_ms: when.deviceTimestampMs,
      received_at_ms: this.#needs.recorder.nowMs(),
      clock_offset_ms: when.clockOffsetMs,
      time_quality: when.timeQuality,
      slot_id: slot?.id ?? null,
      asset_barcode: asset_barcode ?? null,
      asset_key: asset_barcode === undefined ? null : this.#needs.assets.readBarcode(tx, asset_barcode).key,
      transport_unit_id: transportUnitId ?? null,
      warehouse_id: warehouseId ?? null,
      actor_commitment: this.#needs.people.inRow(tx, actor, { subject: 'scale_reading', row: id, field: 'actor' }),
    }
    store.append(tx, row)
    const reading = store.toReading({ ...row, actor: by.caller.username })
    this.#needs.outbox.publish(tx, readingRecorded(reading, warehouseId))
    this.#needs.audit.write(tx, by, { action: 'scale_reading.recorded', entity: 'scale_reading', entityId: row.id })
    if (transportUnitId !== undefined) {
      const { scaleId, weightKg, stable } = request
      const weighing = { scaleReadingId: row.id, scaleId, weightKg, stable, timestampMs: row.timestamp_ms }
      this.#needs.units.weighed(tx, transportUnitId, weighing, asked)
    }
    return reading
  }
}
