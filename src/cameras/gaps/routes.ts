import { z } from '@hono/zod-openapi'
import {
  type Api,
  historyLimit,
  historyQuery,
  listOf,
  numericPath,
  operation,
  readTimeCursor,
  resource,
  sendResource,
  time,
} from '../../http/index.ts'
import type { Gaps } from './gaps.ts'
import { CameraGap, watchedShape } from './schema.ts'

const tag = 'Cameras'
const idParam = z.object({ id: z.string() })
const when = () => time().openapi({ format: 'date-time' })

const listGaps = operation({
  id: 'listCameraGaps',
  method: 'get',
  path: '/api/iot/cctv/{id}/gaps',
  access: 'cameras:read',
  tag,
  summary: 'When a camera did not watch, and why, newest first; a gap that lasts comes first of all',
  description:
    'Every span of 2 s and more in which no pictures came, motion could not be found in them, or nothing could be recorded. The gaps of a camera never overlap. Each that has ended is a leaf of the log.',
  input: {
    params: idParam,
    query: z.object({
      from: when().optional().openapi({ description: 'only gaps that end after this time' }),
      to: when().optional().openapi({ description: 'only gaps that begin before this time' }),
      cursor: z.string().max(64).optional().openapi({ description: 'nextCursor of the previous page' }),
      ...historyQuery,
    }),
  },
  success: { 200: { description: 'One page', schema: listOf(CameraGap) } },
  errors: ['NOT_FOUND'],
})

const getWatched = operation({
  id: 'getCameraWatched',
  method: 'get',
  path: '/api/iot/cctv/{id}/watched',
  access: 'cameras:read',
  tag,
  summary: 'How much of a time a camera watched, with its gaps and detections',
  description:
    'A watchedShare of 1 without detections says that the camera watched all the time and nothing moved. A time that ends in the future counts up to now.',
  input: { params: idParam, query: z.object({ from: when(), to: when() }) },
  success: { 200: { description: 'Share, gaps and detections', schema: resource(watchedShape) } },
  errors: ['NOT_FOUND'],
})

export function gapRoutes(api: Api, gaps: Gaps): void {
  api.openapi(listGaps, async (c) => {
    const { limit = historyLimit, offset = 0, cursor, ...asked } = c.req.valid('query')
    const page = { limit, offset, before: cursor === undefined ? undefined : readTimeCursor(cursor) }
    const id = numericPath(c.req.valid('param').id)
    const { data, ...found } = await gaps.list(id, asked, page, c.get('caller'), c.req.raw.signal)
    return c.json({ success: true as const, data, pagination: { limit, offset, ...found } }, 200)
  })
  api.openapi(getWatched, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    return sendResource(c, await gaps.watched(id, c.req.valid('query'), c.get('caller'), c.req.raw.signal))
  })
}
