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
    'Covers a warehouse, a zone or listed slots, or a random sample of them. The answer has the number of slots.',
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
  summary: 'All counts, newest first',
  description: 'Open counts and ended ones.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The counts', schema: listOf(Count) } },
})

const getCount = operation({
  id: 'getCount',
  method: 'get',
  path: `${countsPath}/{id}`,
  access: 'whms:read',
  tag,
  summary: 'A count and its progress',
  description: 'With the number of slots that are counted, and the number that are left.',
  input: { params: idParam },
  success: { 200: { description: 'The count', schema: CountResource } },
})

const listCountSlots = operation({
  id: 'listCountSlots',
  method: 'get',
  path: `${countsPath}/{id}/slots`,
  access: 'whms:read',
  tag,
  summary: 'The slots of a count and which are left; without the expected pallets',
  description: 'Counters do not see what is expected, so that they report what they find.',
  input: { params: idParam, query: z.object(allQuery) },
  success: { 200: { description: 'The slots', schema: listOf(CountSlot) } },
})

const scanSlot = operation({
  id: 'recordCountScan',
  method: 'post',
  path: `${countsPath}/{id}/scans`,
  access: 'events:create',
  tag,
  summary: 'Record the pallets found in a slot',
  description: 'The answer does not show the expected pallets. The scan with the latest time decides for a slot.',
  input: { params: idParam, headers: z.object({ ...deviceTimeHeaders, ...onceHeaders }), body: NewCountScan },
  success: {
    200: { description: 'Recorded earlier under the same client_scan_id', schema: resource(scanShape) },
    201: { description: 'Recorded', schema: resource(scanShape) },
  },
  errors: ['INVALID_TRANSITION', 'REFERENCE_NOT_FOUND', 'TIMESTAMP_IN_FUTURE'],
})

const submitCount = operation({
  id: 'submitCount',
  method: 'post',
  path: `${countsPath}/{id}/submit`,
  access: 'events:create',
  tag,
  summary: 'Submit a count for review',
  description: 'The approval leaves out slots without a scan.',
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
  summary: 'Found and expected pallets, slot by slot',
  description: 'Needs events:verify: counters must not see what is expected.',
  input: { params: idParam },
  success: { 200: { description: 'The count and its lines', schema: resource(reviewShape) } },
})

const recountSlots = operation({
  id: 'recountSlots',
  method: 'post',
  path: `${countsPath}/{id}/recount`,
  access: 'events:verify',
  tag,
  summary: 'Have slots counted again, preferably by another person',
  description: 'Their earlier scans are kept, but do not decide.',
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
  summary: 'Correct the ledger with the result of a count',
  description:
    'One transaction: slots as expected become VERIFIED, differences become REMOVED and PLACED. Left out are slots that changed after they were ' +
    'scanned, slots without a scan, and slots with a pallet that was found elsewhere too.',
  input: { params: idParam, headers: changing },
  success: { 200: { description: 'The count and the recorded events', schema: resource(approvalShape) } },
  errors: notNow,
})

const cancelCount = operation({
  id: 'cancelCount',
  method: 'post',
  path: `${countsPath}/{id}/cancel`,
  access: 'events:verify',
  tag,
  summary: 'Cancel a count',
  description: 'Its scans are kept; the ledger does not change.',
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
