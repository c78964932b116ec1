import { type Api, listOf, operation, sendAll } from '../http/index.ts'
import type { AssetList } from './asset-list.ts'
import { assetsQuery, ListedAsset } from './asset-schema.ts'

const listAssets = operation({
  id: 'listAssets',
  method: 'get',
  path: '/api/whms/assets',
  access: 'whms:read',
  tag: 'Assets',
  summary: 'All assets, registered and provisional; with filters, and with their places',
  description:
    'A recall is one call: `gtin`, `lot` or `bestBeforeTo` with `location=true` gives the place of each pallet now, ' +
    'and with `at` or `known_at` also its place then. `slot`, `zoneId` and `warehouseId` select the assets that are there, or were ' +
    'there then. All filters are optional.',
  input: { query: assetsQuery },
  success: { 200: { description: 'The assets', schema: listOf(ListedAsset) } },
})

export function assetRoutes(api: Api, list: AssetList): void {
  api.openapi(listAssets, async (c) => {
    const { at, known_at, limit, offset, bestBefore, slot, zoneId, warehouseId, ...query } = c.req.valid('query')
    const days = {
      bestBeforeFrom: [bestBefore, query.bestBeforeFrom]
        .filter((day) => day !== undefined)
        .toSorted()
        .at(-1),
      bestBeforeTo: [bestBefore, query.bestBeforeTo].filter((day) => day !== undefined).toSorted()[0],
    }
    const past = at === undefined && known_at === undefined ? undefined : { atMs: at, knownAtMs: known_at }
    const isPlaced = slot !== undefined || zoneId !== undefined || warehouseId !== undefined
    const place = isPlaced ? { slot, zoneId, warehouseId } : undefined
    const slices = list.assets(c.get('caller'), { ...query, ...days, past, place })
    return await sendAll(c, slices, { limit, offset })
  })
}
