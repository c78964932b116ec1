import { z } from '@hono/zod-openapi'
import {
  type Api,
  historyLimit,
  listOf,
  numericPath,
  onceHeaders,
  operation,
  readTimeCursor,
  send,
  sendResource,
  timeCursor,
} from '../http/index.ts'
import { deviceTimeHeaders, timedAskOf } from '../ledger/index.ts'
import { NewScaleReading, readingsPath, readingsQuery, ScaleReading, ScaleReadingResource } from './schema.ts'
import type { ScaleService } from './service.ts'

const tag = 'Scales'

const recordReading = operation({
  id: 'recordScaleReading',
  method: 'post',
  path: readingsPath,
  access: 'events:create',
  tag,
  summary: 'Record a scale reading',
  description: 'A reading may name a slot, an asset or a transport unit. Receivers get scale.reading.',
  input: { headers: z.object({ ...deviceTimeHeaders, ...onceHeaders }), body: NewScaleReading },
  success: { 201: { description: 'Recorded', schema: ScaleReadingResource, location: true } },
  errors: ['REFERENCE_NOT_FOUND', 'TIMESTAMP_IN_FUTURE'],
})

const listReadings = operation({
  id: 'listScaleReadings',
  method: 'get',
  path: readingsPath,
  access: 'whms:read',
  tag,
  summary: 'Scale readings, newest first',
  description: 'Filters are combined.',
  input: { query: readingsQuery },
  success: { 200: { description: 'One page', schema: listOf(ScaleReading) } },
})

const getReading = operation({
  id: 'getScaleReading',
  method: 'get',
  path: `${readingsPath}/{id}`,
  access: 'whms:read',
  tag,
  summary: 'One reading',
  description: 'As it was recorded.',
  input: { params: z.object({ id: z.string() }) },
  success: { 200: { description: 'The reading', schema: ScaleReadingResource } },
})

export function scaleRoutes(api: Api, scales: ScaleService): void {
  api.openapi(recordReading, async (c) => {
    const asked = timedAskOf(c)
    return send(c, await scales.record(c.req.valid('json'), asked), 201)
  })
  api.openapi(listReadings, async (c) => {
    const { limit = historyLimit, offset = 0, cursor, ...query } = c.req.valid('query')
    const page = { limit, offset, before: cursor === undefined ? undefined : readTimeCursor(cursor) }
    const { readings, hasMore, total } = await scales.readings(query, page, c.get('caller'), c.req.raw.signal)
    const last = readings.at(-1)
    const nextCursor = hasMore && last ? timeCursor({ timestampMs: Date.parse(last.timestamp), id: last.id }) : null
    return c.json(
      { success: true as const, data: readings, pagination: { limit, offset, total, hasMore, nextCursor } },
      200,
    )
  })
  api.openapi(getReading, (c) => sendResource(c, scales.reading(numericPath(c.req.valid('param').id), c.get('caller'))))
}
