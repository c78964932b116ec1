import { column, times } from '../store/arrays.ts'
import type { HubTx, HubWrite } from '../store/database.ts'
import { fromHead, hubStatement } from '../store/statement.ts'
import type { UnitFact } from './facts.ts'

// A gateway sends all of its rows again now and then, mostly as they are here: those are not written, and keep their version.
const factsOf = (row: string) => `(${row}.sscc, ${row}.gtin, ${row}.lot, ${row}.best_before, ${row}.serial)`
const placeOf = (row: string) => `(${row}.slot_code, ${row}.zone, ${row}.warehouse, ${row}.is_retired)`

const newAssets = hubStatement(
  'put-assets',
  `INSERT INTO asset (log_id, asset_key, sscc, gtin, lot, best_before, serial, version)
   SELECT h.log_id, x.asset_key, x.sscc, x.gtin, x.lot, x.best_before, x.serial, $8::bigint
   ${fromHead('$2::text[], $3::text[], $4::text[], $5::text[], $6::date[], $7::text[]')}
   (asset_key, sscc, gtin, lot, best_before, serial) WHERE h.log_id = $1
   ON CONFLICT (log_id, asset_key) DO UPDATE SET sscc = excluded.sscc, gtin = excluded.gtin, lot = excluded.lot,
     best_before = excluded.best_before, serial = excluded.serial, version = excluded.version
   WHERE excluded.version >= asset.version AND ${factsOf('asset')} IS DISTINCT FROM ${factsOf('excluded')}`,
)
const correctedAssets = hubStatement(
  'correct-assets',
  `UPDATE asset a SET sscc = x.sscc, gtin = x.gtin, lot = x.lot, best_before = x.best_before, serial = x.serial
   ${fromHead('$2::text[], $3::text[], $4::text[], $5::text[], $6::date[], $7::text[]')}
   (asset_key, sscc, gtin, lot, best_before, serial)
   WHERE a.log_id = $1 AND h.log_id = $1 AND a.asset_key = x.asset_key AND ${factsOf('a')} IS DISTINCT FROM ${factsOf('x')}`,
)
const newSlots = hubStatement(
  'put-slots',
  `INSERT INTO slot (log_id, slot_id, slot_code, zone, warehouse, is_retired, version)
   SELECT h.log_id, x.slot_id, x.slot_code, x.zone, x.warehouse, x.is_retired, $7::bigint
   ${fromHead('$2::integer[], $3::text[], $4::text[], $5::text[], $6::boolean[]')}
   (slot_id, slot_code, zone, warehouse, is_retired) WHERE h.log_id = $1
   ON CONFLICT (log_id, slot_id) DO UPDATE SET slot_code = excluded.slot_code, zone = excluded.zone,
     warehouse = excluded.warehouse, is_retired = excluded.is_retired, version = excluded.version
   WHERE excluded.version >= slot.version AND ${placeOf('slot')} IS DISTINCT FROM ${placeOf('excluded')}`,
)
const isNewerStep = '(excluded.at, excluded.seq) > (unit_state.at, unit_state.seq)'
/** The value of the newer step. */
const moved = (column: string) =>
  `${column} = CASE WHEN ${isNewerStep} THEN excluded.${column} ELSE unit_state.${column} END`
/** The same; where it has none, the value of the older step. */
const completed = (column: string) =>
  `${column} = CASE WHEN ${isNewerStep} THEN coalesce(excluded.${column}, unit_state.${column})
     ELSE coalesce(unit_state.${column}, excluded.${column}) END`
const mergedSteps = [
  ...['at', 'seq', 'status', 'stage'].map(moved),
  ...['direction', 'sscc', 'reference'].map(completed),
].join(', ')
const unitStates = hubStatement(
  'put-unit-states',
  `INSERT INTO unit_state (log_id, unit_id, at, seq, status, stage, direction, sscc, reference)
   SELECT h.log_id, x.unit_id, x.at, x.seq, x.status, x.stage, x.direction, x.sscc, x.reference
   ${fromHead('$2::text[], $3::timestamptz[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]')}
   (unit_id, at, seq, status, stage, direction, sscc, reference) WHERE h.log_id = $1
   ON CONFLICT (log_id, unit_id) DO UPDATE SET ${mergedSteps}`,
)

/** Data that is printed on an asset. */
export type AssetFact = {
  readonly key: string
  readonly sscc: string | null
  readonly gtin: string | null
  readonly lot: string | null
  readonly bestBefore: string | null
  readonly serial: string | null
}

/** Stores assets of a snapshot; an older snapshot changes nothing. Each key at most once. */
export function putAssets(tx: HubWrite, logId: string, all: readonly AssetFact[], version: number): void {
  if (all.length === 0) return
  tx.send(newAssets, [logId, ...columnsOf(all), version])
}

/** Stores the printed data of assets that an earlier log of the same box knows, too. A restore may have lost the data of that log. */
export async function correctAssets(db: HubTx, logId: string, all: readonly AssetFact[]): Promise<void> {
  await db.rows(correctedAssets, [logId, ...columnsOf(all)])
}

const columnsOf = (all: readonly AssetFact[]) => [
  ...[column(all, 'key'), column(all, 'sscc'), column(all, 'gtin'), column(all, 'lot')],
  ...[column(all, 'bestBefore'), column(all, 'serial')],
]

/** A slot of a floor plan. */
export type SlotFact = {
  readonly id: number
  readonly code: string
  readonly zone: string | null
  readonly warehouse: string | null
  readonly isRetired: boolean
}

/** Stores slots of a snapshot; an older snapshot changes nothing. Each id at most once. */
export function putSlots(tx: HubWrite, logId: string, all: readonly SlotFact[], version: number): void {
  if (all.length === 0) return
  tx.send(newSlots, [
    ...[logId, column(all, 'id'), column(all, 'code'), column(all, 'zone'), column(all, 'warehouse')],
    ...[column(all, 'isRetired'), version],
  ])
}

/**
 * Moves transport units forward to their newest steps. An older step only adds the SSCC, direction or reference that is missing.
 * Each unit at most once.
 */
export function putUnits(tx: HubWrite, logId: string, all: readonly UnitFact[]): void {
  if (all.length === 0) return
  tx.send(unitStates, [
    ...[logId, column(all, 'unitId'), times(all, 'atMs'), column(all, 'seq'), column(all, 'status')],
    ...[column(all, 'stage'), column(all, 'direction'), column(all, 'sscc'), column(all, 'reference')],
  ])
}
