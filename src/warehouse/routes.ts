import { z } from '@hono/zod-openapi'
import {
  type Api,
  allQuery,
  askOf,
  barcodePath,
  ifMatchHeaders,
  listOf,
  numericPath,
  onceHeaders,
  operation,
  pageOfAll,
  resource,
  send,
  sendResource,
  versionOf,
} from '../http/index.ts'
import type { AssetService } from './assets/service.ts'
import {
  AssetChange,
  AssetResource,
  NewAsset,
  NewWarehouse,
  NewZone,
  Warehouse,
  WarehouseChange,
  WarehouseResource,
  ZoneChange,
  zoneShape,
} from './schema.ts'
import type { WarehouseService } from './service.ts'

const tag = 'Warehouses'

const listWarehouses = operation({
  id: 'listWarehouses',
  method: 'get',
  path: '/api/whms/warehouses',
  access: 'whms:read',
  tag,
  summary: 'All warehouses that the caller may see',
  description: 'The config may limit a warehouse to its `viewers`.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The warehouses', schema: listOf(Warehouse) } },
})

const createWarehouse = operation({
  id: 'createWarehouse',
  method: 'post',
  path: '/api/whms/warehouses',
  access: 'whms:write',
  tag,
  summary: 'Create a warehouse',
  description: 'The first warehouse gets id 1, which is the default of the site in the config.',
  input: { headers: z.object(onceHeaders), body: NewWarehouse },
  success: { 201: { description: 'The warehouse', schema: WarehouseResource, location: true } },
})

const idParam = z.object({ id: z.string() })
const changing = { ...ifMatchHeaders, ...onceHeaders }

const changeWarehouse = operation({
  id: 'changeWarehouse',
  method: 'put',
  path: '/api/whms/warehouses/{id}',
  access: 'whms:write',
  tag,
  summary: 'Change what is named, keep the rest',
  description:
    'Changes the fields that are sent. `If-Match` with the `version` that was read protects changes by others.',
  input: { params: idParam, headers: z.object(changing), body: WarehouseChange },
  success: { 200: { description: 'The warehouse', schema: WarehouseResource } },
  errors: ['VERSION_MISMATCH'],
})

const changeZone = operation({
  id: 'changeZone',
  method: 'put',
  path: '/api/whms/zones/{id}',
  access: 'whms:write',
  tag: 'Zones',
  summary: 'Change a zone',
  description: 'Changes the fields that are sent. A new name also applies to the slots of the zone.',
  input: { params: idParam, headers: z.object(changing), body: ZoneChange },
  success: { 200: { description: 'The zone', schema: resource(zoneShape) } },
  errors: ['ALREADY_EXISTS', 'VERSION_MISMATCH'],
})

const createZone = operation({
  id: 'createZone',
  method: 'post',
  path: '/api/whms/zones',
  access: 'whms:write',
  tag,
  summary: 'Create a zone',
  description: 'Slots that already name this zone as text become part of it.',
  input: { headers: z.object(onceHeaders), body: NewZone },
  success: { 201: { description: 'The zone', schema: resource(zoneShape), location: true } },
  errors: ['ALREADY_EXISTS', 'REFERENCE_NOT_FOUND'],
})

const createAsset = operation({
  id: 'createAsset',
  method: 'post',
  path: '/api/whms/assets',
  access: 'whms:write',
  tag: 'Assets',
  summary: 'Register an asset',
  description: 'Not required before the first event: an unknown barcode in an event becomes a provisional asset.',
  input: { headers: z.object(onceHeaders), body: NewAsset },
  success: { 201: { description: 'The asset', schema: AssetResource, location: true } },
  errors: ['ALREADY_EXISTS'],
})

const getAsset = operation({
  id: 'getAsset',
  method: 'get',
  path: '/api/whms/assets/{barcode}',
  access: 'whms:read',
  tag: 'Assets',
  summary: 'One asset, by any form of its barcode',
  description:
    'All forms of a number have one asset key: with or without AIM prefix, as element strings with FNC1 ' +
    'in front or within, in brackets, as GS1 Digital Link URI, as EPC URN, or as the address of the asset at a gateway.',
  input: { params: barcodePath() },
  success: { 200: { description: 'The asset', schema: AssetResource } },
  errors: ['VALIDATION_ERROR'],
})

const changeAsset = operation({
  id: 'changeAsset',
  method: 'put',
  path: '/api/whms/assets/{barcode}',
  access: 'whms:write',
  tag: 'Assets',
  summary: 'Change an asset',
  description: 'Changes the fields that are sent. Sending the type of a provisional asset registers it.',
  input: { params: barcodePath(), headers: z.object(changing), body: AssetChange },
  success: { 200: { description: 'The asset', schema: AssetResource } },
  errors: ['VERSION_MISMATCH'],
})

export function warehouseRoutes(api: Api, warehouse: WarehouseService, assets: AssetService): void {
  api.openapi(listWarehouses, (c) =>
    c.json(pageOfAll(warehouse.warehouses(c.get('caller')), c.req.valid('query')), 200),
  )
  api.openapi(createWarehouse, async (c) =>
    send(c, await warehouse.createWarehouse(c.req.valid('json'), askOf(c)), 201),
  )
  api.openapi(createZone, async (c) => send(c, await warehouse.createZone(c.req.valid('json'), askOf(c)), 201))
  api.openapi(changeWarehouse, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    const ask = askOf(c)
    return send(c, await warehouse.changeWarehouse(id, c.req.valid('json'), versionOf(c), ask), 200)
  })
  api.openapi(changeZone, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    const ask = askOf(c)
    return send(c, await warehouse.changeZone(id, c.req.valid('json'), versionOf(c), ask), 200)
  })
  api.openapi(createAsset, async (c) => send(c, await assets.create(c.req.valid('json'), askOf(c)), 201))
  api.openapi(getAsset, (c) => sendResource(c, assets.asset(c.req.valid('param').barcode, c.get('caller'))))
  api.openapi(changeAsset, async (c) => {
    const { barcode } = c.req.valid('param')
    const ask = askOf(c)
    return send(c, await assets.change(barcode, c.req.valid('json'), versionOf(c), ask), 200)
  })
}
