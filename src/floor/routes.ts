import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { AppError } from '../errors/index.ts'
import {
  type Api,
  type AppEnv,
  allQuery,
  askOf,
  barcodePath,
  ifMatchHeaders,
  listOf,
  numericPath,
  onceHeaders,
  operation,
  pageOfAll,
  send,
  sendAll,
  sendPacked,
  sendPage,
  sendResource,
  takesPacked,
  versionOf,
} from '../http/index.ts'
import { NewSlot, SlotChange } from '../warehouse/index.ts'
import {
  AssetLocationResource,
  byQuery,
  FloorSlot,
  FloorSlotResource,
  FloorZone,
  FloorZoneResource,
  inWarehouseQuery,
  slotFilterQuery,
  UtilizationResource,
  WarehouseDetail,
  whenQuery,
  zoneSlotsQuery,
} from './schema.ts'
import { type FloorFilter, type FloorService, pageSlots } from './service.ts'
import { ChangedSlots, SlotBatch } from './slot-batch.ts'

export const slotBatchPath = '/api/whms/slots/batch'

const idParam = z.object({ id: z.string() })
const reading = { method: 'get', access: 'whms:read' } as const

const listSlots = operation({
  id: 'listSlots',
  ...reading,
  path: '/api/whms/slots',
  tag: 'Slots',
  summary: 'All slots with their contents',
  description:
    'Occupancy, verification and dispute are derived from the ledger, now or at `at`. Without `limit` the whole list is streamed.',
  input: { query: z.object({ ...allQuery, ...slotFilterQuery, ...whenQuery }) },
  errors: ['NOT_FOUND'],
  success: { 200: { description: 'The slots', schema: listOf(FloorSlot) } },
})

const getSlot = operation({
  id: 'getSlot',
  ...reading,
  path: '/api/whms/slots/{id}',
  tag: 'Slots',
  summary: 'One slot with its contents, by its integer id or its label',
  description: 'A whole number is the `id`, anything else the label; `by=slot_id` makes a number a label too.',
  input: { params: idParam, query: z.object({ ...byQuery, ...whenQuery }) },
  success: { 200: { description: 'The slot', schema: FloorSlotResource } },
})

const createSlot = operation({
  id: 'createSlot',
  method: 'post',
  path: '/api/whms/slots',
  access: 'whms:write',
  tag: 'Slots',
  summary: 'Create a slot',
  description: 'The label has to be new, without regard to case. Slots are never deleted; they retire.',
  input: { headers: z.object(onceHeaders), body: NewSlot },
  success: { 201: { description: 'The slot', schema: FloorSlotResource, location: true } },
  errors: ['ALREADY_EXISTS', 'REFERENCE_NOT_FOUND'],
})

const changeSlot = operation({
  id: 'changeSlot',
  method: 'put',
  path: '/api/whms/slots/{id}',
  access: 'whms:write',
  tag: 'Slots',
  summary: 'Change a slot',
  description: 'Changes the fields that are sent. The label cannot change. `retired` takes a slot out of use.',
  input: {
    params: idParam,
    query: z.object(byQuery),
    headers: z.object({ ...ifMatchHeaders, ...onceHeaders }),
    body: SlotChange,
  },
  success: { 200: { description: 'The slot', schema: FloorSlotResource } },
  errors: ['REFERENCE_NOT_FOUND', 'VERSION_MISMATCH'],
})

const changeSlots = operation({
  id: 'changeSlots',
  method: 'post',
  path: slotBatchPath,
  access: 'whms:write',
  tag: 'Slots',
  summary: 'Change up to 100 slots, at most 1 MiB, in one commit',
  description:
    'Each change has the id of its slot and the fields of a PUT; `version` refuses it when the slot has another one by now. ' +
    '`rollback`: all or none; a refusal names the fields of all changes (`changes.3.zone`), and is 412 when every refused one ' +
    'has another version. `proceed`: each by itself. Counts as one request.',
  input: { headers: z.object(onceHeaders), body: SlotBatch },
  success: { 200: { description: 'rollback: all are changed. proceed: the result of each', schema: ChangedSlots } },
  errors: ['REFERENCE_NOT_FOUND', 'VERSION_MISMATCH'],
})

const listZones = operation({
  id: 'listZones',
  ...reading,
  path: '/api/whms/zones',
  tag: 'Zones',
  summary: 'All zones with their numbers of slots and their occupancy',
  description: 'Counted from the ledger, now or at `at`.',
  input: { query: z.object({ ...allQuery, ...inWarehouseQuery, ...whenQuery }) },
  success: { 200: { description: 'The zones', schema: listOf(FloorZone) } },
})

const getZone = operation({
  id: 'getZone',
  ...reading,
  path: '/api/whms/zones/{id}',
  tag: 'Zones',
  summary: 'One zone with its number of slots and its occupancy',
  description: 'Counted from the ledger, now or at `at`.',
  input: { params: idParam, query: z.object(whenQuery) },
  success: { 200: { description: 'The zone', schema: FloorZoneResource } },
})

const listZoneSlots = operation({
  id: 'listZoneSlots',
  ...reading,
  path: '/api/whms/zones/{id}/slots',
  tag: 'Zones',
  summary: 'All slots of a zone with their contents',
  description: 'Like the list of all slots, for one zone.',
  input: { params: idParam, query: z.object({ ...allQuery, ...zoneSlotsQuery, ...whenQuery }) },
  success: { 200: { description: 'The slots', schema: listOf(FloorSlot) } },
})

const getWarehouse = operation({
  id: 'getWarehouse',
  ...reading,
  path: '/api/whms/warehouses/{id}',
  tag: 'Warehouses',
  summary: 'A warehouse with its zones and utilization',
  description: 'With its zones and their occupancy, counted from the ledger.',
  input: { params: idParam, query: z.object(whenQuery) },
  success: { 200: { description: 'The warehouse', schema: WarehouseDetail } },
})

const getLocation = operation({
  id: 'getAssetLocation',
  ...reading,
  path: '/api/whms/assets/{barcode}/location',
  tag: 'Assets',
  summary: 'The slot of an asset, derived from the ledger',
  description:
    'The slot of the newest PLACED of the asset, until the next PLACED or REMOVED in that slot, of any barcode. So the slot always ' +
    'shows the asset. An asset that is in no slot has `slot: null`, with `lastSlot` and `endedBy`; an unknown asset is 404.',
  input: { params: barcodePath(), query: z.object(whenQuery) },
  success: { 200: { description: 'Its slot; null: it is in none', schema: AssetLocationResource } },
})

const getUtilization = operation({
  id: 'getUtilization',
  ...reading,
  path: '/api/whms/dashboard/utilization',
  tag: 'Dashboard',
  summary: 'Utilization of the warehouses',
  description: 'For the warehouses that the caller may see, now or at `at`.',
  input: { query: z.object(whenQuery) },
  success: { 200: { description: 'Utilization', schema: UtilizationResource } },
})

type SlotsQuery = FloorFilter &
  Parameters<typeof whenOf>[0] & { limit?: number | undefined; offset?: number | undefined }

/** Sends a short page in one piece, all present slots from the packed list, and any other list as it is read. */
async function sendSlots(c: Context<AppEnv>, floor: FloorService, query: SlotsQuery) {
  const { limit, offset, at: _at, known_at: _knownAt, ...filter } = query
  const isAllOfNow = Object.values(query).every((one) => one === undefined)
  const packed = isAllOfNow && takesPacked(c) ? await floor.packedSlots(c.get('caller')) : undefined
  if (packed) return sendPacked(c, packed)
  // Only the ledger knows how many slots are occupied, so all are read.
  if (limit === undefined || limit > pageSlots || filter.occupied !== undefined)
    return sendAll(c, floor.slots(c.get('caller'), whenOf(query), filter), query)
  const { rows, total } = floor.slotPage(c.get('caller'), whenOf(query), { ...filter, limit, offset: offset ?? 0 })
  return sendPage(c, rows, total, query)
}

export function floorRoutes(api: Api, floor: FloorService): void {
  api.openapi(listSlots, async (c) => {
    const query = c.req.valid('query')
    return await sendSlots(c, floor, query)
  })
  api.openapi(getSlot, (c) => {
    const query = c.req.valid('query')
    return c.json(
      {
        success: true as const,
        ...floor.slot(c.req.valid('param').id, query.by !== undefined, c.get('caller'), whenOf(query)),
      },
      200,
    )
  })
  api.openapi(createSlot, async (c) => send(c, await floor.createSlot(c.req.valid('json'), askOf(c)), 201))
  api.openapi(changeSlot, async (c) => {
    const { id } = c.req.valid('param')
    const byLabel = c.req.valid('query').by !== undefined
    const ask = askOf(c)
    return send(c, await floor.changeSlot({ path: id, byLabel }, c.req.valid('json'), versionOf(c), ask), 200)
  })
  api.openapi(changeSlots, async (c) => send(c, await floor.changeSlots(c.req.valid('json'), askOf(c)), 200))
  api.openapi(listZones, async (c) => {
    const query = c.req.valid('query')
    const zones = await floor.zones(c.get('caller'), whenOf(query), query.warehouseId, c.req.raw.signal)
    return c.json(pageOfAll(zones, query), 200)
  })
  api.openapi(getZone, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    const zone = await floor.zone(id, c.get('caller'), whenOf(c.req.valid('query')), c.req.raw.signal)
    return sendResource(c, zone)
  })
  api.openapi(listZoneSlots, async (c) => {
    const query = c.req.valid('query')
    const zoneId = numericPath(c.req.valid('param').id)
    if (zoneId === undefined) throw AppError.notFound('Zone')
    return await sendSlots(c, floor, { ...query, zoneId })
  })
  api.openapi(getWarehouse, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    const warehouse = await floor.warehouse(id, c.get('caller'), whenOf(c.req.valid('query')), c.req.raw.signal)
    return sendResource(c, warehouse)
  })
  api.openapi(getLocation, (c) => {
    const { barcode } = c.req.valid('param')
    return c.json(
      { success: true as const, ...floor.location(barcode, c.get('caller'), whenOf(c.req.valid('query'))) },
      200,
    )
  })
  api.openapi(getUtilization, async (c) => {
    const use = await floor.utilization(c.get('caller'), whenOf(c.req.valid('query')), c.req.raw.signal)
    return sendResource(c, use)
  })
}

function whenOf(query: { at?: number | undefined; known_at?: number | undefined }) {
  return { atMs: query.at, knownAtMs: query.known_at }
}
