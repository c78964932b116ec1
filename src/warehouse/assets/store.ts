import { sql as raw } from 'kysely'
import { built, integer, pick, type ReadTx, statement, statements, type Tx, text } from '../../database/index.ts'
import type { AssetType } from '../schema.ts'
import { type Row, times } from '../store.ts'
import { sql, tables } from '../tables.ts'
import type { Goods } from './goods.ts'

export type Asset = ReturnType<typeof assetOf>
type Dimensions = { length: number; width: number; height: number }

function assetOf(row: Row<'asset'>) {
  return {
    id: row.id,
    asset_id: row.asset_id,
    type: row.type as AssetType | null,
    weight_kg: row.weight_kg,
    dimensions: row.dimensions === null ? null : (JSON.parse(row.dimensions) as Dimensions),
    sscc: row.sscc,
    gtin: row.gtin,
    lot: row.lot,
    bestBefore: row.best_before,
    serial: row.serial,
    provisional: row.provisional === 1,
    sameAs: row.same_as,
    ...times(row),
  }
}

/** The stored facts of an asset. */
export type AssetFacts = Goods & {
  readonly type: AssetType | null
  readonly weight_kg: number | null
  readonly dimensions: Dimensions | null
}

const factColumns = pick(
  tables.asset,
  'type',
  'weight_kg',
  'dimensions',
  'sscc',
  'gtin',
  'lot',
  'best_before',
  'serial',
  'provisional',
)
const newAsset = built(
  { ...factColumns, ...pick(tables.asset, 'asset_id', 'asset_key', 'label_read', 'created_at_ms', 'updated_at_ms') },
  (row) => sql.insertInto('asset').values(row),
)
const newFacts = built({ ...factColumns, id: integer, asset_id: text, updated_at_ms: integer }, ({ id, ...facts }) =>
  sql
    .updateTable('asset')
    .set((eb) => ({ ...facts, version: eb('version', '+', 1) }))
    .where('id', '=', id),
)
const aliasOf = built(pick(tables.asset_key_alias, 'alias_key'), ({ alias_key }) =>
  sql.selectFrom('asset_key_alias').select('asset_key').where('alias_key', '=', alias_key),
)
const newAlias = built(tables.asset_key_alias, (row) => sql.insertInto('asset_key_alias').values(row))
const unread = built({}, () =>
  sql
    .selectFrom('barcode_to_read')
    .select(['asset_key', 'barcode', 'moved_at_ms'])
    .orderBy('asset_key')
    .orderBy('barcode'),
)
const withoutUnread = built({}, () => sql.deleteFrom('barcode_to_read'))
const newSameAs = built({ asset_key: text, of: text }, ({ asset_key, of }) =>
  sql
    .updateTable('asset')
    .set(({ selectFrom }) => ({ same_as: selectFrom('asset').select('id').where('asset_key', '=', of) }))
    .where('asset_key', '=', asset_key),
)
const twinsOf = built(pick(tables.asset, 'asset_key'), ({ asset_key }) =>
  sql
    .selectFrom('asset')
    .select('asset_key')
    .where('same_as', 'is not', null)
    .where('same_as', '=', ({ selectFrom }) => selectFrom('asset').select('id').where('asset_key', '=', asset_key))
    .orderBy('id'),
)
const assetByKey = built(pick(tables.asset, 'asset_key'), ({ asset_key }) =>
  sql.selectFrom('asset').selectAll().where('asset_key', '=', asset_key),
)
const keyById = built({ id: integer }, ({ id }) => sql.selectFrom('asset').select('asset_key').where('id', '=', id))
const nextKeys = built({ id: integer, limit: integer }, ({ id, limit }) =>
  sql.selectFrom('asset').select(['id', 'asset_key as key']).where('id', '>', id).orderBy('id').limit(limit),
)
const printedAfter = built({ id: integer, limit: integer }, ({ id, limit }) =>
  sql
    .selectFrom('asset')
    .select(['id', 'asset_key', 'sscc', 'gtin', 'lot', 'best_before', 'serial'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit),
)
const printedOf = statement({
  columns: pick(tables.asset, 'id', 'asset_key', 'sscc', 'gtin', 'lot', 'best_before', 'serial'),
  sql: `SELECT id, asset_key, sscc, gtin, lot, best_before, serial FROM asset
    WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
})
// An index of the labels that are not read is found by this number, so it is no value.
const withoutReading = built({ limit: integer }, ({ limit }) =>
  sql.selectFrom('asset').select(['id', 'asset_id']).where('label_read', '=', raw.lit(0)).orderBy('id').limit(limit),
)
const newReading = built(
  pick(tables.asset, 'id', 'sscc', 'gtin', 'lot', 'best_before', 'serial'),
  ({ id, sscc, gtin, lot, best_before, serial }) =>
    sql
      .updateTable('asset')
      .set(({ fn }) => ({
        sscc: fn.coalesce('sscc', sscc),
        gtin: fn.coalesce('gtin', gtin),
        lot: fn.coalesce('lot', lot),
        best_before: fn.coalesce('best_before', best_before),
        serial: fn.coalesce('serial', serial),
        label_read: raw.lit(1),
      }))
      .where('id', '=', id),
)
const assetsWithIds = statement({
  columns: tables.asset,
  sql: 'SELECT * FROM asset WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id',
})

/** Returns the columns of the facts. An asset is provisional until its type is known. */
function valuesOf(facts: AssetFacts) {
  return {
    type: facts.type,
    weight_kg: facts.weight_kg,
    dimensions: facts.dimensions === null ? null : JSON.stringify(facts.dimensions),
    sscc: facts.sscc,
    gtin: facts.gtin,
    lot: facts.lot,
    best_before: facts.bestBefore,
    serial: facts.serial,
    provisional: facts.type === null ? 1 : 0,
  }
}

export function insertAsset(tx: Tx, assetId: string, key: string, facts: AssetFacts, nowMs: number): void {
  const named = { asset_id: assetId, asset_key: key, label_read: 1, created_at_ms: nowMs, updated_at_ms: nowMs }
  tx.run(newAsset, { ...valuesOf(facts), ...named })
}

export function updateAsset(tx: Tx, id: number, assetId: string, facts: AssetFacts, nowMs: number): void {
  tx.run(newFacts, { ...valuesOf(facts), id, asset_id: assetId, updated_at_ms: nowMs })
}

/** Returns the key under which the ledger has known a thing since before its barcode was read as it is now; else the key itself. */
export function ledgerKey(tx: ReadTx, key: string): string {
  return tx.get(aliasOf, { alias_key: key })?.asset_key ?? key
}

/** A spelling that a gateway before this schema has read, with its key. */
export type OldReading = {
  readonly asset_key: string
  readonly barcode: string
  /** Time of the newest move under that spelling; null without one. */
  readonly moved_at_ms: number | null
}

export function oldReadings(tx: ReadTx): OldReading[] {
  return tx.all(unread)
}

export function forgetOldReadings(tx: Tx): void {
  tx.run(withoutUnread)
}

export function keepAlias(tx: Tx, aliasKey: string, assetKey: string): void {
  tx.run(newAlias, { alias_key: aliasKey, asset_key: assetKey })
}

/** Stores that an asset is the same as the one with another key. */
export function keepSameAs(tx: Tx, key: string, otherKey: string): void {
  tx.run(newSameAs, { asset_key: key, of: otherKey })
}

/** Returns the keys of the assets that are the same as the one with this key. */
export function sameAs(tx: ReadTx, key: string): string[] {
  return tx.all(twinsOf, { asset_key: key }).map((row) => row.asset_key)
}

export function findAssetByKey(tx: ReadTx, key: string): Asset | undefined {
  const row = tx.get(assetByKey, { asset_key: key })
  return row && assetOf(row)
}

/** Assets whose labels were never read: those of earlier schemas, and of programs that know no more. */
export function unreadAssets(tx: ReadTx, limit: number): { id: number; asset_id: string }[] {
  return tx.all(withoutReading, { limit })
}

/** Fills fields of the label where nothing is stored yet. `version` stays the same. */
export function keepReading(tx: Tx, id: number, goods: Goods): void {
  const { sscc, gtin, lot, bestBefore, serial } = goods
  tx.run(newReading, { id, sscc, gtin, lot, best_before: bestBefore, serial })
}

/** Returns what is printed on the assets behind an id, in the order of ids. */
export function assetsAfter(tx: ReadTx, id: number, limit: number) {
  return tx.all(printedAfter, { id, limit })
}

/** Returns what is printed on these assets, in the order of ids. */
export function assetsPrinted(tx: ReadTx, ids: readonly number[]) {
  return tx.all(printedOf, [JSON.stringify(ids)])
}

export type AssetFilter = {
  readonly sscc?: string | undefined
  readonly gtin?: string | undefined
  readonly lot?: string | undefined
  readonly serial?: string | undefined
  readonly type?: string | undefined
  readonly provisional?: boolean | undefined
  /** Days, both inclusive. */
  readonly bestBeforeFrom?: string | undefined
  readonly bestBeforeTo?: string | undefined
  /** Beginning of the barcode, as written or as matched. */
  readonly q?: string | undefined
}

type Conditions = { readonly parts: string[]; readonly values: (string | number)[] }

/** The strongest alone finds its index, see `conditionsOf`; a plus keeps SQLite from taking another's. */
function equalities(filter: AssetFilter): Conditions {
  const { sscc, serial, lot, gtin, type, provisional } = filter
  const wanted: [string, string | number | undefined][] = [
    ['sscc', sscc],
    ['serial', serial],
    ['lot', lot],
    ['gtin', gtin],
    ['type', type],
    ['provisional', provisional === undefined ? undefined : Number(provisional)],
  ]
  const given = wanted.filter((one): one is [string, string | number] => one[1] !== undefined)
  return {
    parts: given.map(([column], i) => `${i > 0 ? '+' : ''}${column} = +?`),
    values: given.map(([, value]) => value),
  }
}

/** `own`: whether the range may use an index. */
function ranges({ bestBeforeFrom, bestBeforeTo, q }: AssetFilter, own: boolean): Conditions {
  const day = own ? 'best_before' : '+best_before'
  const parts: string[] = []
  const values: string[] = []
  const add = (part: string, ...more: string[]) => {
    parts.push(part)
    values.push(...more)
  }
  if (bestBeforeFrom !== undefined) add(`${day} >= +?`, bestBeforeFrom)
  if (bestBeforeTo !== undefined) add(`${day} <= +?`, bestBeforeTo)
  if (q !== undefined) {
    // No text has a byte FF, so this is just what begins with q.
    const begins = (column: string) => `(${column} >= ? AND ${column} < ? || x'ff')`
    const mark = own && parts.length === 0 ? '' : '+'
    add(`(${begins(`${mark}asset_id`)} OR ${begins(`${mark}asset_key`)})`, q, q, q, q)
  }
  return { parts, values }
}

const everyCondition: AssetFilter = {
  sscc: '',
  gtin: '',
  lot: '',
  serial: '',
  type: '',
  provisional: true,
  bestBeforeFrom: '',
  bestBeforeTo: '',
  q: '',
}
const partsOf = (filter: AssetFilter) => [...equalities(filter).parts, ...ranges(filter, false).parts]
const assetsWhere = statements({
  columns: tables.asset,
  sql: (parts: readonly string[]) => `SELECT * FROM asset WHERE ${parts.join(' AND ')} ORDER BY id LIMIT ?`,
  samples: [[['id > +?']], [[...partsOf(everyCondition), 'id > +?']]],
})
const idsWhere = statements({
  columns: { id: integer },
  sql: (parts: readonly string[]) => `SELECT id FROM asset WHERE ${parts.join(' AND ')} ORDER BY id`,
  samples: [[ranges({ q: '' }, true).parts], [ranges(everyCondition, true).parts]],
})

/** Assets in the order of their ids, `limit` of them behind `afterId`. */
export function listAssets(
  tx: ReadTx,
  filter: AssetFilter,
  afterId: number,
  limit: number,
): (Asset & { key: string })[] {
  const values = [...equalities(filter).values, ...ranges(filter, false).values, afterId, limit]
  return tx
    .all(assetsWhere([...partsOf(filter), 'id > +?']), values)
    .map((row) => ({ ...assetOf(row), key: row.asset_key }))
}

/**
 * Returns the ids of the assets within a range, when that is the only filter. An index finds them, but not in the order of ids.
 * Slices would find and sort them again each time. Undefined for other filters.
 */
export function idsInRange(tx: ReadTx, filter: AssetFilter): number[] | undefined {
  const range = ranges(filter, true)
  if (range.parts.length === 0 || equalities(filter).parts.length > 0) return undefined
  return tx.all(idsWhere(range.parts), range.values).map((row) => row.id)
}

export function assetsById(tx: ReadTx, ids: readonly number[]): (Asset & { key: string })[] {
  return tx.all(assetsWithIds, [JSON.stringify(ids)]).map((row) => ({ ...assetOf(row), key: row.asset_key }))
}

/** Returns the key of an asset, for any caller. */
export function assetKeyOf(tx: ReadTx, id: number): string | undefined {
  return tx.get(keyById, { id })?.asset_key
}

/** Returns every asset that is registered or was ever named, in the order of their numbers: the next `count` behind one. */
export function assetKeysBehind(tx: ReadTx, afterId: number, count: number): { id: number; key: string }[] {
  return tx.all(nextKeys, { id: afterId, limit: count })
}
