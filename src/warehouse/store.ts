import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, type RowOf, type Tx } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import { matchedName } from './barcodes/matched-text.ts'
import type { Point } from './plans/polygon.ts'
import { dropPlanImage, findPlanImage, keepPlanImage } from './plans/store.ts'
import type { NewWarehouse, NewZone, WarehouseChange, ZoneChange, ZoneType } from './schema.ts'
import { sql, tables } from './tables.ts'

export type Row<Name extends keyof typeof tables> = RowOf<(typeof tables)[Name]>

export const times = (row: { created_at_ms: number; updated_at_ms: number; version: number | unknown }) => ({
  version: row.version as number,
  createdAt: isoTime(row.created_at_ms),
  updatedAt: isoTime(row.updated_at_ms),
})

export type Warehouse = ReturnType<typeof warehouseOf>
export type Zone = ReturnType<typeof zoneOf>

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

export const stamp = (nowMs: number) => ({ created_at_ms: nowMs, updated_at_ms: nowMs })

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
const zonesByName = built(pick(tables.zone, 'name_key'), ({ name_key }) =>
  sql.selectFrom('zone').selectAll().where('name_key', '=', name_key),
)
const allZones = built({}, () => sql.selectFrom('zone').selectAll().orderBy('id'))
const newNameKey = built(pick(tables.zone, 'id', 'name_key'), ({ id, name_key }) =>
  sql.updateTable('zone').set({ name_key }).where('id', '=', id),
)

const newVersion = built(pick(tables.warehouse, 'id', 'updated_at_ms'), ({ id, updated_at_ms }) =>
  sql
    .updateTable('warehouse')
    .set((warehouse) => ({ version: warehouse('version', '+', raw.lit(1)), updated_at_ms }))
    .where('id', '=', id),
)
const placeOfZone = built(byId, ({ id }) => sql.selectFrom('zone').select('warehouse_id').where('id', '=', id))
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

type WarehouseColumns = { name?: string; timezone?: string; lat?: number | null; lng?: number | null }

/** @returns the fields that the change gives another value */
export function changeWarehouse(tx: Tx, old: Warehouse, change: WarehouseChange, nowMs: number): string[] {
  const { name, timezone, location } = change
  const isElsewhere = location !== undefined && !isSamePoint(location, old.location)
  const columns: WarehouseColumns = {
    ...(name !== undefined && name !== old.name && { name }),
    ...(timezone !== undefined && timezone !== old.timezone && { timezone }),
    ...(isElsewhere && (location ?? { lat: null, lng: null })),
  }
  const isMoved = changePlanImage(tx, old, change.floorPlanImage)
  const changed = changeRow(tx, 'warehouse', old.id, columns, nowMs)
  if (isMoved && changed.length === 0) bumpWarehouse(tx, old.id, nowMs)
  return [
    ...changed.filter((column) => column !== 'lat' && column !== 'lng'),
    ...(isElsewhere ? ['location'] : []),
    ...(isMoved ? ['floorPlanImage'] : []),
  ]
}

type LatLng = NonNullable<Warehouse['location']>
const isSamePoint = (a: LatLng | null, b: LatLng | null): boolean => a?.lat === b?.lat && a?.lng === b?.lng

/** Gives the picture of a warehouse another place, or removes it. Returns whether that changes anything. */
function changePlanImage(
  tx: Tx,
  { id, floorPlanImage }: Warehouse,
  change: WarehouseChange['floorPlanImage'],
): boolean {
  if (change === undefined || !floorPlanImage) return false
  if (change === null) {
    dropPlanImage(tx, id)
    return true
  }
  const place = { ...floorPlanImage.place, ...withoutAbsent(change.place ?? {}) }
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
  tx.run(newVersion, { id, updated_at_ms: nowMs })
}

const defaultColor = '#808080'

/** @returns the fields that the change gives another value */
export function changeZone(tx: Tx, old: Zone, change: ZoneChange, nowMs: number): string[] {
  const { name, zone_type, floor_plan_polygon: outline } = change
  const color = change.color === null ? defaultColor : change.color
  const drawn = outline === undefined ? undefined : outlineText(outline ?? [])
  const columns = {
    ...(name !== undefined && name !== old.name && { name, name_key: matchedName(name) }),
    ...(zone_type !== undefined && zone_type !== old.zone_type && { zone_type }),
    ...(color !== undefined && color !== old.color && { color }),
    ...(drawn !== undefined && drawn !== outlineText(old.floor_plan_polygon ?? []) && { floor_plan_polygon: drawn }),
  }
  return changeRow(tx, 'zone', old.id, columns, nowMs).filter((column) => column !== 'name_key')
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

export function insertZone(tx: Tx, zone: NewZone, nowMs: number): number {
  const row = {
    warehouse_id: zone.warehouseId,
    name: zone.name,
    name_key: matchedName(zone.name),
    zone_type: zone.zone_type,
    color: zone.color ?? defaultColor,
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

/** Returns the zones of all warehouses with this name, in any case. */
export function zonesNamed(tx: ReadTx, name: string): Zone[] {
  return tx.all(zonesByName, { name_key: matchedName(name) }).map(zoneOf)
}

export function listZones(tx: ReadTx): Zone[] {
  return tx.all(allZones).map(zoneOf)
}

/**
 * Gives zones of earlier gateways the text by which they are found. A zone keeps its old text when another one has the new text
 * already.
 */
export function keepNameKeys(tx: Tx): void {
  for (const { id, warehouse_id, name, name_key } of tx.all(allZones)) {
    const key = matchedName(name)
    if (key === name_key || findZoneByName(tx, warehouse_id, name)) continue
    tx.run(newNameKey, { id, name_key: key })
  }
}

/** Returns the warehouse of a zone, for any caller. */
export function warehouseOfZone(tx: ReadTx, id: number): number | undefined {
  return tx.get(placeOfZone, { id })?.warehouse_id
}
