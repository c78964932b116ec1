import { z } from '@hono/zod-openapi'
import {
  type Api,
  claimOf,
  historyLimit,
  listOf,
  numericPath,
  onceHeaders,
  operation,
  originOf,
  readTimeCursor,
  send,
  timeCursor,
} from '../http/index.ts'
import { deviceTimeHeaders, deviceTimeOf } from '../ledger/index.ts'
import { NewScaleReading, readingsPath, readingsQuery, ScaleReading, ScaleReadingResource } from './schema.ts'
import type { ScaleService } from './service.ts'

const tag = 'Scales'

const recordReading = operation({
  method: 'post',
  path: readingsPath,
  access: 'events:create',
  tag,
  summary: 'Record what a scale reads',
  input: { headers: z.object({ ...deviceTimeHeaders, ...onceHeaders }), body: NewScaleReading },
  success: { 201: { description: 'Recorded', schema: ScaleReadingResource, location: true } },
  errors: ['REFERENCE_NOT_FOUND', 'TIMESTAMP_IN_FUTURE'],
})

const listReadings = operation({
  method: 'get',
  path: readingsPath,
  access: 'whms:read',
  tag,
  summary: 'What the scales have read, newest first',
  input: { query: readingsQuery },
  success: { 200: { description: 'One page', schema: listOf(ScaleReading) } },
})

const getReading = operation({
  method: 'get',
  path: `${readingsPath}/{id}`,
  access: 'whms:read',
  tag,
  summary: 'One reading',
  input: { params: z.object({ id: z.string() }) },
  success: { 200: { description: 'The reading', schema: ScaleReadingResource } },
})

export function scaleRoutes(api: Api, scales: ScaleService): void {
  api.openapi(recordReading, async (c) => {
    const asked = { by: originOf(c), claim: claimOf(c), deviceTimeMs: deviceTimeOf(c) }
    return send(c, await scales.record(c.req.valid('json'), asked), 201)
  })
  api.openapi(listReadings, (c) => {
    const { limit = historyLimit, offset = 0, cursor, ...query } = c.req.valid('query')
    const page = { limit, offset, before: cursor === undefined ? undefined : readTimeCursor(cursor) }
    const { readings, hasMore, total } = scales.readings(query, page, c.get('caller'))
    const last = readings.at(-1)
    const nextCursor = hasMore && last ? timeCursor({ timestampMs: Date.parse(last.timestamp), id: last.id }) : null
    return c.json(
      { success: true as const, data: readings, pagination: { limit, offset, total, hasMore, nextCursor } },
      200,
    )
  })
  api.openapi(getReading, (c) =>
    c.json({ success: true as const, ...scales.reading(numericPath(c.req.valid('param').id), c.get('caller')) }, 200),
  )
}
