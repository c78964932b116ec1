import { sql as raw } from 'kysely'
import { built, integer, maybe, pick, type ReadTx, statement, statements, type Tx, text } from '../database/index.ts'
import { isoTime } from '../platform/index.ts'
import { matchedName } from './barcodes/matched-text.ts'
import type { AssetType, NewSlot, ZoneType } from './schema.ts'
import { type Row, stamp, times, type Zone } from './store.ts'
import { sql, tables } from './tables.ts'

export type Slot = ReturnType<typeof slotOf>
/** `members`: the slot as a JSON object without its braces. */
export type SlotText = { readonly id: number; readonly warehouseId: number; readonly members: string }

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

/** Returns the text of `JSON.stringify(slotOf(row))` without its braces, in half the time: JSON of the row stays as it is. */
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

/** The slots, for a join in SQL. */
export const slots = 'main.slot'

/**
 * Returns SQL for a text that changes with the row of a slot: every change of it counts up its version. A slot in a list changes
 * with this text and with `zoneMarks`. `alias`: the slot's in the statement around it.
 */
export const slotMark = (alias: string): string => `${alias}.id || ',' || ${alias}.version`

/** Returns SQL for the warehouse of a slot; `slot`: its id in the statement around it. */
export const warehouseOfSlot = (slot: string): string => `(SELECT warehouse_id FROM main.slot WHERE id = ${slot})`

const byId = { id: integer }
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
const newZoneLabel = built(pick(tables.slot, 'id', 'zone', 'updated_at_ms'), ({ id, ...facts }) =>
  sql
    .updateTable('slot')
    .set((slot) => ({ ...facts, version: slot('version', '+', raw.lit(1)) }))
    .where('id', '=', id),
)
const newZoneOfSlot = built(pick(tables.slot, 'id', 'zone_id', 'updated_at_ms'), ({ id, ...facts }) =>
  sql
    .updateTable('slot')
    .set((slot) => ({ ...facts, version: slot('version', '+', raw.lit(1)) }))
    .where('id', '=', id),
)
const labelLike = built({ label_key: text }, ({ label_key }) =>
  sql.selectFrom('slot').select('slot_id').where('label_key', '=', label_key).limit(1),
)
const slice = { id: integer, limit: integer }
const slotsWithPlace = built(slice, ({ id, limit }) =>
  sql
    .selectFrom('slot as s')
    .innerJoin('warehouse as w', 'w.id', 's.warehouse_id')
    .select(['s.id', 's.slot_id', 's.zone', 'w.name as warehouse', 's.retired_at_ms'])
    .where('s.id', '>', id)
    .orderBy('s.id')
    .limit(limit),
)
const slotsPlaced = statement({
  columns: { id: integer, slot_id: text, zone: text, warehouse: text, retired_at_ms: maybe(integer) },
  sql: `SELECT s.id, s.slot_id, s.zone, w.name AS warehouse, s.retired_at_ms FROM slot s JOIN warehouse w ON w.id = s.warehouse_id
    WHERE s.id IN (SELECT value FROM json_each(?)) ORDER BY s.id`,
})
const labelById = built(byId, ({ id }) => sql.selectFrom('slot').select('slot_id').where('id', '=', id))
const placeOfSlot = built(byId, ({ id }) => sql.selectFrom('slot').select('warehouse_id').where('id', '=', id))
const slotsOfWarehouses = statement({
  columns: { id: integer },
  sql: 'SELECT id FROM main.slot WHERE warehouse_id IN (SELECT value FROM json_each(?))',
})
const nextSlots = built(slice, ({ id, limit }) =>
  sql.selectFrom('slot').select(['id', 'zone_id', 'warehouse_id']).where('id', '>', id).orderBy('id').limit(limit),
)

const typesOfZones = statement({
  columns: { marks: maybe(text) },
  sql: `SELECT group_concat(id || ',' || zone_type, ';') AS marks FROM main.zone`,
})

/** Returns a text that changes with the type that a slot has from its zone. */
export function zoneMarks(tx: ReadTx): string {
  return tx.get(typesOfZones)?.marks ?? ''
}

/** Gives the slots of a zone that have its old name the new one. */
export function renameLabels(tx: Tx, zone: Zone, oldName: string, nowMs: number): number {
  const labelled = tx.all(slotsOfZone, { zone_id: zone.id })
  const named = labelled.filter((slot) => matchedName(slot.zone) === matchedName(oldName) && slot.zone !== zone.name)
  for (const { id } of named) tx.run(newZoneLabel, { id, zone: zone.name, updated_at_ms: nowMs })
  return named.length
}

/** Puts slots into the zone when their label matches it now and matched none before. */
export function adoptSlots(tx: Tx, zone: Zone, nowMs: number): number {
  const waiting = tx.all(slotsWithoutZone, { warehouse_id: zone.warehouseId })
  const adopted = waiting.filter((slot) => matchedName(slot.zone) === matchedName(zone.name))
  for (const slot of adopted) tx.run(newZoneOfSlot, { id: slot.id, zone_id: zone.id, updated_at_ms: nowMs })
  return adopted.length
}

const slotSelect = `SELECT slot.*, zone.zone_type AS type_of_zone FROM slot LEFT JOIN zone ON zone.id = slot.zone_id`
const slotColumnsRead = { ...tables.slot, type_of_zone: maybe(text) }
const slotById = statement({ columns: slotColumnsRead, sql: `${slotSelect} WHERE slot.id = +?` })
const slotByCode = statement({ columns: slotColumnsRead, sql: `${slotSelect} WHERE slot.slot_id = +?` })
const slotsLike = statement({ columns: slotColumnsRead, sql: `${slotSelect} WHERE slot.label_key = +? LIMIT 2` })

/** All given conditions must hold. */
export type SlotFilter = {
  readonly zoneId?: number | undefined
  readonly warehouseId?: number | undefined
  /** The zone that the slot shows, in any case. */
  readonly zone?: string | undefined
}

type Conditions = { readonly parts: readonly string[]; readonly values: readonly (string | number)[] }

/** `zones`: the texts of `zone` that the filter means, as a list in JSON. */
function conditionsOf({ zoneId, warehouseId }: SlotFilter, zones?: string, hidden: readonly number[] = []): Conditions {
  const given: [string, string | number | undefined][] = [
    [
      'slot.warehouse_id NOT IN (SELECT value FROM json_each(+?))',
      hidden.length > 0 ? JSON.stringify(hidden) : undefined,
    ],
    ['slot.zone_id = +?', zoneId],
    ['slot.zone IN (SELECT value FROM json_each(+?))', zones],
    ['slot.warehouse_id = +?', warehouseId],
  ]
  const kept = given.filter((one): one is [string, string | number] => one[1] !== undefined)
  return { parts: kept.map(([part]) => part), values: kept.map(([, value]) => value) }
}

const everyCondition = conditionsOf({ zoneId: 1, warehouseId: 1 }, '[]', [1]).parts
const conditionSamples = [[[]], ...everyCondition.map((part) => [[part]]), [everyCondition]] as [readonly string[]][]
const where = (parts: readonly string[]) => (parts.length === 0 ? '' : ` WHERE ${parts.join(' AND ')}`)
const slotPage = statements({
  columns: slotColumnsRead,
  sql: (parts: readonly string[]) =>
    `${slotSelect} WHERE slot.id IN (SELECT id FROM slot${where(parts)} ORDER BY slot.id LIMIT ? OFFSET ?) ORDER BY slot.id`,
  samples: conditionSamples,
})
const countedSlots = statements({
  columns: { n: integer },
  sql: (parts: readonly string[]) => `SELECT count(*) AS n FROM slot${where(parts)}`,
  samples: conditionSamples,
})
const slotsBehind = statements({
  columns: slotColumnsRead,
  sql: (parts: readonly string[]) => `${slotSelect}${where(['slot.id > +?', ...parts])} ORDER BY slot.id LIMIT ?`,
  samples: conditionSamples,
})
/** One seek for each text; DISTINCT would walk the index of all slots. */
const shownZones = statement({
  columns: { zone: text },
  sql: `WITH RECURSIVE shown (zone) AS (
      SELECT min(zone) FROM slot UNION ALL
      SELECT (SELECT min(zone) FROM slot WHERE slot.zone > shown.zone) FROM shown WHERE shown.zone IS NOT NULL)
    SELECT zone FROM shown WHERE zone IS NOT NULL`,
})

/** Returns as JSON the texts under which slots show this zone: it is compared in any case, which SQL cannot. */
function zoneTexts(tx: ReadTx, zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined
  const key = matchedName(zone)
  const shown = tx.all(shownZones).map((row) => row.zone)
  return JSON.stringify(shown.filter((one) => matchedName(one) === key))
}

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

/** Returns the changes that differ from the row. */
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
 * Returns the slot with this label: as written, else the only one whose label is the same after NFC and trimming, in any case.
 * Labels of an older gateway may differ in nothing else; then only the exact one is found.
 */
export function findSlotByCode(tx: ReadTx, code: string): Slot | undefined {
  const row = tx.get(slotByCode, [code])
  if (row) return slotOf(row)
  const alike = tx.all(slotsLike, [matchedName(code)])
  return alike.length === 1 && alike[0] ? slotOf(alike[0]) : undefined
}

/** Returns a slot whose label is the same after NFC and trimming, in any case. */
export function findSlotLike(tx: ReadTx, code: string): { slot_id: string } | undefined {
  return tx.get(labelLike, { label_key: matchedName(code) })
}

/** Gives slots of earlier gateways the text by which they are found. Slots with equal texts all stay. */
export function keepLabelKeys(tx: Tx): void {
  for (const { id, slot_id } of tx.all(slotsWithoutKey)) tx.run(newLabelKey, { id, label_key: matchedName(slot_id) })
}

/**
 * Returns one page of the slots as JSON in the order of their ids, and the number of all slots, without those of hidden warehouses.
 */
export function pageOfSlotTexts(
  tx: ReadTx,
  { limit, offset, hidden, ...filter }: SlotFilter & { limit: number; offset: number; hidden: readonly number[] },
): { slots: SlotText[]; total: number } {
  const { parts, values } = conditionsOf(filter, zoneTexts(tx, filter.zone), hidden)
  const rows = tx.all(slotPage(parts), [...values, limit, offset])
  return { slots: rows.map(textOf), total: tx.get(countedSlots(parts), values)?.n ?? 0 }
}

/** Returns slots in the order of their ids, `limit` of them behind `afterId`. */
export function listSlots(tx: ReadTx, afterId: number, limit: number, filter: SlotFilter): Slot[] {
  return rowsBehind(tx, afterId, limit, filter).map(slotOf)
}

/** Returns the same slots as JSON. */
export function listSlotTexts(tx: ReadTx, afterId: number, limit: number, filter: SlotFilter = {}): SlotText[] {
  return rowsBehind(tx, afterId, limit, filter).map(textOf)
}

const textOf = (row: SlotRow): SlotText => ({ id: row.id, warehouseId: row.warehouse_id, members: membersOf(row) })

function rowsBehind(tx: ReadTx, afterId: number, limit: number, filter: SlotFilter) {
  const { parts, values } = conditionsOf(filter, zoneTexts(tx, filter.zone))
  return tx.all(slotsBehind(parts), [afterId, ...values, limit])
}

/** Returns the label of a slot, for any caller. */
export function labelOf(tx: ReadTx, slotId: number): string | undefined {
  return tx.get(labelById, { id: slotId })?.slot_id
}

/** Returns slots behind an id with the names of their zone and warehouse, retired ones too, for any caller. */
export function slotsFrom(tx: ReadTx, id: number, limit: number) {
  return tx.all(slotsWithPlace, { id, limit })
}

/** Returns the same of these slots. */
export function slotsWithNames(tx: ReadTx, ids: readonly number[]) {
  return tx.all(slotsPlaced, [JSON.stringify(ids)])
}

/** Returns the warehouse of a slot, for any caller. */
export function warehouseOfSlotId(tx: ReadTx, id: number): number | undefined {
  return tx.get(placeOfSlot, { id })?.warehouse_id
}

/** Returns the slots of these warehouses; a slot never changes its warehouse. */
export function slotIdsIn(tx: ReadTx, warehouses: readonly number[]): number[] {
  return tx.all(slotsOfWarehouses, [JSON.stringify(warehouses)]).map(({ id }) => id)
}

/** Returns the places of the next slots behind one. */
export function slotPlaces(tx: ReadTx, afterId: number, limit: number) {
  return tx.all(nextSlots, { id: afterId, limit })
}
