import { z } from '@hono/zod-openapi'
import {
  type Api,
  allQuery,
  askOf,
  type claimOf,
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
import { deviceTimeHeaders, deviceTimeOf } from '../ledger/index.ts'
import {
  approvalShape,
  Cancel,
  Count,
  CountSlot,
  countShape,
  NewCount,
  NewCountScan,
  Recount,
  reviewShape,
  scanShape,
} from './schema.ts'
import type { CountsService } from './service.ts'

const tag = 'Counts'
const countsPath = '/api/whms/counts'
const idParam = z.object({ id: z.string() })
const CountResource = resource(countShape)
const changing = z.object({ ...ifMatchHeaders, ...onceHeaders })
const changed = { 200: { description: 'The count', schema: CountResource } }
const notNow = ['INVALID_TRANSITION', 'VERSION_MISMATCH'] as const

const openCount = operation({
  id: 'openCount',
  method: 'post',
  path: countsPath,
  access: 'events:verify',
  tag,
  summary: 'Open a count over slots',
  description:
    'Over a warehouse, a zone or listed slots, or over a sample of them. The answer says how many slots that are.',
  input: { headers: z.object(onceHeaders), body: NewCount },
  success: { 201: { description: 'The count', schema: CountResource, location: true } },
  errors: ['REFERENCE_NOT_FOUND'],
})

const listCounts = operation({
  id: 'listCounts',
  method: 'get',
  path: countsPath,
  access: 'whms:read',
  tag,
  summary: 'All counts, the newest first',
  description: 'Open ones and those that are over.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The counts', schema: listOf(Count) } },
})

const getCount = operation({
  id: 'getCount',
  method: 'get',
  path: `${countsPath}/{id}`,
  access: 'whms:read',
  tag,
  summary: 'A count and how far it is',
  description: 'With how many slots are done, and how many are left.',
  input: { params: idParam },
  success: { 200: { description: 'The count', schema: CountResource } },
})

const listCountSlots = operation({
  id: 'listCountSlots',
  method: 'get',
  path: `${countsPath}/{id}/slots`,
  access: 'whms:read',
  tag,
  summary: 'The slots of a count and which are left to do; not what should stand in them',
  description: 'Counters do not see what is expected, so that they count what is there.',
  input: { params: idParam, query: z.object(allQuery) },
  success: { 200: { description: 'The slots', schema: listOf(CountSlot) } },
})

const scanSlot = operation({
  id: 'recordCountScan',
  method: 'post',
  path: `${countsPath}/{id}/scans`,
  access: 'events:create',
  tag,
  summary: 'Tell what stands in a slot',
  description:
    'The answer says nothing of what is expected. The last scan of a slot decides, in the order of their times.',
  input: { params: idParam, headers: z.object({ ...deviceTimeHeaders, ...onceHeaders }), body: NewCountScan },
  success: {
    200: { description: 'Kept earlier under the same client_scan_id', schema: resource(scanShape) },
    201: { description: 'Kept', schema: resource(scanShape) },
  },
  errors: ['INVALID_TRANSITION', 'REFERENCE_NOT_FOUND', 'TIMESTAMP_IN_FUTURE'],
})

const submitCount = operation({
  id: 'submitCount',
  method: 'post',
  path: `${countsPath}/{id}/submit`,
  access: 'events:create',
  tag,
  summary: 'Hand a count in for review',
  description: 'Slots that nobody has scanned are left out of the approval.',
  input: { params: idParam, headers: changing },
  success: changed,
  errors: notNow,
})

const reviewCount = operation({
  id: 'reviewCount',
  method: 'get',
  path: `${countsPath}/{id}/review`,
  access: 'events:verify',
  tag,
  summary: 'Found against expected, slot by slot',
  description: 'Only for those who may verify: counters must not see what is expected.',
  input: { params: idParam },
  success: { 200: { description: 'The count and its lines', schema: resource(reviewShape) } },
})

const recountSlots = operation({
  id: 'recountSlots',
  method: 'post',
  path: `${countsPath}/{id}/recount`,
  access: 'events:verify',
  tag,
  summary: 'Have slots counted again, better by somebody else',
  description: 'Their scans are kept, but no longer decide.',
  input: { params: idParam, headers: changing, body: Recount },
  success: changed,
  errors: [...notNow, 'REFERENCE_NOT_FOUND'],
})

const approveCount = operation({
  id: 'approveCount',
  method: 'post',
  path: `${countsPath}/{id}/approve`,
  access: 'events:verify',
  tag,
  summary: 'Set the ledger right by what was found',
  description:
    'One commit: what was found as expected is VERIFIED, differences become REMOVED and PLACED. Slots that have moved since they were ' +
    'scanned, that nobody has scanned, or that hold a pallet which was found elsewhere too, are left out.',
  input: { params: idParam, headers: changing },
  success: { 200: { description: 'The count and what was recorded', schema: resource(approvalShape) } },
  errors: notNow,
})

const cancelCount = operation({
  id: 'cancelCount',
  method: 'post',
  path: `${countsPath}/{id}/cancel`,
  access: 'events:verify',
  tag,
  summary: 'End a count without consequences',
  description: 'Scans are kept; the ledger does not change.',
  input: { params: idParam, headers: changing, body: Cancel },
  success: changed,
  errors: notNow,
})

export function countRoutes(api: Api, counts: CountsService): void {
  api.openapi(openCount, async (c) => send(c, await counts.open(c.req.valid('json'), askOf(c)), 201))
  api.openapi(listCounts, (c) => c.json(pageOfAll(counts.counts(c.get('caller')), c.req.valid('query')), 200))
  api.openapi(getCount, (c) => sendResource(c, counts.count(numericPath(c.req.valid('param').id), c.get('caller'))))
  api.openapi(listCountSlots, (c) => {
    const slots = counts.slots(numericPath(c.req.valid('param').id), c.get('caller'))
    return c.json(pageOfAll(slots, c.req.valid('query')), 200)
  })
  api.openapi(scanSlot, async (c) => {
    const going = { id: numericPath(c.req.valid('param').id), ...askOf(c) }
    const reply = await counts.scan(c.req.valid('json'), deviceTimeOf(c), going)
    return send(c, reply, reply.status)
  })
  api.openapi(submitCount, async (c) => send(c, await counts.submit(goingOf(c, c.req.valid('param').id)), 200))
  api.openapi(reviewCount, (c) => sendResource(c, counts.review(numericPath(c.req.valid('param').id), c.get('caller'))))
  api.openapi(recountSlots, async (c) =>
    send(c, await counts.recount(c.req.valid('json'), goingOf(c, c.req.valid('param').id)), 200),
  )
  api.openapi(approveCount, async (c) => send(c, await counts.approve(goingOf(c, c.req.valid('param').id)), 200))
  api.openapi(cancelCount, async (c) =>
    send(c, await counts.cancel(c.req.valid('json').reason, goingOf(c, c.req.valid('param').id)), 200),
  )
}

function goingOf(c: Parameters<typeof claimOf>[0], id: string) {
  return { id: numericPath(id), version: versionOf(c), ...askOf(c) }
}
