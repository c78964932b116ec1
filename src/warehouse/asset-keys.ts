import type { ReadTx, Tx } from '../database/index.ts'
import * as store from './asset-store.ts'
import { type Barcode, readBarcode } from './barcode.ts'

/** As `readBarcode`, with the key under which the ledger knows the thing. */
export function ledgerBarcode(tx: ReadTx, raw: string): Barcode {
  const code = readBarcode(raw)
  const key = store.ledgerKey(tx, code.key)
  return key === code.key ? code : { ...code, key }
}

/**
 * Reads once more what gateways before schema 16 have read, and notes where the ledger's key is another one than
 * today's. Where two of its keys are one thing now, the one that was moved last goes on; the other one's events stay as
 * they are, and its asset says which one it is.
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

/** The keys of the ledger that are one thing: the last moved first; of none that was moved, today's key first. */
function newestFirst(key: string, readings: readonly store.OldReading[]): string[] {
  const movedAt = new Map<string, number>()
  for (const { asset_key, moved_at_ms } of readings)
    movedAt.set(asset_key, Math.max(movedAt.get(asset_key) ?? -1, moved_at_ms ?? -1))
  return [...movedAt]
    .toSorted(([a, aMs], [b, bMs]) => bMs - aMs || Number(b === key) - Number(a === key))
    .map(([assetKey]) => assetKey)
}
