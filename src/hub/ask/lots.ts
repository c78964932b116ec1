import type { HubTx } from '../store/database.ts'
import { type Located, locate, palletOf } from './pallets.ts'
import { assetsOfLot, assetsWithSscc, type Sites } from './store.ts'
import { ssccIn } from './whereabouts.ts'

export type Lot = { readonly gtin: string; readonly lot: string | null }
/** A pallet of a lot, and where it is. `key`: the first of the asset keys by which a site knows it as of the lot. */
export type PalletOfLot = Located & { readonly key: string }

/**
 * Returns pallets of an item and lot, with where each is now; those behind the asset key `after`. A pallet comes once, whatever names
 * sites have for it; one with several SSCCs may come twice. `next`: more follow behind this key.
 */
export async function palletsOfLot(
  db: HubTx,
  lot: Lot,
  after: string,
  sites: Sites,
): Promise<{ readonly pallets: readonly PalletOfLot[]; readonly next: string | null }> {
  const { assets, next } = await assetsOfLot(db, lot, after, sites)
  const ssccsOf = (key: string) => [...(assets.get(key) ?? []), ...[ssccIn(key)].filter((own) => own !== undefined)]
  const keys = [...assets.keys()]
  const printed = await assetsWithSscc(db, [...new Set(keys.flatMap(ssccsOf))], sites, lot)
  const bySscc = Map.groupBy(printed, ({ sscc }) => sscc)
  const isFirstOf = (key: string) => (sscc: string) =>
    !(bySscc.get(sscc) ?? []).some((one) => one.isOfLot && isBefore(one.key, key))
  // A key with two SSCCs may stand for others by each: left out for one of them, it would take along those of the other.
  const firsts = keys.filter((key) => ssccsOf(key).length === 0 || ssccsOf(key).some(isFirstOf(key)))
  const found = await locate(
    db,
    firsts.map((key) =>
      palletOf(
        key,
        ssccsOf(key),
        ssccsOf(key).flatMap((sscc) => bySscc.get(sscc) ?? []),
      ),
    ),
    sites,
  )
  return { pallets: firsts.map((key, i) => ({ key, ...(found[i] ?? { places: [], unit: undefined }) })), next }
}

/** In the order of the database, which compares bytes. */
const isBefore = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0
