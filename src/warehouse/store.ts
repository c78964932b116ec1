import {
  built,
  change,
  integer,
  maybe,
  pick,
  type ReadTx,
  type RowOf,
  statement,
  statements,
  type Tx,
  text,
} from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import { matchedName } from './matched-text.ts'
import { findPlanImage, keepPlanImage } from './plan-image-store.ts'
import type { Point } from './polygon.ts'
import type { AssetType, NewSlot, NewWarehouse, NewZone, WarehouseChange, ZoneChange, ZoneType } from './schema.ts'
import { sql, tables } from './tables.ts'

export type Row<Name extends keyof typeof tables> = RowOf<(typeof tables)[Name]>

export const times = (row: { created_at_ms: number; updated_at_ms: number; version: number | unknown }) => ({
  version: row.version as number,
  createdAt: isoTime(row.created_at_ms),
  updatedAt: isoTime(row.updated_at_ms),
})

export type Warehouse = ReturnType<typeof warehouseOf>
export type Zone = ReturnType<typeof zoneOf>
export type Slot = ReturnType<typeof slotOf>
/** `members`: the slot as a JSON object without its braces. */
export type SlotText = { readonly id: number; readonly warehouseId: number; readonly members: string }

function warehouseOf(tx: ReadTx, row: Row<'warehouse'>) {
  const location = row.lat === null || row.lng === null ? null : { lat: row.lat, lng: row.lng }
  return {
    id: row.id,
    name: row.name,
    location,
    timezone: row.timezone,
    floorPlanImage: findPlanImage(tx, row.id) ?? null,
    ...times(row),
  }
}

function zoneOf(row: Row<'zone'>) {
  return {
    id: row.id,
    name: row.name,
    zone_type: row.zone_type as ZoneType,
    color: row.color,
    floor_plan_polygon: row.floor_plan_polygon === null ? null : (JSON.parse(row.floor_plan_polygon) as Point[]),
    warehouseId: row.warehouse_id,
    ...times(row),
  }
}

export type Constraints = { max_weight?: number; max_height?: number; allowed_types?: AssetType[] }

function slotOf(row: Row<'slot'> & { type_of_zone: string | null }) {
  return {
    id: row.id,
    slot_id: row.slot_id,
    warehouseId: row.warehouse_id,
    zone: row.zone,
    zoneId: row.zone_id,
    zone_type: (row.zone_type ?? row.type_of_zone) as ZoneType | null,
    floor_plan_polygon: JSON.parse(row.floor_plan_polygon) as { x: number; y: number }[],
    constraints: row.constraints === null ? null : (JSON.parse(row.constraints) as Constraints),
    retiredAt: row.retired_at_ms === null ? null : isoTime(row.retired_at_ms),
    ...times(row),
  }
}

type SlotRow = Parameters<typeof slotOf>[0]

/**
 * The text of `JSON.stringify(slotOf(row))` without its braces, for half the time: what the row holds as JSON stays as it is.
 */
function membersOf(row: SlotRow): string {
  const quoted = (text: string | null) => (text === null ? 'null' : JSON.stringify(text))
  const retiredAt = row.retired_at_ms === null ? 'null' : `"${isoTime(row.retired_at_ms)}"`
  return (
    `"id":${row.id},"slot_id":${quoted(row.slot_id)},"warehouseId":${row.warehouse_id},"zone":${quoted(row.zone)}` +
    `,"zoneId":${row.zone_id},"zone_type":${quoted(row.zone_type ?? row.type_of_zone)}` +
    `,"floor_plan_polygon":${row.floor_plan_polygon},"constraints":${row.constraints},"retiredAt":${retiredAt}` +
    `,"version":${row.version},"createdAt":"${isoTime(row.created_at_ms)}","updatedAt":"${isoTime(row.updated_at_ms)}"`
  )
}

export const stamp = (nowMs: number) => ({ created_at_ms: nowMs, updated_at_ms: nowMs })

/** The slots, for a join in SQL. */
export const slots = 'main.slot'

/** SQL for the warehouse of a slot; `slot`: its id as the statement around it says it. */
export const warehouseOfSlot = (slot: string): string => `(SELECT warehouse_id FROM main.slot WHERE id = ${slot})`

const byId = { id: integer }
const newWarehouse = built(
  pick(tables.warehouse, 'name', 'timezone', 'lat', 'lng', 'created_at_ms', 'updated_at_ms'),
  (row) => sql.insertInto('warehouse').values(row),
)
const warehouseById = built(byId, ({ id }) => sql.selectFrom('warehouse').selectAll().where('id', '=', id))
const allWarehouses = built({}, () => sql.selectFrom('warehouse').selectAll().orderBy('id'))

const newZone = built(
  pick(
    tables.zone,
    'warehouse_id',
    'name',
    'name_key',
    'zone_type',
    'color',
    'floor_plan_polygon',
    'created_at_ms',
    'updated_at_ms',
  ),
  (row) => sql.insertInto('zone').values(row),
)
const zoneById = built(byId, ({ id }) => sql.selectFrom('zone').selectAll().where('id', '=', id))
const zoneByName = built(pick(tables.zone, 'warehouse_id', 'name_key'), ({ warehouse_id, name_key }) =>
  sql.selectFrom('zone').selectAll().where('warehouse_id', '=', warehouse_id).where('name_key', '=', name_key),
)
const allZones = built({}, () => sql.selectFrom('zone').selectAll().orderBy('id'))
const newNameKey = built(pick(tables.zone, 'id', 'name_key'), ({ id, name_key }) =>
  sql.updateTable('zone').set({ name_key }).where('id', '=', id),
)

const newSlotRow = built(
  pick(
    tables.slot,
    'slot_id',
    'warehouse_id',
    'zone_id',
    'zone',
    'zone_type',
    'floor_plan_polygon',
    'constraints',
    'label_key',
    'created_at_ms',
    'updated_at_ms',
  ),
  (row) => sql.insertInto('slot').values(row),
)
const slotRow = built(byId, ({ id }) => sql.selectFrom('slot').selectAll().where('id', '=', id))
const slotsOfZone = built({ zone_id: integer }, ({ zone_id }) =>
  sql.selectFrom('slot').select(['id', 'zone']).where('zone_id', '=', zone_id),
)
const slotsWithoutZone = built(pick(tables.slot, 'warehouse_id'), ({ warehouse_id }) =>
  sql.selectFrom('slot').select(['id', 'zone']).where('zone_id', 'is', null).where('warehouse_id', '=', warehouse_id),
)
const slotsWithoutKey = built({}, () => sql.selectFrom('slot').select(['id', 'slot_id']).where('label_key', 'is', null))
const newLabelKey = built({ id: integer, label_key: text }, ({ id, label_key }) =>
  sql.updateTable('slot').set({ label_key }).where('id', '=', id),
)
const newVersion = change('UPDATE warehouse SET version = version + 1, updated_at_ms = ? WHERE id = ?')
const newZoneLabel = change('UPDATE slot SET zone = ?, version = version + 1, updated_at_ms = ? WHERE id = ?')
const newZoneOfSlot = change('UPDATE slot SET zone_id = ?, version = version + 1, updated_at_ms = ? WHERE id = ?')
const labelLike = built({ label_key: text }, ({ label_key }) =>
  sql.selectFrom('slot').select('slot_id').where('label_key', '=', label_key).limit(1),
)
const slotsWithPlace = statement({
  columns: { id: integer, slot_id: text, zone: text, warehouse: text, retired_at_ms: maybe(integer) },
  sql: `SELECT s.id, s.slot_id, s.zone, w.name AS warehouse, s.retired_at_ms FROM slot s JOIN warehouse w ON w.id = s.warehouse_id
    WHERE s.id > ? ORDER BY s.id LIMIT ?`,
})
const labelById = built(byId, ({ id }) => sql.selectFrom('slot').select('slot_id').where('id', '=', id))
const placeOfSlot = built(byId, ({ id }) => sql.selectFrom('slot').select('warehouse_id').where('id', '=', id))
const placeOfZone = built(byId, ({ id }) => sql.selectFrom('zone').select('warehouse_id').where('id', '=', id))
const slotsOfWarehouses = statement({
  columns: { id: integer },
  sql: 'SELECT id FROM main.slot WHERE warehouse_id IN (SELECT value FROM json_each(?))',
})
const nextSlots = statement({
  columns: pick(tables.slot, 'id', 'zone_id', 'warehouse_id'),
  sql: 'SELECT id, zone_id, warehouse_id FROM slot WHERE id > +? ORDER BY id LIMIT ?',
})

const allWarehouseIds = built({}, () => sql.selectFrom('warehouse').select('id').orderBy('id'))

export function insertWarehouse(tx: Tx, warehouse: NewWarehouse, nowMs: number): number {
  const { name, timezone, location } = warehouse
  const row = { name, timezone, lat: location?.lat ?? null, lng: location?.lng ?? null, ...stamp(nowMs) }
  return tx.run(newWarehouse, row).lastId
}

export function findWarehouse(tx: ReadTx, id: number): Warehouse | undefined {
  const row = tx.get(warehouseById, { id })
  return row && warehouseOf(tx, row)
}

export function listWarehouses(tx: ReadTx): Warehouse[] {
  return tx.all(allWarehouses).map((row) => warehouseOf(tx, row))
}

export function warehouseIds(tx: ReadTx): number[] {
  return tx.all(allWarehouseIds).map(({ id }) => id)
}

type WarehouseColumns = { name?: string; timezone?: string; lat?: number; lng?: number }

/** @returns the columns that the change gives another value */
export function changeWarehouse(tx: Tx, old: Warehouse, change: WarehouseChange, nowMs: number): string[] {
  const { name, timezone, location } = change
  const columns: WarehouseColumns = {
    ...(name !== undefined && name !== old.name && { name }),
    ...(timezone !== undefined && timezone !== old.timezone && { timezone }),
    ...(location && (location.lat !== old.location?.lat || location.lng !== old.location.lng) && location),
  }
  const isMoved = movePlanImage(tx, old, change.floorPlanImage)
  const changed = changeRow(tx, 'warehouse', old.id, columns, nowMs)
  if (!isMoved) return changed
  if (changed.length === 0) bumpWarehouse(tx, old.id, nowMs)
  return [...changed, 'floorPlanImage']
}

/** Gives the picture of a warehouse another place. Returns whether that changes anything. */
function movePlanImage(tx: Tx, { id, floorPlanImage }: Warehouse, change: WarehouseChange['floorPlanImage']): boolean {
  if (!change || !floorPlanImage) return false
  const place = { ...floorPlanImage.place, ...withoutAbsent(change) }
  if (JSON.stringify(place) === JSON.stringify(floorPlanImage.place)) return false
  keepPlanImage(tx, id, { ...floorPlanImage, place })
  return true
}

const withoutAbsent = <T extends object>(of: T) =>
  Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]: Exclude<T[Name], undefined>
  }

/** Notes that something of the warehouse has changed. */
export function bumpWarehouse(tx: Tx, id: number, nowMs: number): void {
  tx.run(newVersion, [nowMs, id])
}

/** @returns the columns that the change gives another value */
export function changeZone(tx: Tx, old: Zone, change: ZoneChange, nowMs: number): string[] {
  const { name, zone_type, color, floor_plan_polygon: outline } = change
  const drawn = outline && outlineText(outline)
  const columns = {
    ...(name !== undefined && name !== old.name && { name, name_key: matchedName(name) }),
    ...(zone_type !== undefined && zone_type !== old.zone_type && { zone_type }),
    ...(color !== undefined && color !== old.color && { color }),
    ...(drawn !== undefined && drawn !== outlineText(old.floor_plan_polygon ?? []) && { floor_plan_polygon: drawn }),
  }
  return changeRow(tx, 'zone', old.id, columns, nowMs)
}

function changeRow(tx: Tx, table: 'warehouse' | 'zone', id: number, columns: object, nowMs: number): string[] {
  const names = Object.keys(columns)
  if (names.length === 0) return []
  tx.run(
    sql
      .updateTable(table)
      .set({ ...columns, updated_at_ms: nowMs })
      .set((eb) => ({ version: eb('version', '+', 1) }))
      .where('id', '=', id),
  )
  return names
}

/** As it is stored; null: there is none. */
const outlineText = (points: readonly Point[]): string | null => (points.length === 0 ? null : JSON.stringify(points))

/** The slots of a zone that bear its old name bear the new one. */
export function renameLabels(tx: Tx, zone: Zone, oldName: string, nowMs: number): number {
  const labelled = tx.all(slotsOfZone, { zone_id: zone.id })
  const named = labelled.filter((slot) => matchedName(slot.zone) === matchedName(oldName) && slot.zone !== zone.name)
  for (const { id } of named) tx.run(newZoneLabel, [zone.name, nowMs, id])
  return named.length
}

export function insertZone(tx: Tx, zone: NewZone & { color: string }, nowMs: number): number {
  const row = {
    warehouse_id: zone.warehouseId,
    name: zone.name,
    name_key: matchedName(zone.name),
    zone_type: zone.zone_type,
    color: zone.color,
    floor_plan_polygon: outlineText(zone.floor_plan_polygon ?? []),
    ...stamp(nowMs),
  }
  return tx.run(newZone, row).lastId
}

export function findZone(tx: ReadTx, id: number): Zone | undefined {
  const row = tx.get(zoneById, { id })
  return row && zoneOf(row)
}

export function findZoneByName(tx: ReadTx, warehouseId: number, name: string): Zone | undefined {
  const row = tx.get(zoneByName, { warehouse_id: warehouseId, name_key: matchedName(name) })
  return row && zoneOf(row)
}

export function listZones(tx: ReadTx): Zone[] {
  return tx.all(allZones).map(zoneOf)
}

/** Slots whose label matched no zone yet, and now does. */
export function adoptSlots(tx: Tx, zone: Zone, nowMs: number): number {
  const waiting = tx.all(slotsWithoutZone, { warehouse_id: zone.warehouseId })
  const adopted = waiting.filter((slot) => matchedName(slot.zone) === matchedName(zone.name))
  for (const slot of adopted) tx.run(newZoneOfSlot, [zone.id, nowMs, slot.id])
  return adopted.length
}

const slotSelect = `SELECT slot.*, zone.zone_type AS type_of_zone FROM slot LEFT JOIN zone ON zone.id = slot.zone_id`
const slotColumnsRead = { ...tables.slot, type_of_zone: maybe(text) }
const slotById = statement({ columns: slotColumnsRead, sql: `${slotSelect} WHERE slot.id = +?` })
const slotByCode = statement({ columns: slotColumnsRead, sql: `${slotSelect} WHERE slot.slot_id = +?` })
const slotsLike = statement({ columns: slotColumnsRead, sql: `${slotSelect} WHERE slot.label_key = +? LIMIT 2` })
type Kept = { readonly withoutHidden: boolean; readonly inZone: boolean }
const everyKept: [Kept][] = [false, true].flatMap((withoutHidden) =>
  [false, true].map((inZone): [Kept] => [{ withoutHidden, inZone }]),
)
const whereKept = ({ withoutHidden, inZone }: Kept) => {
  const parts = [
    ...(withoutHidden ? ['slot.warehouse_id NOT IN (SELECT value FROM json_each(+?))'] : []),
    ...(inZone ? ['slot.zone_id = +?'] : []),
  ]
  return parts.length === 0 ? '' : ` WHERE ${parts.join(' AND ')}`
}
const slotPage = statements({
  columns: slotColumnsRead,
  sql: (kept: Kept) =>
    `${slotSelect} WHERE slot.id IN (SELECT id FROM slot${whereKept(kept)} ORDER BY slot.id LIMIT ? OFFSET ?) ORDER BY slot.id`,
  samples: everyKept,
})
const countedSlots = statements({
  columns: { n: integer },
  sql: (kept: Kept) => `SELECT count(*) AS n FROM slot${whereKept(kept)}`,
  samples: everyKept,
})
const slotsBehind = statements({
  columns: slotColumnsRead,
  sql: (isInZone: boolean) =>
    `${slotSelect} WHERE slot.id > +?${isInZone ? ' AND slot.zone_id = +?' : ''} ORDER BY slot.id LIMIT ?`,
  samples: [[false], [true]],
})

export type SlotColumns = {
  slot_id: string
  warehouse_id: number
  zone_id: number | null
  zone: string
  zone_type: string | null
  floor_plan_polygon: string
  constraints: string | null
}

export function slotColumns(
  slot: Omit<NewSlot, 'zoneId' | 'warehouseId'>,
  warehouseId: number,
  zoneId: number | null,
): SlotColumns {
  return {
    slot_id: slot.slot_id,
    warehouse_id: warehouseId,
    zone_id: zoneId,
    zone: slot.zone,
    zone_type: slot.zone_type ?? null,
    floor_plan_polygon: JSON.stringify(slot.floor_plan_polygon),
    constraints: slot.constraints ? JSON.stringify(slot.constraints) : null,
  }
}

export function insertSlot(tx: Tx, columns: SlotColumns, nowMs: number): number {
  return tx.run(newSlotRow, { ...columns, label_key: matchedName(columns.slot_id), ...stamp(nowMs) }).lastId
}

export type SlotChanges = Partial<SlotColumns & { retired_at_ms: number | null }>

/** Of the changes, those that are none yet. */
export function differingColumns(tx: ReadTx, id: number, changes: SlotChanges): SlotChanges {
  const row: Record<string, unknown> | undefined = tx.get(slotRow, { id })
  return Object.fromEntries(Object.entries(changes).filter(([column, value]) => row?.[column] !== value))
}

export function updateSlot(tx: Tx, id: number, changes: SlotChanges, nowMs: number): void {
  const row = { ...changes, updated_at_ms: nowMs }
  tx.run(
    sql
      .updateTable('slot')
      .set(row)
      .set((eb) => ({ version: eb('version', '+', 1) }))
      .where('id', '=', id),
  )
}

export function findSlot(tx: ReadTx, id: number): Slot | undefined {
  const row = tx.get(slotById, [id])
  return row && slotOf(row)
}

/**
 * The slot with this label: as written, else the only one whose label is the same after NFC and trimming, in any case.
 * Labels of an older gateway may differ in nothing else; then only the exact one is found.
 */
export function findSlotByCode(tx: ReadTx, code: string): Slot | undefined {
  const row = tx.get(slotByCode, [code])
  if (row) return slotOf(row)
  const alike = tx.all(slotsLike, [matchedName(code)])
  return alike.length === 1 && alike[0] ? slotOf(alike[0]) : undefined
}

/** A slot whose label is the same after NFC and trimming, in any case. */
export function findSlotLike(tx: ReadTx, code: string): { slot_id: string } | undefined {
  return tx.get(labelLike, { label_key: matchedName(code) })
}

/** Gives slots and zones of earlier gateways the text by which they are found. Of two that are the same, each stays. */
export function keepMatchedTexts(tx: Tx): void {
  for (const { id, slot_id } of tx.all(slotsWithoutKey)) tx.run(newLabelKey, { id, label_key: matchedName(slot_id) })
  for (const { id, warehouse_id, name, name_key } of tx.all(allZones)) {
    const key = matchedName(name)
    if (key === name_key || findZoneByName(tx, warehouse_id, name)) continue
    tx.run(newNameKey, { id, name_key: key })
  }
}

/** One page of the slots as JSON, in the order of their ids, and how many there are in all, without those of hidden warehouses. */
export function pageOfSlotTexts(
  tx: ReadTx,
  { limit, offset, zoneId, hidden }: { limit: number; offset: number; zoneId?: number | undefined; hidden: number[] },
): { slots: SlotText[]; total: number } {
  const kept = { withoutHidden: hidden.length > 0, inZone: zoneId !== undefined }
  const values = [...(kept.withoutHidden ? [JSON.stringify(hidden)] : []), ...(zoneId === undefined ? [] : [zoneId])]
  const rows = tx.all(slotPage(kept), [...values, limit, offset])
  return { slots: rows.map(textOf), total: tx.get(countedSlots(kept), values)?.n ?? 0 }
}

/** Slots in the order of their ids, `limit` of them behind `afterId`. */
export function listSlots(tx: ReadTx, afterId: number, limit: number, zoneId?: number): Slot[] {
  return rowsBehind(tx, afterId, limit, zoneId).map(slotOf)
}

/** The same slots as JSON. */
export function listSlotTexts(tx: ReadTx, afterId: number, limit: number, zoneId?: number): SlotText[] {
  return rowsBehind(tx, afterId, limit, zoneId).map(textOf)
}

const textOf = (row: SlotRow): SlotText => ({ id: row.id, warehouseId: row.warehouse_id, members: membersOf(row) })

function rowsBehind(tx: ReadTx, afterId: number, limit: number, zoneId: number | undefined) {
  const isInZone = zoneId !== undefined
  return tx.all(slotsBehind(isInZone), [afterId, ...(isInZone ? [zoneId] : []), limit])
}

/** The label of a slot, for any caller. */
export function labelOf(tx: ReadTx, slotId: number): string | undefined {
  return tx.get(labelById, { id: slotId })?.slot_id
}

/** Slots behind an id with the names of their zone and warehouse, retired ones too, for any caller. */
export function slotsFrom(tx: ReadTx, id: number, limit: number) {
  return tx.all(slotsWithPlace, [id, limit])
}

/** The warehouse of a slot, for any caller. */
export function warehouseOfSlotId(tx: ReadTx, id: number): number | undefined {
  return tx.get(placeOfSlot, { id })?.warehouse_id
}

/** The warehouse of a zone, for any caller. */
export function warehouseOfZone(tx: ReadTx, id: number): number | undefined {
  return tx.get(placeOfZone, { id })?.warehouse_id
}

/** The slots of these warehouses; a slot never changes its warehouse. */
export function slotIdsIn(tx: ReadTx, warehouses: readonly number[]): number[] {
  return tx.all(slotsOfWarehouses, [JSON.stringify(warehouses)]).map(({ id }) => id)
}

/** Where the next slots behind one are. */
export function slotPlaces(tx: ReadTx, afterId: number, limit: number) {
  return tx.all(nextSlots, [afterId, limit])
}
