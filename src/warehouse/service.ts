import type { ReadTx, Tx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Ask, Caller, RequestOrigin } from '../http/index.ts'
import type { AuditTrail } from '../journal/index.ts'
import type { Clock } from '../platform/index.ts'
import { matchedName } from './barcodes/matched-text.ts'
import { demandVersion, namedFields } from './change.ts'
import { RowChanges } from './row-changes.ts'
import type { NewSlot, NewWarehouse, NewZone, SlotChange, WarehouseChange, ZoneChange } from './schema.ts'
import type { Sight, WarehouseRule, WarehouseSight } from './sight.ts'
import type { SingleWrites } from './single-writes.ts'
import { auditOf } from './slot-changes.ts'
import { readSlotCode } from './slot-code.ts'
import * as slotStore from './slot-store.ts'
import * as store from './store.ts'

const under =
  (path: string) =>
  ({ id }: { id: number }) =>
    `${path}/${id}`
/** Throws ALREADY_EXISTS when another zone of the warehouse has the name. */
function refuseTaken(tx: ReadTx, warehouseId: number, name: string, ownId?: number): void {
  const holder = store.findZoneByName(tx, warehouseId, name)
  if (!holder || holder.id === ownId) return
  throw new AppError('ALREADY_EXISTS', `The warehouse has a zone ${name} already`, {
    details: `name: ${name} is taken`,
  })
}

type WarehouseServiceNeeds = {
  readonly work: UnitOfWork
  readonly clock: Pick<Clock, 'now'>
  readonly audit: AuditTrail
  readonly writes: SingleWrites
  /** The site's warehouse, for a body that names none. */
  readonly warehouseId: () => number
  readonly sight: WarehouseSight
}

/** Master data of places: warehouses, zones and slots. It does not know what is in a slot. */
export class WarehouseService {
  /** Changed slots that the head office must get soon. */
  readonly changes = new RowChanges()
  readonly #needs: WarehouseServiceNeeds
  #planChanged: (warehouseId: number) => void = () => {}

  constructor(needs: WarehouseServiceNeeds) {
    this.#needs = needs
  }

  /**
   * Calls the listener with the warehouse whose plan changes: its slots, its zones or itself. The call is inside the transaction,
   * which may still be undone.
   */
  onPlanChange(listener: (warehouseId: number) => void): void {
    this.#planChanged = listener
  }

  /** Tells that listener. */
  tellPlanChange(warehouseId: number): void {
    this.#planChanged(warehouseId)
  }

  /** Returns whether the caller may see a warehouse with everything in it. Admins see every one. */
  isVisible(caller: Caller, warehouseId: number): boolean {
    return this.#needs.sight.isVisible(caller, warehouseId)
  }

  /** Returns the rule by which the caller sees the warehouse, or does not. */
  whyVisible(caller: Caller, warehouseId: number): WarehouseRule {
    return this.#needs.sight.why(caller, warehouseId)
  }

  /** Returns the ids of the warehouses that the caller may not see. */
  hiddenFrom(caller: Caller): number[] {
    return this.#needs.sight.hiddenFrom(caller)
  }

  /** As `WarehouseSight.sightOf`. */
  sightOf(caller: Caller): Sight {
    return this.#needs.sight.sightOf(caller)
  }

  createWarehouse(warehouse: NewWarehouse, { by, claim }: Ask) {
    return this.#needs.writes.create(claim, under('/api/whms/warehouses'), (tx) =>
      this.#insertWarehouse(tx, warehouse, by),
    )
  }

  /** Returns the warehouse of this name; makes it when there is none, so a repeat does not make a second one. */
  addWarehouse(wanted: NewWarehouse, by: RequestOrigin): Promise<{ warehouse: store.Warehouse; isNew: boolean }> {
    return this.#needs.work.write((tx) => {
      const named = store.listWarehouses(tx).find(({ name }) => matchedName(name) === matchedName(wanted.name))
      if (named) return { warehouse: named, isNew: false }
      return { warehouse: this.#insertWarehouse(tx, wanted, by), isNew: true }
    })
  }

  #insertWarehouse(tx: Tx, warehouse: NewWarehouse, by: RequestOrigin): store.Warehouse {
    const id = store.insertWarehouse(tx, warehouse, this.#needs.clock.now())
    this.#needs.audit.write(tx, by, { action: 'warehouse.created', entity: 'warehouse', entityId: id })
    this.#planChanged(id)
    return this.warehouse(tx, id, by.caller)
  }

  warehouses(caller: Caller): store.Warehouse[] {
    return this.#needs.work.read((tx) => store.listWarehouses(tx)).filter((w) => this.isVisible(caller, w.id))
  }

  /** Throws NOT_FOUND, also when the caller may not see it. */
  warehouse(tx: ReadTx, id: number | undefined, caller: Caller): store.Warehouse {
    const found = id === undefined ? undefined : store.findWarehouse(tx, id)
    if (!found || !this.isVisible(caller, found.id)) throw AppError.notFound('Warehouse')
    return found
  }

  /** Returns the warehouse that a body refers to; without an id that of the site. Throws REFERENCE_NOT_FOUND. */
  warehouseReference(tx: ReadTx, id: number | undefined, caller: Caller): number {
    const warehouseId = id ?? this.#needs.warehouseId()
    this.#referTo(tx, warehouseId, caller)
    return warehouseId
  }

  timezoneOf(tx: ReadTx, id: number): string {
    return store.findWarehouse(tx, id)?.timezone ?? 'UTC'
  }

  /** As `changeSlot`. */
  changeWarehouse(id: number | undefined, change: WarehouseChange, version: number | undefined, { by, claim }: Ask) {
    return this.#needs.writes.change(claim, (tx) => {
      const old = this.warehouse(tx, id, by.caller)
      demandVersion('warehouse', old, version)
      if (change.floorPlanImage?.place && !old.floorPlanImage)
        throw AppError.field('floorPlanImage', 'this warehouse has no picture of its hall: store one first')
      const changed = store.changeWarehouse(tx, old, change, this.#needs.clock.now())
      if (changed.length === 0) return old
      if (changed.includes('name')) this.changes.addAll()
      this.#needs.audit.write(tx, by, {
        action: 'warehouse.updated',
        entity: 'warehouse',
        entityId: old.id,
        changes: namedFields(change, changed),
      })
      this.#planChanged(old.id)
      return this.warehouse(tx, old.id, by.caller)
    })
  }

  createZone(zone: NewZone, { by, claim }: Ask) {
    return this.#needs.writes.create(claim, under('/api/whms/zones'), (tx) => this.addZone(tx, zone, by))
  }

  /** Adds a zone inside a transaction. Throws ALREADY_EXISTS, REFERENCE_NOT_FOUND. */
  addZone(tx: Tx, zone: NewZone, by: RequestOrigin): store.Zone {
    this.#referTo(tx, zone.warehouseId, by.caller)
    refuseTaken(tx, zone.warehouseId, zone.name)
    const id = store.insertZone(tx, zone, this.#needs.clock.now())
    const made = this.zone(tx, id, by.caller)
    const adopted = slotStore.adoptSlots(tx, made, this.#needs.clock.now())
    this.#needs.audit.write(tx, by, {
      action: 'zone.created',
      entity: 'zone',
      entityId: id,
      changes: { adoptedSlots: adopted },
    })
    this.#planChanged(made.warehouseId)
    return made
  }

  /** As `changeSlot`. Slots with the old name get the new one, and slots that waited for the new name join. */
  changeZone(id: number | undefined, change: ZoneChange, version: number | undefined, { by, claim }: Ask) {
    return this.#needs.writes.change(claim, (tx) => {
      const old = this.zone(tx, id, by.caller)
      demandVersion('zone', old, version)
      if (change.warehouseId !== undefined && change.warehouseId !== old.warehouseId)
        throw AppError.field('warehouseId', 'cannot be changed')
      if (change.name !== undefined && change.name !== old.name) refuseTaken(tx, old.warehouseId, change.name, old.id)
      const nowMs = this.#needs.clock.now()
      const changed = store.changeZone(tx, old, change, nowMs)
      if (changed.length === 0) return old
      const zone = this.zone(tx, old.id, by.caller)
      const slots = changed.includes('name')
        ? {
            renamedSlots: slotStore.renameLabels(tx, zone, old.name, nowMs),
            adoptedSlots: slotStore.adoptSlots(tx, zone, nowMs),
          }
        : {}
      if (changed.includes('name')) this.changes.addAll()
      const polygon = zone.floor_plan_polygon === null ? 'removed' : 'changed'
      const drawn = changed.includes('floor_plan_polygon') ? { polygon } : {}
      const fields = changed.filter((name) => name !== 'floor_plan_polygon')
      const changes = { ...namedFields(change, fields), ...drawn, ...slots }
      this.#needs.audit.write(tx, by, { action: 'zone.updated', entity: 'zone', entityId: zone.id, changes })
      this.#planChanged(zone.warehouseId)
      return zone
    })
  }

  /** Returns a zone of the warehouse by its name, in any case. */
  findZone(tx: ReadTx, warehouseId: number, name: string): store.Zone | undefined {
    return store.findZoneByName(tx, warehouseId, name)
  }

  zone(tx: ReadTx, id: number | undefined, caller: Caller): store.Zone {
    const found = id === undefined ? undefined : store.findZone(tx, id)
    if (!found || !this.isVisible(caller, found.warehouseId)) throw AppError.notFound('Zone')
    return found
  }

  zones(tx: ReadTx, caller: Caller): store.Zone[] {
    return store.listZones(tx).filter((z) => this.isVisible(caller, z.warehouseId))
  }

  /** Adds a slot inside a transaction. Throws ALREADY_EXISTS, REFERENCE_NOT_FOUND. */
  createSlot(tx: Tx, slot: NewSlot, by: RequestOrigin): slotStore.Slot {
    const holder = slotStore.findSlotLike(tx, slot.slot_id)
    if (holder) {
      throw new AppError('ALREADY_EXISTS', `There is a slot ${holder.slot_id} already`, {
        details: `slot_id: ${slot.slot_id} is taken`,
      })
    }
    const zone = this.#zoneOfSlot(tx, slot, by.caller)
    const warehouseId = zone?.warehouseId ?? slot.warehouseId ?? this.#needs.warehouseId()
    this.#referTo(tx, warehouseId, by.caller)
    const id = slotStore.insertSlot(
      tx,
      slotStore.slotColumns(slot, warehouseId, zone?.id ?? null),
      this.#needs.clock.now(),
    )
    this.#needs.audit.write(tx, by, { action: 'slot.created', entity: 'slot', entityId: id })
    this.changes.add(id)
    this.#planChanged(warehouseId)
    return this.slot(tx, id, by.caller)
  }

  /**
   * Changes the given fields and keeps the rest. Values that are the same already change neither version nor audit trail. `version`
   * comes from If-Match. Throws NOT_FOUND, VERSION_MISMATCH, VALIDATION_ERROR.
   */
  changeSlot(tx: Tx, id: number, change: SlotChange, version: number | undefined, by: RequestOrigin): slotStore.Slot {
    const old = this.slot(tx, id, by.caller)
    demandVersion('slot', old, version)
    if (change.slot_id !== undefined && matchedName(change.slot_id) !== matchedName(old.slot_id))
      throw AppError.field('slot_id', 'cannot be changed')
    if (change.warehouseId !== undefined && change.warehouseId !== old.warehouseId)
      throw AppError.field('warehouseId', 'cannot be changed')
    const columns = slotStore.differingColumns(tx, id, this.#slotChanges(tx, old, change, by.caller))
    if (Object.keys(columns).length === 0) return old
    slotStore.updateSlot(tx, id, columns, this.#needs.clock.now())
    this.changes.add(id)
    const changes = auditOf(change, columns)
    this.#needs.audit.write(tx, by, { action: 'slot.updated', entity: 'slot', entityId: id, changes })
    this.#planChanged(old.warehouseId)
    return this.slot(tx, id, by.caller)
  }

  /** Returns a slot. Throws NOT_FOUND, also when the caller may not see its warehouse. */
  slot(tx: ReadTx, id: number, caller: Caller): slotStore.Slot {
    const found = this.visibleSlot(tx, id, caller)
    if (!found) throw AppError.notFound('Slot')
    return found
  }

  /** Returns a slot; undefined where `slot` throws. */
  visibleSlot(tx: ReadTx, id: number, caller: Caller): slotStore.Slot | undefined {
    const found = slotStore.findSlot(tx, id)
    return found && this.isVisible(caller, found.warehouseId) ? found : undefined
  }

  /** Returns the slot of a path: a canonical decimal is the id unless `byLabel`, anything else the label. Throws NOT_FOUND. */
  slotByPath(tx: ReadTx, path: string, byLabel: boolean, caller: Caller): slotStore.Slot {
    const found = this.#slotAt(tx, path, byLabel)
    if (!found || !this.isVisible(caller, found.warehouseId)) throw AppError.notFound('Slot')
    return found
  }

  /** Returns the slot that a body refers to. Throws REFERENCE_NOT_FOUND, VALIDATION_ERROR when id and label differ. */
  slotReference(
    tx: ReadTx,
    reference: { id?: number | undefined; code?: string | undefined },
    caller: Caller,
  ): slotStore.Slot {
    const { id, code } = reference
    const found = code === undefined ? slotStore.findSlot(tx, id ?? 0) : slotStore.findSlotByCode(tx, code)
    if (!found || !this.isVisible(caller, found.warehouseId)) {
      const path = code === undefined ? 'slot_id' : 'slot_code'
      throw new AppError('REFERENCE_NOT_FOUND', 'There is no such slot', {
        fields: [{ path, message: `no slot ${code ?? id}` }],
      })
    }
    if (id === undefined || id === found.id) return found
    // Says nothing about the slot that slot_id names: the caller may not see it.
    const message = `slot_code "${code}" is slot ${found.id}, but slot_id says ${id}. Send one of them.`
    throw AppError.field('slot_id', message)
  }

  /** Reads one page of the slots that the caller may see, as JSON, and how many these are in all. */
  pageOfSlotTexts(tx: ReadTx, caller: Caller, page: slotStore.SlotFilter & { limit: number; offset: number }) {
    return slotStore.pageOfSlotTexts(tx, { ...page, hidden: this.hiddenFrom(caller) })
  }

  /** Reads the next `limit` slots after `afterId`. Returns those that the caller may see, and the id to continue after. */
  slots(tx: ReadTx, caller: Caller, afterId: number, limit: number, zoneId?: number) {
    return this.#visibleOf(slotStore.listSlots(tx, afterId, limit, { zoneId }), caller, limit)
  }

  /** As `slots`, for a list in JSON, with a filter. */
  slotTexts(tx: ReadTx, caller: Caller, afterId: number, limit: number, filter?: slotStore.SlotFilter) {
    return this.#visibleOf(slotStore.listSlotTexts(tx, afterId, limit, filter), caller, limit)
  }

  /**
   * Returns the slot that a scan names, for any caller. The scan may be its label without the symbology in front, or its address at
   * a gateway. Undefined when it names none.
   */
  slotScanned(tx: ReadTx, raw: string): slotStore.Slot | undefined {
    const { labels, address } = readSlotCode(raw)
    if (address) return this.#slotAt(tx, address.path, address.byLabel)
    return labels.flatMap((label) => slotStore.findSlotByCode(tx, label) ?? [])[0]
  }

  /** Returns whether a scan names this slot, as `slotScanned` finds it. Most scans are the label as it is, and need no query. */
  isScanOf(tx: ReadTx, raw: string, slot: slotStore.Slot): boolean {
    const isLabel = raw === slot.slot_id && !/^https?:/i.test(raw)
    return isLabel || this.slotScanned(tx, raw)?.id === slot.id
  }

  /** Returns the slot with this label, for any caller. */
  slotLabelled(tx: ReadTx, label: string): slotStore.Slot | undefined {
    return slotStore.findSlotByCode(tx, label)
  }

  /** Reads labels and names again that an older gateway has stored. Call once, before anything else. */
  readAnew(tx: Tx): void {
    slotStore.keepLabelKeys(tx)
    store.keepNameKeys(tx)
  }

  #visibleOf<S extends { id: number; warehouseId: number }>(slots: readonly S[], caller: Caller, limit: number) {
    const visible = slots.filter((slot) => this.isVisible(caller, slot.warehouseId))
    return { slots: visible, lastId: slots.length < limit ? undefined : slots.at(-1)?.id }
  }

  #slotAt(tx: ReadTx, path: string, byLabel: boolean): slotStore.Slot | undefined {
    const id = !byLabel && /^[1-9]\d{0,14}$/.test(path) ? Number(path) : undefined
    return id === undefined ? slotStore.findSlotByCode(tx, path) : slotStore.findSlot(tx, id)
  }

  #referTo(tx: ReadTx, warehouseId: number, caller: Caller): void {
    if (store.findWarehouse(tx, warehouseId) && this.isVisible(caller, warehouseId)) return
    throw new AppError('REFERENCE_NOT_FOUND', 'There is no such warehouse', {
      fields: [{ path: 'warehouseId', message: `no warehouse ${warehouseId}` }],
    })
  }

  /** zoneId wins; else the zone with the label's name in the warehouse, if one is named; else none yet. */
  #zoneOfSlot(
    tx: ReadTx,
    slot: Pick<NewSlot, 'zone' | 'zoneId' | 'warehouseId'>,
    caller: Caller,
  ): store.Zone | undefined {
    if (slot.zoneId === undefined) {
      if (slot.warehouseId !== undefined) return store.findZoneByName(tx, slot.warehouseId, slot.zone)
      // A name that is in one warehouse alone decides which one is meant. A hidden one neither counts nor is used.
      const [only, ...others] = store.zonesNamed(tx, slot.zone).filter((z) => this.isVisible(caller, z.warehouseId))
      if (only && others.length === 0) return only
      return store.findZoneByName(tx, this.#needs.warehouseId(), slot.zone)
    }
    const zone = store.findZone(tx, slot.zoneId)
    const elsewhere = zone && slot.warehouseId !== undefined && slot.warehouseId !== zone.warehouseId
    if (!zone || elsewhere || !this.isVisible(caller, zone.warehouseId)) {
      throw new AppError('REFERENCE_NOT_FOUND', 'There is no such zone', {
        fields: [
          { path: 'zoneId', message: `no zone ${slot.zoneId}${elsewhere ? ` in warehouse ${slot.warehouseId}` : ''}` },
        ],
      })
    }
    return zone
  }

  /** The zone that a change puts a slot in. When `zone` and `zoneId` are given, the one that differs from the slot's counts. */
  #movedSlot(
    tx: ReadTx,
    old: slotStore.Slot,
    { zone, zoneId }: Pick<SlotChange, 'zone' | 'zoneId'>,
    caller: Caller,
  ): { zone: string; zone_id: number | null } | undefined {
    const name = zone === old.zone ? undefined : zone
    const id = zoneId === old.zoneId ? undefined : zoneId
    if (name === undefined && id === undefined) return undefined
    const { warehouseId } = old
    const found = this.#zoneOfSlot(tx, { zone: name ?? old.zone, zoneId: id ?? undefined, warehouseId }, caller)
    if (!found || id === undefined || id === null) return { zone: name ?? old.zone, zone_id: found?.id ?? null }
    if (name !== undefined && matchedName(name) !== matchedName(found.name)) {
      throw AppError.field('zone', `zone says ${name}, but zoneId ${id} is the zone ${found.name}. Send one of them.`)
    }
    return { zone: name ?? found.name, zone_id: id }
  }

  #slotChanges(
    tx: ReadTx,
    old: slotStore.Slot,
    change: SlotChange,
    caller: Caller,
  ): Parameters<typeof slotStore.updateSlot>[2] {
    const { zone_type, constraints } = change
    return {
      ...this.#movedSlot(tx, old, change, caller),
      // The type of the zone that comes back from an answer pins nothing.
      ...(zone_type !== undefined && zone_type !== old.zone_type && { zone_type }),
      ...(change.floor_plan_polygon && { floor_plan_polygon: JSON.stringify(change.floor_plan_polygon) }),
      ...(constraints !== undefined && { constraints: constraints && JSON.stringify(constraints) }),
      ...(change.retired !== undefined &&
        change.retired !== (old.retiredAt !== null) && {
          retired_at_ms: change.retired ? this.#needs.clock.now() : null,
        }),
    }
  }
}
