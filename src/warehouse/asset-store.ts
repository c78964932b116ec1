import type { ReadTx, Tx } from '../database/index.ts'
import type { Goods } from './goods.ts'
import type { AssetType } from './schema.ts'
import { type Row, times } from './store.ts'

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

const factColumns = ['type', 'weight_kg', 'dimensions', 'sscc', 'gtin', 'lot', 'best_before', 'serial', 'provisional']

/** Returns the columns of the facts. An asset is provisional until its type is known. */
function valuesOf(facts: AssetFacts) {
  return [
    facts.type,
    facts.weight_kg,
    facts.dimensions === null ? null : JSON.stringify(facts.dimensions),
    facts.sscc,
    facts.gtin,
    facts.lot,
    facts.bestBefore,
    facts.serial,
    facts.type === null ? 1 : 0,
  ]
}

export function insertAsset(tx: Tx, assetId: string, key: string, facts: AssetFacts, nowMs: number): void {
  tx.runOf(
    `INSERT INTO asset (asset_id, asset_key, ${factColumns.join(', ')}, label_read, created_at_ms, updated_at_ms)
     VALUES (?, ?, ${factColumns.map(() => '?').join(', ')}, 1, ?, ?)`,
    [assetId, key, ...valuesOf(facts), nowMs, nowMs],
  )
}

export function updateAsset(tx: Tx, id: number, assetId: string, facts: AssetFacts, nowMs: number): void {
  tx.runOf(
    `UPDATE asset SET asset_id = ?, ${factColumns.map((c) => `${c} = ?`).join(', ')}, version = version + 1, updated_at_ms = ?
     WHERE id = ?`,
    [assetId, ...valuesOf(facts), nowMs, id],
  )
}

/** The key under which the ledger has known a thing since before its barcode was read as it is now; else the key itself. */
export function ledgerKey(tx: ReadTx, key: string): string {
  const alias = tx.oneOf<{ asset_key: string }>('SELECT asset_key FROM asset_key_alias WHERE alias_key = +?', [key])
  return alias?.asset_key ?? key
}

/** A spelling that a gateway before this schema has read, and what it made of it. */
export type OldReading = {
  readonly asset_key: string
  readonly barcode: string
  /** Of the newest move under that spelling; null without one. */
  readonly moved_at_ms: number | null
}

export function oldReadings(tx: ReadTx): OldReading[] {
  return tx.allOf('SELECT asset_key, barcode, moved_at_ms FROM barcode_to_read ORDER BY asset_key, barcode', [])
}

export function forgetOldReadings(tx: Tx): void {
  tx.runOf('DELETE FROM barcode_to_read')
}

export function keepAlias(tx: Tx, aliasKey: string, assetKey: string): void {
  tx.runOf('INSERT INTO asset_key_alias VALUES (?, ?)', [aliasKey, assetKey])
}

/** Stores that an asset is the same as the one with another key. */
export function keepSameAs(tx: Tx, key: string, otherKey: string): void {
  tx.runOf('UPDATE asset SET same_as = (SELECT id FROM asset WHERE asset_key = ?) WHERE asset_key = ?', [otherKey, key])
}

/** Returns the keys of the assets that are the same as the one with this key. */
export function sameAs(tx: ReadTx, key: string): string[] {
  const rows = tx.allOf<{ asset_key: string }>(
    'SELECT asset_key FROM asset WHERE same_as IS NOT NULL AND same_as = (SELECT id FROM asset WHERE asset_key = +?) ORDER BY id',
    [key],
  )
  return rows.map((row) => row.asset_key)
}

export function findAssetByKey(tx: ReadTx, key: string): Asset | undefined {
  const row = tx.oneOf<Row<'asset'>>('SELECT * FROM asset WHERE asset_key = ?', [key])
  return row && assetOf(row)
}

/** Assets whose labels were never read: those of earlier schemas, and of programs that know no more. */
export function unreadAssets(tx: ReadTx, limit: number): { id: number; asset_id: string }[] {
  return tx.allOf('SELECT id, asset_id FROM asset WHERE label_read = 0 ORDER BY id LIMIT ?', [limit])
}

/** Fills in what the label says where nothing is stored yet. `version` stays the same. */
export function keepReading(tx: Tx, id: number, goods: Goods): void {
  const { sscc, gtin, lot, bestBefore, serial } = goods
  tx.runOf(
    `UPDATE asset SET sscc = coalesce(sscc, ?), gtin = coalesce(gtin, ?), lot = coalesce(lot, ?),
       best_before = coalesce(best_before, ?), serial = coalesce(serial, ?), label_read = 1 WHERE id = ?`,
    [sscc, gtin, lot, bestBefore, serial, id],
  )
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
  /** How the barcode begins, as written or as matched. */
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

/** `own`: whether the range may look for an index. */
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

/** Assets in the order of their ids, `limit` of them behind `afterId`. */
export function listAssets(
  tx: ReadTx,
  filter: AssetFilter,
  afterId: number,
  limit: number,
): (Asset & { key: string })[] {
  const equal = equalities(filter)
  const range = ranges(filter, false)
  const where = [...equal.parts, ...range.parts, 'id > +?'].join(' AND ')
  return tx
    .allOf<Row<'asset'>>(`SELECT * FROM asset WHERE ${where} ORDER BY id LIMIT ?`, [
      ...equal.values,
      ...range.values,
      afterId,
      limit,
    ])
    .map((row) => ({ ...assetOf(row), key: row.asset_key }))
}

/**
 * Ids of the assets within a range, when that is all that is asked for: an index finds them, but not in the order of
 * ids, so that going through them in slices would find and sort them again for each. Undefined for other filters.
 */
export function idsInRange(tx: ReadTx, filter: AssetFilter): number[] | undefined {
  const range = ranges(filter, true)
  if (range.parts.length === 0 || equalities(filter).parts.length > 0) return undefined
  return tx
    .allOf<{ id: number }>(`SELECT id FROM asset WHERE ${range.parts.join(' AND ')} ORDER BY id`, range.values)
    .map((row) => row.id)
}

export function assetsById(tx: ReadTx, ids: readonly number[]): (Asset & { key: string })[] {
  return tx
    .allOf<Row<'asset'>>('SELECT * FROM asset WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id', [
      JSON.stringify(ids),
    ])
    .map((row) => ({ ...assetOf(row), key: row.asset_key }))
}
