import { z } from '@hono/zod-openapi'
import { eventKinds } from '../config/index.ts'
import {
  type Api,
  allQuery,
  historyLimit,
  historyQuery,
  listOf,
  numericPath,
  operation,
  originOf,
  pageOfAll,
  queryInteger,
  readTimeCursor,
  resource,
  sendFile,
  sendResource,
  time,
} from '../http/index.ts'
import { Evidence } from '../log/index.ts'
import type { Detections } from './detections/detections.ts'
import { detectionTriggers } from './detections/triggers.ts'
import {
  Camera,
  detectionShape,
  ListedDetection,
  MotionAction,
  motionResultShape,
  motionStatusShape,
} from './schema.ts'
import type { CamerasService } from './service.ts'

const tag = 'Cameras'
const idParam = z.object({ id: z.string() })
const binary = z.string().openapi({ format: 'binary' })

const listCameras = operation({
  id: 'listCameras',
  method: 'get',
  path: '/api/iot/cctv',
  access: 'cameras:read',
  tag,
  summary: 'The cameras that the caller may see; never with their addresses or passwords',
  description: 'Each with its state, its last picture and its motion. Owners, viewers and admins of a camera see it.',
  input: { query: z.object(allQuery) },
  success: { 200: { description: 'The cameras', schema: listOf(Camera) } },
})

const controlMotion = operation({
  id: 'controlMotion',
  method: 'post',
  path: '/api/iot/detection/motion-stream',
  access: 'cameras:read',
  tag,
  summary: 'Start or stop motion detection of one camera',
  description:
    'For the owner of the camera, and for callers who may see it and have cameras:control. Settings that start leaves out come from the config.',
  input: { body: MotionAction },
  success: { 200: { description: 'The state after the action', schema: resource(motionResultShape) } },
  errors: ['NOT_FOUND', 'PERMISSION_DENIED'],
})

const getMotion = operation({
  id: 'getMotionStatus',
  method: 'get',
  path: '/api/iot/detection/motion-stream',
  access: 'cameras:read',
  tag,
  summary: 'The state and the counts of motion detection of one camera',
  description: 'Counts continue through reconnects. The start action sets them to zero.',
  input: { query: z.object({ cctvId: queryInteger({ min: 1 }) }) },
  success: { 200: { description: 'State and counts', schema: resource(motionStatusShape) } },
  errors: ['NOT_FOUND'],
})

const listDetections = operation({
  id: 'listDetections',
  method: 'get',
  path: '/api/iot/detection-events',
  access: 'cameras:read',
  tag,
  summary: 'Motion that the cameras of the caller detected, newest first; with after_seq oldest first and without gaps',
  description:
    'Each with the addresses of its clip and snapshot, and with the result of the upload. Films of floor events come with trigger=all or trigger=event.',
  input: {
    query: z.object({
      cctvId: queryInteger({ min: 1 }).optional(),
      from: time().optional().openapi({ format: 'date-time' }),
      to: time().optional().openapi({ format: 'date-time' }),
      trigger: z.enum(detectionTriggers).default('motion').openapi({
        description:
          "motion: motion, by whatever it was found · pictures: found in the pictures · camera: found by the camera's own analytics · event: films of floor events · all: motion and films",
      }),
      kind: z.enum(eventKinds).optional().openapi({
        description: 'only detections in which the analytics of the camera named this',
      }),
      after_seq: queryInteger({ min: 0 })
        .optional()
        .openapi({ description: 'only what was recorded after this seq, in the order of the log' }),
      cursor: z.string().max(64).optional().openapi({ description: 'nextCursor of the previous page' }),
      ...historyQuery,
    }),
  },
  success: { 200: { description: 'One page', schema: listOf(ListedDetection) } },
  errors: ['NOT_FOUND'],
})

const getDetection = operation({
  id: 'getDetection',
  method: 'get',
  path: '/api/iot/detection-events/{id}',
  access: 'cameras:read',
  tag,
  summary: 'One detection',
  description: 'While its clip is still being recorded the answer is 503 with the code CLIP_PENDING.',
  input: { params: idParam },
  success: { 200: { description: 'The detection', schema: resource({ ...detectionShape, evidence: Evidence }) } },
  errors: ['CLIP_PENDING'],
})

const getClip = operation({
  id: 'getDetectionClip',
  method: 'get',
  path: '/api/iot/detection-events/{id}/clip',
  access: 'cameras:read',
  tag,
  summary: 'The clip of a detection, whole or in ranges',
  description: 'Supports Range and If-None-Match, so that players can seek.',
  input: { params: idParam },
  success: { 200: { description: 'MP4', schema: binary, mediaType: 'video/mp4', ranges: true } },
  errors: ['CLIP_PENDING', 'SECOND_PERSON_NEEDED'],
})

const getSnapshot = operation({
  id: 'getDetectionSnapshot',
  method: 'get',
  path: '/api/iot/detection-events/{id}/snapshot',
  access: 'cameras:read',
  tag,
  summary: 'The snapshot of a detection',
  description: 'The frame in which the motion was detected.',
  input: { params: idParam },
  success: { 200: { description: 'PNG', schema: binary, mediaType: 'image/png', ranges: true } },
  errors: ['CLIP_PENDING'],
})

export function cameraRoutes(api: Api, cameras: CamerasService, detections: Detections): void {
  api.openapi(listCameras, (c) => c.json(pageOfAll(cameras.cameras(c.get('caller')), c.req.valid('query')), 200))
  api.openapi(controlMotion, async (c) => sendResource(c, await cameras.control(c.req.valid('json'), originOf(c))))
  api.openapi(getMotion, (c) => sendResource(c, cameras.status(c.req.valid('query').cctvId, c.get('caller'))))
  api.openapi(listDetections, async (c) => {
    const { limit = historyLimit, offset = 0, after_seq: afterSeq, cursor, ...query } = c.req.valid('query')
    const page = { limit, offset, afterSeq, before: cursor === undefined ? undefined : readTimeCursor(cursor) }
    const { data, ...found } = await detections.list(query, page, c.get('caller'), c.req.raw.signal)
    return c.json({ success: true as const, data, pagination: { limit, offset, ...found } }, 200)
  })
  api.openapi(getDetection, (c) =>
    c.json({ success: true as const, ...detections.one(numericPath(c.req.valid('param').id), c.get('caller')) }, 200),
  )
  api.openapi(getClip, (c) => sendFile(c, detections.play(numericPath(c.req.valid('param').id), c.get('caller'))))
  api.openapi(getSnapshot, (c) =>
    sendFile(c, detections.snapshot(numericPath(c.req.valid('param').id), c.get('caller'))),
  )
}
