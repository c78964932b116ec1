import { type Query, type ReadTx, sql, type Tables, type Tx } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import { matchedName } from './matched-text.ts'
import type { AssetType, NewSlot, NewWarehouse, NewZone, WarehouseChange, ZoneChange, ZoneType } from './schema.ts'

export type Row<Name extends keyof Tables> = {
  [K in keyof Tables[Name]]: K extends 'id' | 'version' ? number : Tables[Name][K]
}

export const times = (row: { created_at_ms: number; updated_at_ms: number; version: number | unknown }) => ({
  version: row.version as number,
  createdAt: isoTime(row.created_at_ms),
  updatedAt: isoTime(row.updated_at_ms),
})

export type Warehouse = ReturnType<typeof warehouseOf>
export type Zone = ReturnType<typeof zoneOf>
export type Slot = ReturnType<typeof slotOf>

function warehouseOf(row: Row<'warehouse'>) {
  const location = row.lat === null || row.lng === null ? null : { lat: row.lat, lng: row.lng }
  return { id: row.id, name: row.name, location, timezone: row.timezone, ...times(row) }
}

function zoneOf(row: Row<'zone'>) {
  return {
    id: row.id,
    name: row.name,
    zone_type: row.zone_type as ZoneType,
    color: row.color,
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

export const stamp = (nowMs: number) => ({ created_at_ms: nowMs, updated_at_ms: nowMs })

export function insertWarehouse(tx: Tx, warehouse: NewWarehouse, nowMs: number): number {
  const { name, timezone, location } = warehouse
  const row = { name, timezone, lat: location?.lat ?? null, lng: location?.lng ?? null, ...stamp(nowMs) }
  return tx.run(sql.insertInto('warehouse').values(row)).lastId
}

export function findWarehouse(tx: ReadTx, id: number): Warehouse | undefined {
  const row = tx.get(sql.selectFrom('warehouse').selectAll().where('id', '=', id) as Query<Row<'warehouse'>>)
  return row && warehouseOf(row)
}

export function listWarehouses(tx: ReadTx): Warehouse[] {
  return tx.all(sql.selectFrom('warehouse').selectAll().orderBy('id') as Query<Row<'warehouse'>>).map(warehouseOf)
}

export function warehouseIds(tx: ReadTx): number[] {
  return tx.allOf<{ id: number }>('SELECT id FROM warehouse ORDER BY id').map(({ id }) => id)
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
  return changeRow(tx, 'warehouse', old.id, columns, nowMs)
}

/** @returns the columns that the change gives another value */
export function changeZone(tx: Tx, old: Zone, change: ZoneChange, nowMs: number): string[] {
  const { name, zone_type, color } = change
  const columns = {
    ...(name !== undefined && name !== old.name && { name, name_key: matchedName(name) }),
    ...(zone_type !== undefined && zone_type !== old.zone_type && { zone_type }),
    ...(color !== undefined && color !== old.color && { color }),
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

/** The slots of a zone that bear its old name bear the new one. */
export function renameLabels(tx: Tx, zone: Zone, oldName: string, nowMs: number): number {
  const slots = tx.allOf<{ id: number; zone: string }>('SELECT id, zone FROM slot WHERE zone_id = +?', [zone.id])
  const named = slots.filter((slot) => matchedName(slot.zone) === matchedName(oldName) && slot.zone !== zone.name)
  for (const { id } of named)
    tx.runOf('UPDATE slot SET zone = ?, version = version + 1, updated_at_ms = ? WHERE id = ?', [zone.name, nowMs, id])
  return named.length
}

export function insertZone(tx: Tx, zone: NewZone & { color: string }, nowMs: number): number {
  const row = {
    warehouse_id: zone.warehouseId,
    name: zone.name,
    name_key: matchedName(zone.name),
    zone_type: zone.zone_type,
    color: zone.color,
    ...stamp(nowMs),
  }
  return tx.run(sql.insertInto('zone').values(row)).lastId
}

export function findZone(tx: ReadTx, id: number): Zone | undefined {
  const row = tx.get(sql.selectFrom('zone').selectAll().where('id', '=', id) as Query<Row<'zone'>>)
  return row && zoneOf(row)
}

export function findZoneByName(tx: ReadTx, warehouseId: number, name: string): Zone | undefined {
  const row = tx.get(
    sql
      .selectFrom('zone')
      .selectAll()
      .where('warehouse_id', '=', warehouseId)
      .where('name_key', '=', matchedName(name)) as Query<Row<'zone'>>,
  )
  return row && zoneOf(row)
}

export function listZones(tx: ReadTx): Zone[] {
  return tx.all(sql.selectFrom('zone').selectAll().orderBy('id') as Query<Row<'zone'>>).map(zoneOf)
}

/** Slots whose label matched no zone yet, and now does. */
export function adoptSlots(tx: Tx, zone: Zone, nowMs: number): number {
  const waiting = tx.allOf<{ id: number; zone: string }>(
    'SELECT id, zone FROM slot WHERE zone_id IS NULL AND warehouse_id = ?',
    [zone.warehouseId],
  )
  const adopted = waiting.filter((slot) => matchedName(slot.zone) === matchedName(zone.name))
  for (const slot of adopted)
    tx.runOf('UPDATE slot SET zone_id = ?, version = version + 1, updated_at_ms = ? WHERE id = ?', [
      zone.id,
      nowMs,
      slot.id,
    ])
  return adopted.length
}

const slotSelect = `SELECT slot.*, zone.zone_type AS type_of_zone FROM slot LEFT JOIN zone ON zone.id = slot.zone_id`
type SlotRow = Row<'slot'> & { type_of_zone: string | null }

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
  const row = { ...columns, label_key: matchedName(columns.slot_id), retired_at_ms: null, ...stamp(nowMs) }
  return tx.run(sql.insertInto('slot').values(row)).lastId
}

export type SlotChanges = Partial<SlotColumns & { retired_at_ms: number | null }>

/** Of the changes, those that are none yet. */
export function differingColumns(tx: ReadTx, id: number, changes: SlotChanges): SlotChanges {
  const row = tx.oneOf<Record<string, unknown>>('SELECT * FROM slot WHERE id = ?', [id])
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
  const row = tx.oneOf<SlotRow>(`${slotSelect} WHERE slot.id = +?`, [id])
  return row && slotOf(row)
}

/**
 * The slot with this label: as written, else the only one whose label is the same after NFC and trimming, in any case.
 * Labels of an older gateway may differ in nothing else; then only the exact one is found.
 */
export function findSlotByCode(tx: ReadTx, code: string): Slot | undefined {
  const row = tx.oneOf<SlotRow>(`${slotSelect} WHERE slot.slot_id = +?`, [code])
  if (row) return slotOf(row)
  const alike = tx.allOf<SlotRow>(`${slotSelect} WHERE slot.label_key = +? LIMIT 2`, [matchedName(code)])
  return alike.length === 1 && alike[0] ? slotOf(alike[0]) : undefined
}

/** A slot whose label is the same after NFC and trimming, in any case. */
export function findSlotLike(tx: ReadTx, code: string): { slot_id: string } | undefined {
  return tx.oneOf('SELECT slot_id FROM slot WHERE label_key = +? LIMIT 1', [matchedName(code)])
}

/** Gives slots and zones of earlier gateways the text by which they are found. Of two that are the same, each stays. */
export function keepMatchedTexts(tx: Tx): void {
  for (const { id, slot_id } of tx.allOf<{ id: number; slot_id: string }>(
    'SELECT id, slot_id FROM slot WHERE label_key IS NULL',
    [],
  ))
    tx.runOf('UPDATE slot SET label_key = ? WHERE id = ?', [matchedName(slot_id), id])
  const zones = tx.allOf<Pick<Row<'zone'>, 'id' | 'warehouse_id' | 'name' | 'name_key'>>(
    'SELECT id, warehouse_id, name, name_key FROM zone ORDER BY id',
    [],
  )
  for (const { id, warehouse_id, name, name_key } of zones) {
    const key = matchedName(name)
    if (key === name_key || findZoneByName(tx, warehouse_id, name)) continue
    tx.runOf('UPDATE zone SET name_key = ? WHERE id = ?', [key, id])
  }
}

/** One page of the slots in the order of their ids, and how many there are in all, without those of hidden warehouses. */
export function pageOfSlots(
  tx: ReadTx,
  { limit, offset, zoneId, hidden }: { limit: number; offset: number; zoneId?: number | undefined; hidden: number[] },
): { slots: Slot[]; total: number } {
  const parts = [
    ...(hidden.length === 0 ? [] : ['slot.warehouse_id NOT IN (SELECT value FROM json_each(+?))']),
    ...(zoneId === undefined ? [] : ['slot.zone_id = +?']),
  ]
  const where = parts.length === 0 ? '' : ` WHERE ${parts.join(' AND ')}`
  const values = [...(hidden.length === 0 ? [] : [JSON.stringify(hidden)]), ...(zoneId === undefined ? [] : [zoneId])]
  const rows = tx.allOf<SlotRow>(
    `${slotSelect} WHERE slot.id IN (SELECT id FROM slot${where} ORDER BY slot.id LIMIT ? OFFSET ?) ORDER BY slot.id`,
    [...values, limit, offset],
  )
  const counted = tx.oneOf<{ n: number }>(`SELECT count(*) AS n FROM slot${where}`, values)
  return { slots: rows.map(slotOf), total: counted?.n ?? 0 }
}

/** Slots in the order of their ids, `limit` of them behind `afterId`. */
export function listSlots(tx: ReadTx, afterId: number, limit: number, zoneId?: number): Slot[] {
  const inZone = zoneId === undefined ? '' : ' AND slot.zone_id = +?'
  const rows = tx.allOf<SlotRow>(`${slotSelect} WHERE slot.id > +?${inZone} ORDER BY slot.id LIMIT ?`, [
    afterId,
    ...(zoneId === undefined ? [] : [zoneId]),
    limit,
  ])
  return rows.map(slotOf)
}
