import type { z } from '@hono/zod-openapi'
import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Ask, Caller, Reply } from '../http/index.ts'
import type { Idempotency } from '../journal/index.ts'
import {
  assetIsKnown,
  type SlotUse,
  settle,
  slotState,
  slotStates,
  slotUse,
  stateIn,
  type When,
} from '../ledger/index.ts'
import { ownTurn } from '../platform/index.ts'
import type { AssetService, NewSlot, Slot, SlotChange, SlotFilter, WarehouseService, Zone } from '../warehouse/index.ts'
import { PackedSlots, withStateText } from './packed-slots.ts'
import { placeOf } from './place.ts'
import type { FloorSlot, Utilization } from './schema.ts'
import { attemptChange, type ChangedSlots, changeResult, changesRefusal, type SlotBatch } from './slot-batch.ts'
import { addedUp, percent, utilizationOf, zoneUse } from './utilization.ts'

export type FloorFilter = SlotFilter & {
  /** Whether something is in the slot, at the asked time. */
  readonly occupied?: boolean | undefined
}

/** Slots in one slice of a list: about 1.5 ms. */
const sliceSlots = 250
/** A page of at most so many slots is read in one turn. */
export const pageSlots = 500
/** Slots in one slice of a count: about 0.5 ms, several while the ledger comes from the disk. */
const sliceUses = 250

type FloorServiceNeeds = {
  work: UnitOfWork
  warehouse: WarehouseService
  assets: AssetService
  idempotency: Idempotency
}

/** Returns the present contents of slots: master data joined with the ledger, on one snapshot. */
export class FloorService {
  readonly #needs: FloorServiceNeeds
  readonly #packed: PackedSlots

  constructor(needs: FloorServiceNeeds) {
    this.#needs = needs
    this.#packed = new PackedSlots(needs)
  }

  /**
   * Yields the slots of a filter as JSON, a slice at a time, with a turn for other requests in between. Every slice shows
   * the ledger as it was at the first one. Throws NOT_FOUND when the zone of `zoneId` is missing or hidden.
   */
  async *slots(caller: Caller, when: When, filter: FloorFilter = {}): AsyncGenerator<readonly string[], void> {
    const { zoneId } = filter
    const known = this.#needs.work.read((tx) => {
      if (zoneId !== undefined) this.#needs.warehouse.zone(tx, zoneId, caller)
      return settle(tx, when)
    })
    for (let afterId: number | undefined = 0; afterId !== undefined; ) {
      await ownTurn()
      const { slots, lastId } = this.#slice(caller, known, afterId, filter)
      yield slots
      afterId = lastId
    }
  }

  /** Returns the whole answer with all slots as they are now, in gzip; undefined when it has to be made of `slots`. */
  packedSlots(caller: Caller): Promise<Buffer<ArrayBuffer> | undefined> {
    return this.#packed.list(caller)
  }

  /**
   * Returns one page of the same list as JSON, and its length: only the page's own slots are looked up in the ledger. Throws
   * NOT_FOUND.
   */
  slotPage(caller: Caller, when: When, page: SlotFilter & { limit: number; offset: number }) {
    const { zoneId } = page
    return this.#needs.work.read((tx) => {
      if (zoneId !== undefined) this.#needs.warehouse.zone(tx, zoneId, caller)
      const { slots, total } = this.#needs.warehouse.pageOfSlotTexts(tx, caller, page)
      const states = this.#statesOf(tx, slots, when, page)
      return { rows: slots.map(({ id, members }) => withStateText(members, stateIn(states, id))), total }
    })
  }

  #slice(caller: Caller, known: When, afterId: number, { occupied, ...filter }: FloorFilter) {
    return this.#needs.work.read((tx) => {
      const { slots, lastId } = this.#needs.warehouse.slotTexts(tx, caller, afterId, sliceSlots, filter)
      const states = this.#statesOf(tx, slots, known, filter)
      const wanted =
        occupied === undefined ? slots : slots.filter(({ id }) => stateIn(states, id).isOccupied === occupied)
      return { slots: wanted.map(({ id, members }) => withStateText(members, stateIn(states, id))), lastId }
    })
  }

  /** Slots of one label or warehouse may have distant ids, so each is looked up; all others are read as a range. */
  #statesOf(tx: ReadTx, slots: readonly { readonly id: number }[], when: When, filter: SlotFilter) {
    const { zoneId, zone, warehouseId } = filter
    if (zone === undefined && warehouseId === undefined) {
      return slotStates(tx, when, { zoneId, firstId: slots[0]?.id ?? 1, lastId: slots.at(-1)?.id ?? 0 })
    }
    return new Map(slots.map(({ id }) => [id, slotState(tx, id, when)]))
  }

  /** Returns a slot with its status. Throws NOT_FOUND. */
  slot(path: string, byLabel: boolean, caller: Caller, when: When): FloorSlot {
    return this.#needs.work.read((tx) => {
      const slot = this.#needs.warehouse.slotByPath(tx, path, byLabel, caller)
      return { ...slot, ...slotState(tx, slot.id, when) }
    })
  }

  createSlot(slot: z.output<typeof NewSlot>, { by, claim }: Ask): Promise<Reply<{ success: true } & FloorSlot>> {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const made = this.#needs.warehouse.createSlot(tx, slot, by)
        return {
          status: 201 as const,
          body: withState(made, slotState(tx, made.id)),
          location: `/api/whms/slots/${made.id}`,
        }
      }),
    )
  }

  /** Changes a slot. `version` comes from If-Match. Throws NOT_FOUND, VERSION_MISMATCH. */
  changeSlot(
    { path, byLabel }: { path: string; byLabel: boolean },
    change: z.output<typeof SlotChange>,
    version: number | undefined,
    { by, claim }: Ask,
  ): Promise<Reply<{ success: true } & FloorSlot>> {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const { id } = this.#needs.warehouse.slotByPath(tx, path, byLabel, by.caller)
        const changed = this.#needs.warehouse.changeSlot(tx, id, change, version, by)
        return { status: 200 as const, body: withState(changed, slotState(tx, id)) }
      }),
    )
  }

  /**
   * Makes up to 100 changes in the order in which they are sent, in one commit. With `proceed`, refused changes are left out. With
   * `rollback`, throws with every problem of every change, and none is made.
   */
  changeSlots({ mode, changes }: SlotBatch, { by, claim }: Ask): Promise<Reply<ChangedSlots>> {
    return this.#needs.work.write((tx) =>
      this.#needs.idempotency.once(tx, claim, () => {
        const outcomes = changes.map((item) =>
          attemptChange(item, ({ id, version, ...change }) => {
            this.#referToSlot(tx, id, by.caller)
            return { ...this.#needs.warehouse.changeSlot(tx, id, change, version, by), ...slotState(tx, id) }
          }),
        )
        const refusal = mode === 'proceed' ? undefined : changesRefusal(outcomes)
        if (refusal) throw refusal
        return { status: 200 as const, body: { success: true as const, results: outcomes.map(changeResult) } }
      }),
    )
  }

  /** Throws REFERENCE_NOT_FOUND, also for a slot that the caller may not see. */
  #referToSlot(tx: ReadTx, id: number, caller: Caller): void {
    if (this.#needs.warehouse.visibleSlot(tx, id, caller)) return
    throw new AppError('REFERENCE_NOT_FOUND', 'There is no such slot', {
      fields: [{ path: 'id', message: `no slot ${id}` }],
    })
  }

  /** Returns the zones of all warehouses, or of one; none of a hidden one. */
  async zones(caller: Caller, when: When, warehouseId?: number, signal?: AbortSignal) {
    const useOf = zoneUse(await this.#uses(when, undefined, signal))
    return this.#needs.work.read((tx) =>
      this.#needs.warehouse
        .zones(tx, caller)
        .filter((zone) => warehouseId === undefined || zone.warehouseId === warehouseId)
        .map((zone) => inUse(zone, useOf(zone.id))),
    )
  }

  /** Returns a zone with its counts. Throws NOT_FOUND. */
  async zone(id: number | undefined, caller: Caller, when: When, signal?: AbortSignal) {
    const zone = this.#needs.work.read((tx) => this.#needs.warehouse.zone(tx, id, caller))
    return inUse(zone, zoneUse(await this.#uses(when, zone.id, signal))(zone.id))
  }

  /** Returns a warehouse with its counts. Throws NOT_FOUND. */
  async warehouse(id: number | undefined, caller: Caller, when: When, signal?: AbortSignal) {
    const { warehouse, zones } = this.#needs.work.read((tx) => {
      const warehouse = this.#needs.warehouse.warehouse(tx, id, caller)
      return { warehouse, zones: this.#needs.warehouse.zones(tx, caller).filter((z) => z.warehouseId === warehouse.id) }
    })
    const uses = (await this.#uses(when, undefined, signal)).filter((use) => use.warehouseId === warehouse.id)
    const useOf = zoneUse(uses)
    const summary = zones.map(({ id, name, zone_type, color }) => ({ id, name, zone_type, color, ...useOf(id) }))
    return { ...warehouse, zones: summary, utilization: utilizationOf(uses, zones) }
  }

  async utilization(caller: Caller, when: When, signal?: AbortSignal): Promise<Utilization> {
    const uses = await this.#uses(when, undefined, signal)
    return this.#needs.work.read((tx) =>
      utilizationOf(
        uses.filter((use) => this.#needs.warehouse.isVisible(caller, use.warehouseId)),
        this.#needs.warehouse.zones(tx, caller),
      ),
    )
  }

  /** Counts how the slots of all zones, or of one, are used, in slices of one state of the ledger. */
  async #uses(when: When, zoneId: number | undefined, signal: AbortSignal | undefined): Promise<SlotUse[]> {
    const settled = this.#needs.work.read((tx) => settle(tx, when))
    const found: SlotUse[] = []
    const slices = this.#needs.work.readInSlices(
      0,
      (tx, afterId: number) => {
        const { uses, next } = slotUse(tx, settled, zoneId, afterId, sliceUses)
        return { found: uses, next }
      },
      signal,
    )
    for await (const uses of slices) found.push(...uses)
    return addedUp(found)
  }

  /**
   * Returns where an asset is. Throws NOT_FOUND for a barcode that is neither registered nor in the ledger by then, and
   * when the deciding event happened in a hidden warehouse.
   */
  location(barcode: string, caller: Caller, when: When) {
    return this.#needs.work.read((tx) => {
      const { key } = this.#needs.assets.readBarcode(tx, barcode)
      const sight = this.#needs.warehouse.sightOf(caller)
      const asset = this.#needs.assets.visible(tx, key, caller)
      if (!asset || (asset.provisional && !assetIsKnown(tx, key, sight, when))) throw AppError.notFound('Asset')
      const place = placeOf(tx, this.#needs.warehouse, { key, caller, when }, (slot) => ({
        ...slot,
        ...slotState(tx, slot.id, when),
      }))
      if (!place) throw AppError.notFound('Asset')
      return { asset_barcode: asset.asset_id, ...place }
    })
  }
}

function inUse(zone: Zone, use: { slotCount: number; occupiedCount: number }) {
  return { ...zone, ...use, utilizationPercent: percent(use.occupiedCount, use.slotCount) }
}

function withState(slot: Slot, state: ReturnType<typeof slotState>): { success: true } & FloorSlot {
  return { success: true, ...slot, ...state }
}
