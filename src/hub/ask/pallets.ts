import type { HubTx } from '../store/database.ts'
import { staysOf } from './stays.ts'
import { type Position, type PrintedSscc, type Sites, type UnitStep, unitStepsOf } from './store.ts'
import { newestBySite, onTheWay, ssccIn, type Whereabouts, whereabouts } from './whereabouts.ts'

/** A pallet with all that it is called by. `names`: asset keys; `ssccs`: without their 00. */
export type Pallet = { readonly names: readonly string[]; readonly ssccs: readonly string[] }

/** Where a pallet is at one site that knows it. */
export type Place = Position & { readonly state: Whereabouts }
/** `places`: the newest move first. `unit`: the transport unit it is on its way with. */
export type Located = { readonly places: readonly Place[]; readonly unit: UnitStep | undefined }

/**
 * Returns a pallet by one of its asset keys and the SSCCs on its label. A site may know it by the SSCC alone, or by its own barcode
 * on which it has the SSCC printed (`printed`).
 */
export function palletOf(key: string, onLabel: readonly string[], printed: readonly PrintedSscc[]): Pallet {
  const ssccs = new Set([...onLabel, ...[ssccIn(key)].filter((own) => own !== undefined)])
  const elsewhere = printed.filter(({ sscc }) => ssccs.has(sscc)).map((one) => one.key)
  return {
    names: [...new Set([key, ...[...ssccs].flatMap((sscc) => [sscc, `00${sscc}`]), ...elsewhere])],
    ssccs: [...ssccs],
  }
}

/** Returns where pallets are now, over all sites. */
export async function locate(db: HubTx, pallets: readonly Pallet[], sites: Sites): Promise<Located[]> {
  const stays = Map.groupBy(
    await staysOf(db, [...new Set(pallets.flatMap(({ names }) => names))], sites),
    ({ assetKey }) => assetKey,
  )
  const found = pallets.map((pallet) => {
    const ofPallet = pallet.names.flatMap((name) => stays.get(name) ?? [])
    const placedMs = Math.max(...ofPallet.map((stay) => stay.placedMs ?? Number.NEGATIVE_INFINITY))
    return { ...pallet, placedMs, bySite: newestBySite(ofPallet) }
  })
  const gone = found.filter(({ bySite }) => bySite.length > 0 && whereabouts(bySite) === 'left')
  const ways = await waysOf(db, gone, sites)
  return found.map((pallet) => {
    const { bySite } = pallet
    const state = whereabouts(bySite)
    const unit = bySite[0] && ways(pallet, bySite[0].siteId)
    const places = bySite.map(
      (one, i) => ({ ...one, state: one.letter === 'P' ? state : i === 0 && unit ? 'in_transit' : 'left' }) as const,
    )
    return { places, unit }
  })
}

/** `placedMs`: when it was placed last anywhere; -Infinity: never. */
type PlacedPallet = Pallet & { readonly placedMs: number }

/** Returns a function that says with which transport unit a pallet that has left this site is on its way. */
async function waysOf(db: HubTx, gone: readonly PlacedPallet[], sites: Sites) {
  const withSscc = gone.filter(({ ssccs }) => ssccs.length > 0)
  const steps = Map.groupBy(
    await unitStepsOf(
      db,
      withSscc.flatMap(({ ssccs }) => ssccs),
      sites,
    ),
    ({ sscc }) => sscc,
  )
  const underway = new Set(withSscc.filter(({ ssccs }) => ssccs.some((sscc) => steps.has(sscc))))
  return (pallet: PlacedPallet, from: string): UnitStep | undefined => {
    if (!underway.has(pallet)) return undefined
    return onTheWay(
      pallet.ssccs.flatMap((sscc) => steps.get(sscc) ?? []),
      { from, placedMs: pallet.placedMs },
    )
  }
}
