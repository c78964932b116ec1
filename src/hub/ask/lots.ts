import { z } from 'zod'
import { AppError } from '../../errors/index.ts'
import type { HubTx } from '../store/database.ts'
import { type Located, locate, palletOf } from './pallets.ts'
import {
  assetsOfLot,
  assetsWithSscc,
  keysWithItem,
  type Labelled,
  type Lot,
  type LotPlace,
  type Sites,
  ssccsWithoutItem,
} from './store.ts'
import { ssccIn } from './whereabouts.ts'

/** A pallet of a lot as of one item, and its location. Its `key` is the first of the asset keys by which a site knows it so. */
export type PalletOfLot = Located & Labelled

/**
 * Returns pallets of an item and lot behind a cursor, item by item, each with its location. A pallet comes once for each item that
 * a site knows it as. It comes without an item only when no site knows one, whatever names and SSCCs sites have for it. A pallet
 * with several SSCCs may come twice. More follow when `nextCursor` is set. Throws VALIDATION_ERROR for a cursor that is none.
 */
export async function palletsOfLot(
  db: HubTx,
  lot: Lot,
  cursor: string,
  sites: Sites,
): Promise<{ readonly pallets: readonly PalletOfLot[]; readonly nextCursor: string | null }> {
  const { assets: listed, next } = await assetsOfLot(db, lot, readLotCursor(cursor), sites)
  const assets = await withEverySscc(db, listed, lot, sites)
  const printed = await assetsWithSscc(db, [...new Set(assets.flatMap(ssccsOf))], sites, lot)
  const bySscc = Map.groupBy(printed, ({ sscc }) => sscc)
  const unnamed = new Set([...assets, ...printed].filter(({ gtin }) => gtin === null).map(keyOf))
  const namedElsewhere = await keysWithItem(db, [...unnamed], lot, sites)
  const hasItem = ({ key, gtin }: LotPlace) => gtin !== null || namedElsewhere.has(key)
  const isFirstOf = (asset: Labelled) => (sscc: string) =>
    !(bySscc.get(sscc) ?? []).some((one) => one.isOfLot && comesBefore(one, asset, hasItem))
  // A key with two SSCCs may stand for others by each: left out for one of them, it would take along those of the other.
  const firsts = assets.filter((asset) => {
    const ssccs = ssccsOf(asset)
    if (asset.gtin === null && namedElsewhere.has(asset.key)) return false
    return ssccs.length === 0 || ssccs.some(isFirstOf(asset))
  })
  const found = await locate(
    db,
    firsts.map((asset) => {
      const ssccs = ssccsOf(asset)
      const others = ssccs.flatMap((sscc) => bySscc.get(sscc) ?? [])
      return palletOf(asset.key, ssccs, others)
    }),
    sites,
  )
  const pallets = firsts.map((asset, i) => ({ ...asset, ...(found[i] ?? { places: [], unit: undefined }) }))
  return { pallets, nextCursor: next && lotCursor(next) }
}

/** Returns the SSCCs that are printed on an asset, and the SSCC that its key may be. */
const ssccsOf = ({ key, ssccs }: Labelled) => [...ssccs, ...[ssccIn(key)].filter((own) => own !== undefined)]

const keyOf = ({ key }: { readonly key: string }) => key

/** Returns assets as of an item with the SSCCs, too, that sites have on them which know no item. */
async function withEverySscc(db: HubTx, assets: readonly Labelled[], lot: Lot, sites: Sites): Promise<Labelled[]> {
  const named = assets.filter(({ gtin }) => gtin !== null)
  const more = Map.groupBy(await ssccsWithoutItem(db, named.map(keyOf), lot, sites), keyOf)
  return assets.map((asset) => {
    const others = asset.gtin === null ? [] : (more.get(asset.key) ?? []).map(({ sscc }) => sscc)
    return { ...asset, ssccs: [...new Set([...asset.ssccs, ...others])] }
  })
}

/** Whether the first of two assets with one SSCC is listed. An asset without an item gives way to any that has one. */
const comesBefore = (one: LotPlace, other: LotPlace, hasItem: (one: LotPlace) => boolean) =>
  (other.gtin === null && hasItem(one)) || (one.gtin === other.gtin && isBefore(one.key, other.key))

/** In the order of the database, which compares bytes. */
const isBefore = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0

const lotCursor = ({ gtin, key }: LotPlace): string => Buffer.from(JSON.stringify([gtin, key])).toString('base64url')

const placeable = z.string().regex(/^[^\0]*$/)
const LotCursor = z.tuple([placeable.nullable(), placeable.min(1)])

/** Returns the place in a cursor made by `lotCursor`; undefined for an empty one. */
function readLotCursor(cursor: string): LotPlace | undefined {
  if (cursor === '') return undefined
  try {
    const [gtin, key] = LotCursor.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    return { gtin, key }
  } catch {
    throw AppError.field('cursor', 'is not a cursor of this list')
  }
}
