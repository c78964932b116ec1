import { z } from '@hono/zod-openapi'
import { type Api, allQuery, claimOf, listOf, operation, originOf, pageOfAll, resource, send } from '../http/index.ts'
import {
  Asset,
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
  input: { body: NewWarehouse },
  success: { 201: { description: 'The warehouse', schema: WarehouseResource, location: true } },
  errors: ['IDEMPOTENCY_MISMATCH'],
})

const createZone = operation({
  method: 'post',
  path: '/api/whms/zones',
  access: 'whms:write',
  tag,
  summary: 'Create a zone',
  input: { body: NewZone },
  success: { 201: { description: 'The zone', schema: resource(zoneShape), location: true } },
  errors: ['ALREADY_EXISTS', 'REFERENCE_NOT_FOUND', 'IDEMPOTENCY_MISMATCH'],
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
  input: { body: NewAsset },
  success: { 201: { description: 'The asset', schema: AssetResource, location: true } },
  errors: ['ALREADY_EXISTS', 'IDEMPOTENCY_MISMATCH'],
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
}
