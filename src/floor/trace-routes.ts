import { z } from '@hono/zod-openapi'
import {
  type Api,
  barcodePath,
  type Caller,
  historyLimit,
  numericPath,
  operation,
  queryInteger,
  readTimeCursor,
  sendResource,
} from '../http/index.ts'
import type { When } from '../ledger/index.ts'
import { footageWindowSeconds } from './footage.ts'
import { byQuery } from './schema.ts'
import { FootageResource, StayList, StoryList, traceQuery } from './trace-schema.ts'
import type { TracePage, Traces } from './traces.ts'

const reading = { method: 'get', access: 'whms:read' } as const

const slotHistory = operation({
  id: 'getSlotHistory',
  ...reading,
  path: '/api/whms/slots/{id}/history',
  tag: 'Slots',
  summary: 'The stays in a slot, newest first, each with the events that began and ended it',
  description: 'A stay begins with a PLACED and ends with the next PLACED or REMOVED in the slot, of any barcode.',
  input: { params: z.object({ id: z.string() }), query: traceQuery.extend(byQuery) },
  success: { 200: { description: 'One page', schema: StayList } },
})

const assetHistory = operation({
  id: 'getAssetHistory',
  ...reading,
  path: '/api/whms/assets/{barcode}/history',
  tag: 'Assets',
  summary: 'The stays of an asset, newest first, each with the events that began and ended it',
  description:
    'A stay begins with a PLACED. It ends with the next PLACED or REMOVED in that slot, of any barcode, or with a PLACED elsewhere.',
  input: { params: barcodePath(), query: traceQuery },
  success: { 200: { description: 'One page', schema: StayList } },
})

const assetStory = operation({
  id: 'getAssetStory',
  ...reading,
  path: '/api/whms/assets/{barcode}/story',
  tag: 'Assets',
  summary: 'Every move of an asset with its evidence, oldest first',
  description:
    'With photo, weight, people, verifications, disputes, corrections and the clips of the cameras of the slot.',
  input: { params: barcodePath(), query: traceQuery },
  success: { 200: { description: 'One page', schema: StoryList } },
})

const eventFootage = operation({
  id: 'getEventFootage',
  ...reading,
  path: '/api/whms/events/{id}/footage',
  tag: 'Ledger',
  summary: 'The film of an event, from the cameras that watch its slot',
  description:
    'Films that show the moment of the event: filmed for it, or for motion. `reason` says why there is none. `watching` lists what each camera recorded around it.',
  input: {
    params: z.object({ id: z.string() }),
    query: z.object({
      seconds: queryInteger({ min: 0, max: 600 })
        .optional()
        .openapi({ description: `seconds before and after; ${footageWindowSeconds} unless sent` }),
    }),
  },
  success: { 200: { description: 'The films, and what else was recorded', schema: FootageResource } },
})

export function traceRoutes(api: Api, traces: Traces): void {
  api.openapi(slotHistory, (c) => {
    const { by, ...query } = c.req.valid('query')
    const find = (caller: Caller, when: When, page: TracePage) =>
      traces.ofSlot(c.req.valid('param').id, by !== undefined, caller, when, page)
    return c.json(pageOf(query, c.get('caller'), find), 200)
  })
  api.openapi(assetHistory, (c) => {
    const find = traces.ofAsset.bind(traces, c.req.valid('param').barcode)
    return c.json(pageOf(c.req.valid('query'), c.get('caller'), find), 200)
  })
  api.openapi(assetStory, (c) => {
    const find = traces.story.bind(traces, c.req.valid('param').barcode)
    return c.json(pageOf(c.req.valid('query'), c.get('caller'), find), 200)
  })
  api.openapi(eventFootage, (c) => {
    const { seconds = footageWindowSeconds } = c.req.valid('query')
    const found = traces.footage(numericPath(c.req.valid('param').id), seconds, c.get('caller'))
    return sendResource(c, found)
  })
}

type Found<T> = { data: T[]; hasMore: boolean; total: number | null; nextCursor: string | null }

function pageOf<T>(
  query: z.output<typeof traceQuery>,
  caller: Caller,
  find: (caller: Caller, when: When, page: TracePage) => Found<T>,
) {
  const { limit = historyLimit, offset = 0, cursor, at, known_at } = query
  const behind = cursor === undefined ? undefined : readTimeCursor(cursor)
  const { data, ...rest } = find(caller, { atMs: at, knownAtMs: known_at }, { limit, offset, behind })
  return { success: true as const, data, pagination: { limit, offset, ...rest } }
}
