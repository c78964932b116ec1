import type { ReadTx } from '../database/index.ts'
import type { Sight } from '../warehouse/index.ts'
import { compare, expectedIn } from './comparison.ts'
import { seenSlots } from './scanned.ts'
import * as store from './store.ts'

/** A difference between count and ledger that is not decided yet. */
export type OpenDifference = {
  readonly countId: number
  readonly slotId: number
  /** conflict: one barcode was found in several slots. */
  readonly kind: 'different' | 'conflict'
  /** Barcodes: of the ledger, and as scanned. */
  readonly expected: readonly string[]
  readonly found: readonly string[]
  readonly scannedAtMs: number
}

/** Returns the open differences of all counts in progress, against the current ledger. */
export function openDifferences(tx: ReadTx, sight: Sight): OpenDifference[] {
  return store.openCounts(tx).flatMap((countId) => {
    const seen = seenSlots(tx, countId, sight)
    const statuses = compare(seen)
    return seen.flatMap((slot): OpenDifference[] => {
      const kind = statuses.get(slot.slotId)
      if (!slot.found || !slot.scan || (kind !== 'different' && kind !== 'conflict')) return []
      const expected = expectedIn(slot).map(({ barcode }) => barcode)
      const found = slot.found.map(({ barcode }) => barcode)
      return [{ countId, slotId: slot.slotId, kind, expected, found, scannedAtMs: slot.scan.timestamp_ms }]
    })
  })
}
