import { z } from '@hono/zod-openapi'
import {
  type Api,
  allQuery,
  claimOf,
  ifMatchHeaders,
  listOf,
  onceHeaders,
  operation,
  originOf,
  pageOfAll,
  resource,
  send,
  versionOf,
} from '../http/index.ts'
import {
  Asset,
  AssetChange,
  AssetResource,
  NewAsset,
  NewWarehouse,
  NewZone,
  Warehouse,
  WarehouseResource,
  zoneShape,
} from './schema.ts'
import type { WarehouseService } from './service.ts'

const tag = 'Warehouses'

const listWarehouses = operation({
  method: 'get',
  path: '/api/whms/warehouses',
  access: 'whms:read',
  tag,
  summary: 'All warehouses that the caller may see',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The warehouses', schema: listOf(Warehouse) } },
})

const createWarehouse = operation({
  method: 'post',
  path: '/api/whms/warehouses',
  access: 'whms:write',
  tag,
  summary: 'Create a warehouse',
  input: { headers: z.object(onceHeaders), body: NewWarehouse },
  success: { 201: { description: 'The warehouse', schema: WarehouseResource, location: true } },
})

const createZone = operation({
  method: 'post',
  path: '/api/whms/zones',
  access: 'whms:write',
  tag,
  summary: 'Create a zone',
  input: { headers: z.object(onceHeaders), body: NewZone },
  success: { 201: { description: 'The zone', schema: resource(zoneShape), location: true } },
  errors: ['ALREADY_EXISTS', 'REFERENCE_NOT_FOUND'],
})

const listAssets = operation({
  method: 'get',
  path: '/api/whms/assets',
  access: 'whms:read',
  tag: 'Assets',
  summary: 'All assets, registered ones and those that events have mentioned',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The assets', schema: listOf(Asset) } },
})

const createAsset = operation({
  method: 'post',
  path: '/api/whms/assets',
  access: 'whms:write',
  tag: 'Assets',
  summary: 'Register an asset',
  input: { headers: z.object(onceHeaders), body: NewAsset },
  success: { 201: { description: 'The asset', schema: AssetResource, location: true } },
  errors: ['ALREADY_EXISTS'],
})

const barcodeParam = z.object({ barcode: z.string() })

const getAsset = operation({
  method: 'get',
  path: '/api/whms/assets/{barcode}',
  access: 'whms:read',
  tag: 'Assets',
  summary: 'One asset, by any spelling of its barcode',
  input: { params: barcodeParam },
  success: { 200: { description: 'The asset', schema: AssetResource } },
})

const changeAsset = operation({
  method: 'put',
  path: '/api/whms/assets/{barcode}',
  access: 'whms:write',
  tag: 'Assets',
  summary: 'Change what is named, keep the rest; telling its type registers one that events have only mentioned',
  input: { params: barcodeParam, headers: z.object({ ...ifMatchHeaders, ...onceHeaders }), body: AssetChange },
  success: { 200: { description: 'The asset', schema: AssetResource } },
  errors: ['VERSION_MISMATCH'],
})

export function warehouseRoutes(api: Api, warehouse: WarehouseService): void {
  api.openapi(listWarehouses, (c) =>
    c.json(pageOfAll(warehouse.warehouses(c.get('caller')), c.req.valid('query')), 200),
  )
  api.openapi(createWarehouse, async (c) =>
    send(c, await warehouse.createWarehouse(c.req.valid('json'), { by: originOf(c), claim: claimOf(c) }), 201),
  )
  api.openapi(createZone, async (c) =>
    send(c, await warehouse.createZone(c.req.valid('json'), { by: originOf(c), claim: claimOf(c) }), 201),
  )
  api.openapi(listAssets, (c) => c.json(pageOfAll(warehouse.assets(), c.req.valid('query')), 200))
  api.openapi(createAsset, async (c) =>
    send(c, await warehouse.createAsset(c.req.valid('json'), { by: originOf(c), claim: claimOf(c) }), 201),
  )
  api.openapi(getAsset, (c) =>
    c.json({ success: true as const, ...warehouse.asset(c.req.valid('param').barcode) }, 200),
  )
  api.openapi(changeAsset, async (c) => {
    const { barcode } = c.req.valid('param')
    const ask = { by: originOf(c), claim: claimOf(c) }
    return send(c, await warehouse.changeAsset(barcode, c.req.valid('json'), versionOf(c), ask), 200)
  })
}
