import type { ReadTx, Tx } from '../../database/index.ts'
import { type Barcode, readBarcode } from '../barcodes/barcode.ts'
import * as store from './store.ts'

/** Reads a barcode, with the key under which the ledger has the asset. */
export function ledgerBarcode(tx: ReadTx, raw: string): Barcode {
  const code = readBarcode(raw)
  const key = store.ledgerKey(tx, code.key)
  return key === code.key ? code : { ...code, key }
}

/**
 * Reads again the barcodes that gateways before schema 16 have read. Stores an alias where the key in the ledger differs from
 * today's. Where two keys are one asset now, the key that was moved last is used from now on. The events of the other stay as they
 * are, and its asset gets `sameAs`.
 */
export function settleKeys(tx: Tx): void {
  const known = Map.groupBy(store.oldReadings(tx), ({ barcode }) => readBarcode(barcode).key)
  for (const [key, readings] of known) {
    const [first, ...others] = newestFirst(key, readings)
    if (first === undefined) continue
    if (first !== key) store.keepAlias(tx, key, first)
    for (const other of others) store.keepSameAs(tx, other, first)
  }
  store.forgetOldReadings(tx)
}

/** Returns the keys of one asset: the last moved first; when none was moved, today's key first. */
function newestFirst(key: string, readings: readonly store.OldReading[]): string[] {
  const movedAt = new Map<string, number>()
  for (const { asset_key, moved_at_ms } of readings)
    movedAt.set(asset_key, Math.max(movedAt.get(asset_key) ?? -1, moved_at_ms ?? -1))
  return [...movedAt]
    .toSorted(([a, aMs], [b, bMs]) => bMs - aMs || Number(b === key) - Number(a === key))
    .map(([assetKey]) => assetKey)
}
