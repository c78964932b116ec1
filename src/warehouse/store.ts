import { type Query, type ReadTx, sql, type Tables, type Tx } from '../database/index.ts'
import { isoTime } from '../world/index.ts'
import type { AssetChange, AssetType, NewAsset, NewSlot, NewWarehouse, NewZone, ZoneType } from './schema.ts'

type Row<Name extends keyof Tables> = {
  [K in keyof Tables[Name]]: K extends 'id' | 'version' ? number : Tables[Name][K]
}

const times = (row: { created_at_ms: number; updated_at_ms: number; version: number | unknown }) => ({
  version: row.version as number,
  createdAt: isoTime(row.created_at_ms),
  updatedAt: isoTime(row.updated_at_ms),
})

export type Warehouse = ReturnType<typeof warehouseOf>
export type Zone = ReturnType<typeof zoneOf>
export type Slot = ReturnType<typeof slotOf>
export type Asset = ReturnType<typeof assetOf>

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

function assetOf(row: Row<'asset'>) {
  return {
    id: row.id,
    asset_id: row.asset_id,
    type: row.type as AssetType | null,
    weight_kg: row.weight_kg,
    dimensions:
      row.dimensions === null
        ? null
        : (JSON.parse(row.dimensions) as { length: number; width: number; height: number }),
    provisional: row.provisional === 1,
    ...times(row),
  }
}

const stamp = (nowMs: number) => ({ created_at_ms: nowMs, updated_at_ms: nowMs })

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

export const nameKey = (name: string): string => name.normalize('NFC').toLowerCase()

export function insertZone(tx: Tx, zone: NewZone & { color: string }, nowMs: number): number {
  const row = {
    warehouse_id: zone.warehouseId,
    name: zone.name,
    name_key: nameKey(zone.name),
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
      .where('name_key', '=', nameKey(name)) as Query<Row<'zone'>>,
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
  const adopted = waiting.filter((slot) => nameKey(slot.zone) === nameKey(zone.name))
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
  return tx.run(sql.insertInto('slot').values({ ...columns, retired_at_ms: null, ...stamp(nowMs) })).lastId
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

export function findSlotByCode(tx: ReadTx, code: string): Slot | undefined {
  const row = tx.oneOf<SlotRow>(`${slotSelect} WHERE slot.slot_id = +?`, [code])
  return row && slotOf(row)
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

const dimensionsOf = (asset: NewAsset) => (asset.dimensions ? JSON.stringify(asset.dimensions) : null)

export function insertAsset(tx: Tx, asset: NewAsset, key: string, nowMs: number): number {
  const row = {
    asset_id: asset.asset_id,
    asset_key: key,
    type: asset.type,
    weight_kg: asset.weight_kg ?? null,
    dimensions: dimensionsOf(asset),
    provisional: 0,
    ...stamp(nowMs),
  }
  return tx.run(sql.insertInto('asset').values(row)).lastId
}

/** Writes down a barcode that nobody registered. */
export function insertProvisionalAsset(tx: Tx, barcode: string, key: string, nowMs: number): void {
  tx.runOf(
    `INSERT INTO asset (asset_id, asset_key, type, weight_kg, dimensions, provisional, created_at_ms, updated_at_ms)
     VALUES (?, ?, NULL, NULL, NULL, 1, ?, ?)`,
    [barcode, key, nowMs, nowMs],
  )
}

export function updateAsset(tx: Tx, id: number, asset: NewAsset, nowMs: number): void {
  tx.runOf(
    `UPDATE asset SET asset_id = ?, type = ?, weight_kg = ?, dimensions = ?, provisional = 0, version = version + 1, updated_at_ms = ?
     WHERE id = ?`,
    [asset.asset_id, asset.type, asset.weight_kg ?? null, dimensionsOf(asset), nowMs, id],
  )
}

/** @returns whether anything of it was new */
export function changeAsset(tx: Tx, old: Asset, change: Omit<AssetChange, 'asset_id'>, nowMs: number): boolean {
  const type = change.type ?? old.type
  const weightKg = change.weight_kg ?? old.weight_kg
  const dimensions = JSON.stringify(change.dimensions ?? old.dimensions)
  const isSame = type === old.type && weightKg === old.weight_kg && dimensions === JSON.stringify(old.dimensions)
  if (isSame) return false
  tx.runOf(
    `UPDATE asset SET type = ?, weight_kg = ?, dimensions = ?, provisional = ?, version = version + 1, updated_at_ms = ?
     WHERE id = ?`,
    [type, weightKg, dimensions === 'null' ? null : dimensions, type === null ? 1 : 0, nowMs, old.id],
  )
  return true
}

export function findAssetByKey(tx: ReadTx, key: string): Asset | undefined {
  const row = tx.oneOf<Row<'asset'>>('SELECT * FROM asset WHERE asset_key = ?', [key])
  return row && assetOf(row)
}

export function listAssets(tx: ReadTx): Asset[] {
  return tx.allOf<Row<'asset'>>('SELECT * FROM asset ORDER BY id').map(assetOf)
}
