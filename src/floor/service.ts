import { setImmediate as nextTurn } from 'node:timers/promises'
import type { z } from '@hono/zod-openapi'
import type { UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller, Reply } from '../http/index.ts'
import type { Idempotency } from '../journal/index.ts'
import {
  assetIsKnown,
  assetLocation,
  headOf,
  slotState,
  slotStates,
  slotUse,
  stateIn,
  type When,
} from '../ledger/index.ts'
import {
  type Ask,
  type NewSlot,
  readBarcode,
  type Slot,
  type SlotChange,
  type WarehouseService,
  type Zone,
} from '../warehouse/index.ts'
import { isoTime } from '../world/index.ts'
import type { FloorSlot, Utilization } from './schema.ts'
import { percent, utilizationOf, zoneUse } from './utilization.ts'

/** Slots that are listed in one go: some 1.5 ms. */
const sliceSlots = 250

/** What is where: master data joined with what the ledger says of it, on one snapshot. */
export class FloorService {
  readonly #work: UnitOfWork
  readonly #warehouse: WarehouseService
  readonly #idempotency: Idempotency

  constructor(options: { work: UnitOfWork; warehouse: WarehouseService; idempotency: Idempotency }) {
    this.#work = options.work
    this.#warehouse = options.warehouse
    this.#idempotency = options.idempotency
  }

  /**
   * All slots, or a zone's, a slice at a time; in between, others have their turn. Every slice tells the ledger as it
   * was at the first one. Throws NOT_FOUND.
   */
  async *slots(caller: Caller, when: When, zoneId?: number): AsyncGenerator<readonly FloorSlot[], void> {
    const known = this.#work.read((tx) => {
      if (zoneId !== undefined) this.#warehouse.zone(tx, zoneId, caller)
      return { ...when, lastId: headOf(tx).id }
    })
    for (let afterId: number | undefined = 0; afterId !== undefined; ) {
      const { slots, lastId } = this.#slice(caller, known, afterId, zoneId)
      yield slots
      afterId = lastId
      await nextTurn()
    }
  }

  #slice(caller: Caller, known: When, afterId: number, zoneId: number | undefined) {
    return this.#work.read((tx) => {
      const { slots, lastId } = this.#warehouse.slots(tx, caller, afterId, sliceSlots, zoneId)
      const states = slotStates(tx, known, { zoneId, firstId: afterId + 1, lastId: slots.at(-1)?.id ?? afterId })
      return { slots: slots.map((slot) => ({ ...slot, ...stateIn(states, slot.id) })), lastId }
    })
  }

  /** Throws NOT_FOUND. */
  slot(path: string, byLabel: boolean, caller: Caller, when: When): FloorSlot {
    return this.#work.read((tx) => {
      const slot = this.#warehouse.slotByPath(tx, path, byLabel, caller)
      return { ...slot, ...slotState(tx, slot.id, when) }
    })
  }

  createSlot(slot: z.output<typeof NewSlot>, { by, claim }: Ask): Promise<Reply<{ success: true } & FloorSlot>> {
    return this.#work.write((tx) =>
      this.#idempotency.once(tx, claim, () => {
        const made = this.#warehouse.createSlot(tx, slot, by)
        return {
          status: 201 as const,
          body: withState(made, slotState(tx, made.id)),
          location: `/api/whms/slots/${made.id}`,
        }
      }),
    )
  }

  /** `version`: the one that If-Match demands. */
  changeSlot(
    { path, byLabel }: { path: string; byLabel: boolean },
    change: z.output<typeof SlotChange>,
    version: number | undefined,
    { by, claim }: Ask,
  ): Promise<Reply<{ success: true } & FloorSlot>> {
    return this.#work.write((tx) =>
      this.#idempotency.once(tx, claim, () => {
        const { id } = this.#warehouse.slotByPath(tx, path, byLabel, by.caller)
        const changed = this.#warehouse.changeSlot(tx, id, change, version, by)
        return { status: 200 as const, body: withState(changed, slotState(tx, id)) }
      }),
    )
  }

  zones(caller: Caller, when: When) {
    return this.#work.read((tx) => {
      const useOf = zoneUse(slotUse(tx, when))
      return this.#warehouse.zones(tx, caller).map((zone) => inUse(zone, useOf(zone.id)))
    })
  }

  /** Throws NOT_FOUND. */
  zone(id: number | undefined, caller: Caller, when: When) {
    return this.#work.read((tx) => {
      const zone = this.#warehouse.zone(tx, id, caller)
      return inUse(zone, zoneUse(slotUse(tx, when, zone.id))(zone.id))
    })
  }

  /** Throws NOT_FOUND. */
  warehouse(id: number | undefined, caller: Caller, when: When) {
    return this.#work.read((tx) => {
      const warehouse = this.#warehouse.warehouse(tx, id, caller)
      const zones = this.#warehouse.zones(tx, caller).filter((z) => z.warehouseId === warehouse.id)
      const uses = slotUse(tx, when).filter((use) => use.warehouseId === warehouse.id)
      const useOf = zoneUse(uses)
      const summary = zones.map(({ id, name, zone_type, color }) => ({ id, name, zone_type, color, ...useOf(id) }))
      return { ...warehouse, zones: summary, utilization: utilizationOf(uses, zones) }
    })
  }

  utilization(caller: Caller, when: When): Utilization {
    return this.#work.read((tx) => {
      const uses = slotUse(tx, when).filter((use) => this.#warehouse.isVisible(caller, use.warehouseId))
      return utilizationOf(uses, this.#warehouse.zones(tx, caller))
    })
  }

  /**
   * Where an asset stands. Throws NOT_FOUND for a barcode that is neither registered nor in the ledger by then, and
   * when what decides happened where the caller may not look.
   */
  location(barcode: string, caller: Caller, when: When) {
    return this.#work.read((tx) => {
      const { key } = readBarcode(barcode)
      const asset = this.#warehouse.findAsset(tx, key)
      if (!assetIsKnown(tx, key, when) && (!asset || asset.provisional)) throw AppError.notFound('Asset')
      const { slotId, since, decidedInSlot } = assetLocation(tx, key, when)
      const slot = decidedInSlot === null ? undefined : this.#warehouse.visibleSlot(tx, decidedInSlot, caller)
      if (decidedInSlot !== null && !slot) throw AppError.notFound('Asset')
      return {
        asset_barcode: asset?.asset_id ?? barcode,
        slot: slot && slotId !== null ? { ...slot, ...slotState(tx, slotId, when) } : null,
        since: since === null ? null : isoTime(since),
      }
    })
  }
}

function inUse(zone: Zone, use: { slotCount: number; occupiedCount: number }) {
  return { ...zone, ...use, utilizationPercent: percent(use.occupiedCount, use.slotCount) }
}

function withState(slot: Slot, state: ReturnType<typeof slotState>): { success: true } & FloorSlot {
  return { success: true, ...slot, ...state }
}
