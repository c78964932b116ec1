import type { ReadTx } from '../database/index.ts'
import type { Sight } from '../warehouse/index.ts'
import { compare, expectedIn, has } from './comparison.ts'
import { seenSlots } from './scanned.ts'
import * as store from './store.ts'

/** A difference between count and ledger that is not decided yet. */
export type OpenDifference = {
  readonly countId: number
  readonly slotId: number
  /** conflict: one barcode was found in several slots. */
  readonly kind: 'different' | 'conflict'
  /** Barcodes that the ledger has in the slot, those that were not found first. */
  readonly expected: readonly string[]
  /** Barcodes that were found although the ledger does not have them there. */
  readonly unexpected: readonly string[]
  readonly scannedAtMs: number
}

/** Returns the open differences of all counts in progress, against the current ledger. */
export function openDifferences(tx: ReadTx, sight: Sight): OpenDifference[] {
  return store.openCounts(tx).flatMap((countId) => {
    const seen = seenSlots(tx, countId, sight)
    const statuses = compare(seen)
    return seen.flatMap((slot): OpenDifference[] => {
      const kind = statuses.get(slot.slotId)
      const { found, slotId, scan } = slot
      if (!found || !scan || (kind !== 'different' && kind !== 'conflict')) return []
      const inLedger = expectedIn(slot)
      const missing = inLedger.filter(({ key }) => !has(found, key))
      const expected = [...missing, ...inLedger.filter(({ key }) => has(found, key))].map(({ barcode }) => barcode)
      const unexpected = found.filter(({ key }) => !has(inLedger, key)).map(({ barcode }) => barcode)
      return [{ countId, slotId, kind, expected, unexpected, scannedAtMs: scan.timestamp_ms }]
    })
  })
}
