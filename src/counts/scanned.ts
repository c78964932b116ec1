import type { ReadTx } from '../database/index.ts'
import { newestInSlot, newestMoveOfAsset, occupantOf, putInto } from '../ledger/index.ts'
import type { Sight } from '../warehouse/index.ts'
import { expectedIn, type Pallet, type Seen } from './comparison.ts'
import { type RecountMark, recountsOf, type Scan, scansOf, slotIdsOf } from './store.ts'
import type { CountScanRow } from './tables.ts'

/** A slot of a count with its scan. */
export type SeenSlot = Seen & {
  readonly scan: Scan | undefined
  readonly scans: number
  readonly wantsRecount: boolean
}

/**
 * Returns all slots of a count with the ledger's state at the time of each scan, as it is known now. So late events from before the
 * scan count.
 */
export function seenSlots(tx: ReadTx, countId: number, sight: Sight): SeenSlot[] {
  return [...eachSeenSlot(tx, countId, sight)]
}

/** As `seenSlots`, one by one. */
export function* eachSeenSlot(tx: ReadTx, countId: number, sight: Sight): Generator<SeenSlot, undefined> {
  const scans = Map.groupBy(scansOf(tx, countId), (scan) => scan.slot_id)
  const marks = recountsOf(tx, countId)
  for (const slotId of slotIdsOf(tx, countId))
    yield seenSlot(tx, slotId, scans.get(slotId) ?? [], marks.get(slotId), sight)
}

/** Returns the deciding scan: the last one made of the slot, after a recount only later ones. */
export function decidingScan<Row extends CountScanRow>(
  scans: readonly Row[],
  mark: RecountMark | undefined,
): Row | undefined {
  return scans.findLast((scan) => !mark || (scan.id > mark.after_scan_id && scan.timestamp_ms >= mark.requested_at_ms))
}

function seenSlot(
  tx: ReadTx,
  slotId: number,
  scans: readonly Scan[],
  mark: RecountMark | undefined,
  sight: Sight,
): SeenSlot {
  const scan = decidingScan(scans, mark)
  const base = { slotId, scan, scans: scans.length, wantsRecount: mark !== undefined && !scan }
  if (!scan) return { ...base, found: undefined, occupant: undefined, standing: [], movedSince: false }
  const found = foundIn(scan)
  const shown = occupantOf(tx, slotId, { atMs: scan.timestamp_ms })
  const occupant = shown && { barcode: shown.assetBarcode, key: shown.assetKey }
  const standing = putInto(tx, slotId, scan.timestamp_ms).map((a) => ({ barcode: a.assetBarcode, key: a.assetKey }))
  const involved = [...found, ...expectedIn({ occupant, standing })]
  return { ...base, found, occupant, standing, movedSince: hasMovedSince(tx, scan, involved, sight) }
}

export function foundIn(scan: Pick<CountScanRow, 'found'>): Pallet[] {
  return JSON.parse(scan.found) as Pallet[]
}

/** Says whether the slot or one of the pallets moved after the scan; then the ledger is newer than the count. */
function hasMovedSince(tx: ReadTx, scan: Scan, pallets: readonly Pallet[], sight: Sight): boolean {
  const everywhere = { atMs: undefined, lastId: undefined }
  const isAfter = (move: { timestamp_ms: number; id: number } | undefined) =>
    move !== undefined &&
    (move.timestamp_ms > scan.timestamp_ms ||
      (move.timestamp_ms === scan.timestamp_ms && move.id > scan.known_event_id))
  return (
    isAfter(newestInSlot(tx, scan.slot_id, everywhere)) ||
    pallets.some(({ key }) => isAfter(newestMoveOfAsset(tx, key, sight, everywhere)))
  )
}
