import type { ReadTx, Tx } from '../../database/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Barcode, readBarcode } from '../barcodes/barcode.ts'
import type { AssetChange, NewAsset } from '../schema.ts'
import { type Goods, goodsOf } from './goods.ts'
import { ledgerBarcode } from './keys.ts'
import * as store from './store.ts'

const readAtOnce = 500
const yearOf = (nowMs: number) => new Date(nowMs).getUTCFullYear()

/** Returns the asset of a barcode in any spelling. Throws NOT_FOUND. */
export function assetOf(tx: ReadTx, barcode: string): store.Asset {
  const found = store.findAssetByKey(tx, ledgerBarcode(tx, barcode).key)
  if (!found) throw AppError.notFound('Asset')
  return found
}

/** Registers an asset; a provisional one becomes registered. Throws ALREADY_EXISTS, VALIDATION_ERROR. */
export function register(tx: Tx, asset: NewAsset, nowMs: number): store.Asset {
  const code = ledgerBarcode(tx, asset.asset_id)
  const known = store.findAssetByKey(tx, code.key)
  if (known && !known.provisional) {
    throw new AppError('ALREADY_EXISTS', 'This asset is registered already', {
      details: `asset_id: ${asset.asset_id} is taken`,
    })
  }
  const onLabel = goodsOf(code, yearOf(nowMs))
  const goods = merged(asset, known ? completed(known, onLabel) : onLabel, code, onLabel)
  const facts = { ...goods, type: asset.type, weight_kg: asset.weight_kg ?? null, dimensions: asset.dimensions ?? null }
  if (known) store.updateAsset(tx, known.id, asset.asset_id, facts, nowMs)
  else store.insertAsset(tx, asset.asset_id, code.key, facts, nowMs)
  return assetOf(tx, asset.asset_id)
}

/** Changes the given fields; null clears one. Returns those whose value differs from before. Throws VALIDATION_ERROR. */
export function change(tx: Tx, old: store.Asset, changes: AssetChange, nowMs: number): string[] {
  const { type, weight_kg, dimensions } = changes
  if (type === null && old.type !== null) throw AppError.field('type', 'a registered asset has a type')
  const code = readBarcode(old.asset_id)
  const facts = {
    ...merged(changes, old, code, goodsOf(code, yearOf(nowMs))),
    type: type ?? old.type,
    weight_kg: weight_kg === undefined ? old.weight_kg : weight_kg,
    dimensions: dimensions === undefined ? old.dimensions : dimensions,
  }
  const changed = Object.entries(facts)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof facts]))
    .map(([name]) => name)
  if (changed.length > 0) store.updateAsset(tx, old.id, old.asset_id, facts, nowMs)
  return changed
}

/** Stores a barcode first seen in an event as a provisional asset, with the facts of its label. */
export function note(tx: Tx, barcode: string, key: string, nowMs: number): void {
  const goods = goodsOf(readBarcode(barcode), yearOf(nowMs))
  store.insertAsset(tx, barcode, key, { ...goods, type: null, weight_kg: null, dimensions: null }, nowMs)
}

/** Stores the facts of another label of a known asset, where nothing is stored yet. Returns whether it has more. */
export function learn(tx: Tx, known: store.Asset, code: Barcode, nowMs: number): boolean {
  if (!code.gs1 && !code.gtin) return false
  const goods = goodsOf(code, yearOf(nowMs))
  const saysMore = JSON.stringify(completed(known, goods)) !== JSON.stringify(completed(known, nothing))
  if (saysMore) store.keepReading(tx, known.id, goods)
  return saysMore
}

const nothing: Goods = { sscc: null, gtin: null, lot: null, bestBefore: null, serial: null }

function completed(known: Goods, label: Goods): Goods {
  return {
    sscc: known.sscc ?? label.sscc,
    gtin: known.gtin ?? label.gtin,
    lot: known.lot ?? label.lot,
    bestBefore: known.bestBefore ?? label.bestBefore,
    serial: known.serial ?? label.serial,
  }
}

/** Reads up to 500 labels that were never read. Returns whether there may be more. */
export function readLabels(tx: Tx, nowMs: number): boolean {
  const unread = store.unreadAssets(tx, readAtOnce)
  for (const { id, asset_id } of unread) store.keepReading(tx, id, goodsOf(readBarcode(asset_id), yearOf(nowMs)))
  return unread.length === readAtOnce
}

/**
 * Merges what a person entered over what was known; null goes back to the label. Throws when the SSCC differs from the one on the
 * label.
 */
function merged(entered: Partial<AssetChange>, known: Goods, code: Barcode, label: Goods): Goods {
  const labelled = code.gs1?.get('00')
  if (typeof entered.sscc === 'string' && labelled !== undefined && entered.sscc !== labelled)
    throw AppError.field('sscc', `the barcode says ${labelled}`)
  const merge = (name: keyof Goods): string | null => {
    const value = entered[name]
    return value === undefined || value === known[name] ? known[name] : (value ?? label[name])
  }
  return {
    sscc: merge('sscc'),
    gtin: merge('gtin'),
    lot: merge('lot'),
    bestBefore: merge('bestBefore'),
    serial: merge('serial'),
  }
}
