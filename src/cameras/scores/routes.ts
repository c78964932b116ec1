import { z } from '@hono/zod-openapi'
import { type Api, numericPath, operation, resource, sendResource } from '../../http/index.ts'
import { scoresQuery, scoresShape, WhatIf, whatIfShape } from './schema.ts'
import type { Scores } from './scores.ts'

const tag = 'Cameras'
const idParam = z.object({ id: z.string() })

const getScores = operation({
  id: 'getCameraScores',
  method: 'get',
  path: '/api/iot/cctv/{id}/scores',
  access: 'cameras:read',
  tag,
  summary: 'How much the pictures of a camera changed, five times a second',
  description:
    'Motion is what is over the sensitivity for some time. The scores are kept for retention.scores.maxAgeDays. A time without pictures is null, never 0.',
  input: { params: idParam, query: scoresQuery },
  success: { 200: { description: 'One number for each 200 ms', schema: resource(scoresShape) } },
  errors: ['NOT_FOUND', 'REPLAYS_WAITING'],
})

const askWhatIf = operation({
  id: 'askWhatIf',
  method: 'post',
  path: '/api/iot/cctv/{id}/what-if',
  access: 'cameras:read',
  tag,
  summary: 'Which motion of a past time other settings would have found',
  description:
    'For the owner of the camera, and for callers who may see it and have cameras:control. Replays what motion detection saw, and compares it with the recorded detections. It changes nothing.',
  input: { params: idParam, body: WhatIf },
  success: { 200: { description: 'Events, and what would be gone', schema: resource(whatIfShape) } },
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'REPLAYS_WAITING'],
})

export function scoreRoutes(api: Api, scores: Scores): void {
  api.openapi(getScores, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    return sendResource(c, await scores.of(id, c.req.valid('query'), c.get('caller')))
  })
  api.openapi(askWhatIf, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    return sendResource(c, await scores.whatIf(id, c.req.valid('json'), c.get('caller'), c.req.raw.signal))
  })
}
