import type { ReadTx, UnitOfWork } from '../database/index.ts'
import { AppError } from '../errors/index.ts'
import type { Caller } from '../http/index.ts'
import { assetIsSeen, settle, type When } from '../ledger/index.ts'
import { ownTurn } from '../platform/index.ts'
import type { Asset, AssetFilter, AssetService, WarehouseService } from '../warehouse/index.ts'
import type { ListedAsset, StandingPlace } from './asset-schema.ts'
import { nameOf, placeOf } from './place.ts'

/** Assets in one slice: a few milliseconds with their places, also among a million events. */
const sliceAssets = 100

export type AssetQuery = AssetFilter & {
  /** Whether to return where each is. */
  readonly location?: boolean | undefined
  /** Returns where each was at this time, besides where it is now. */
  readonly past?: When | undefined
  /** Only assets in this place: at `past`, if given, else now. */
  readonly place?: Place | undefined
}

/** All given conditions must hold. `slot` is an id or a label, as in a path. */
export type Place = {
  readonly slot?: string | undefined
  readonly zoneId?: number | undefined
  readonly warehouseId?: number | undefined
}

type AssetListNeeds = { work: UnitOfWork; warehouse: WarehouseService; assets: AssetService }

/** Lists assets with their places, for a recall. Computed on one state of the ledger. */
export class AssetList {
  readonly #needs: AssetListNeeds

  constructor(needs: AssetListNeeds) {
    this.#needs = needs
  }

  /** Yields the assets of the query, a slice at a time, with a turn for other requests in between. */
  async *assets(caller: Caller, query: AssetQuery): AsyncGenerator<readonly ListedAsset[], void> {
    const { now, past, ids } = this.#needs.work.read((tx) => ({
      now: settle(tx),
      past: query.past && settle(tx, query.past),
      ids: this.#needs.assets.idsInRange(tx, query),
    }))
    const sight = this.#needs.warehouse.sightOf(caller)
    const settled = { ...query, past }
    const slotId = query.place?.slot === undefined ? undefined : this.#slotId(query.place.slot, caller)
    const listed = (tx: ReadTx, found: (Asset & { key: string })[]) =>
      found
        .filter((asset) => sight.hiddenWarehouses.length === 0 || assetIsSeen(tx, asset, sight))
        .map(({ key, ...asset }) => ({ ...asset, ...this.#places(tx, key, settled, now, caller) }))
        .filter((asset) => isThere(query.past ? asset.locationThen : asset.location, query.place, slotId))
    for (let from = 0; ids && from < ids.length; from += sliceAssets) {
      const slice = ids.slice(from, from + sliceAssets)
      await ownTurn()
      yield this.#needs.work.read((tx) => listed(tx, this.#needs.assets.byId(tx, slice)))
    }
    for (let afterId: number | undefined = ids ? undefined : 0; afterId !== undefined; ) {
      const behind: number = afterId
      await ownTurn()
      const { slice, lastId: next } = this.#needs.work.read((tx) => {
        const found = this.#needs.assets.list(tx, query, behind, sliceAssets)
        return { slice: listed(tx, found), lastId: found.length < sliceAssets ? undefined : found.at(-1)?.id }
      })
      yield slice
      afterId = next
    }
  }

  /** Returns the slot's id; -1, in which no asset is, for a slot that is missing or hidden. */
  #slotId(path: string, caller: Caller): number {
    try {
      return this.#needs.work.read((tx) => this.#needs.warehouse.slotByPath(tx, path, false, caller).id)
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return -1
      throw error
    }
  }

  #places(tx: ReadTx, key: string, { location, past, place }: AssetQuery, now: When, caller: Caller): Places {
    return {
      ...((location || past || place) && { location: this.#place(tx, key, now, caller) }),
      ...(past && { locationThen: this.#place(tx, key, past, caller) }),
    }
  }

  #place(tx: ReadTx, key: string, when: When, caller: Caller): StandingPlace {
    return placeOf(tx, this.#needs.warehouse, { key, caller, when }, nameOf)
  }
}

type Places = Pick<ListedAsset, 'location' | 'locationThen'>

function isThere(standing: StandingPlace | undefined, place: Place | undefined, slotId: number | undefined): boolean {
  if (!place) return true
  const slot = standing?.slot
  if (!slot) return false
  return (
    (slotId === undefined || slot.id === slotId) &&
    (place.zoneId === undefined || slot.zoneId === place.zoneId) &&
    (place.warehouseId === undefined || slot.warehouseId === place.warehouseId)
  )
}
