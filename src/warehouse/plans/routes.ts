import { z } from '@hono/zod-openapi'
import {
  type Api,
  claimOfBytes,
  hashPath,
  ifMatchHeaders,
  numericPath,
  onceHeaders,
  operation,
  originOf,
  rawAnswer,
  readBody,
  send,
  versionOf,
} from '../../http/index.ts'
import { WarehouseResource } from '../schema.ts'
import { type PlanImages, planImageLimitBytes } from './plan-images.ts'

const tag = 'Warehouses'
const path = '/api/whms/warehouses/{id}/floor-plan-image'
const idParam = z.object({ id: z.string() })

const storeImage = operation({
  id: 'storeFloorPlanImage',
  method: 'put',
  path,
  access: 'whms:write',
  tag,
  summary: 'Put a picture of the hall below its plan',
  description:
    'The body is the file itself: PNG or JPEG of at most 8 MiB and 24 million pixels, or SVG of at most 1 MiB that contains no script and loads nothing. Its bytes decide the type. The first one is placed around the slots, a later one in the place of the one before; `floorPlanImage` in a PUT of the warehouse moves it.',
  input: {
    params: idParam,
    headers: z.object({ ...ifMatchHeaders, ...onceHeaders }),
    bytes: ['image/png', 'image/jpeg', 'image/svg+xml'],
  },
  success: { 200: { description: 'The warehouse', schema: WarehouseResource } },
  errors: ['VERSION_MISMATCH'],
})

const getImage = operation({
  id: 'getFloorPlanImage',
  method: 'get',
  path: `${path}/{sha256}`,
  access: 'whms:read',
  tag,
  summary: 'The picture below the plan of a warehouse',
  description: '`floorPlanImage.sha256` of the warehouse names it. 404 when the plan has another picture by now.',
  input: { params: z.object({ id: z.string(), ...hashPath }) },
  success: {
    200: {
      description: 'The bytes',
      schema: z.string().openapi({ format: 'binary' }),
      mediaType: ['image/png', 'image/jpeg', 'image/svg+xml'],
    },
  },
})

const removeImage = operation({
  id: 'removeFloorPlanImage',
  method: 'delete',
  path,
  access: 'whms:write',
  tag,
  summary: 'Remove the picture below the plan of a warehouse',
  description: 'Slots and zones stay as they are.',
  input: { params: idParam, headers: z.object(ifMatchHeaders) },
  success: { 204: { description: 'Removed' } },
  errors: ['VERSION_MISMATCH'],
})

export const isPlanImagePath = (asked: string): boolean =>
  /^\/api\/whms\/warehouses\/[^/]+\/floor-plan-image$/.test(asked)

export function planImageRoutes(api: Api, images: PlanImages): void {
  api.openapi(storeImage, async (c) => {
    const id = numericPath(c.req.valid('param').id)
    const [by, claim, version] = [originOf(c), claimOfBytes(c), versionOf(c)]
    const bytes = Buffer.from(await readBody(c.req.raw, planImageLimitBytes))
    return send(c, await images.store(id, bytes, version, { by, claim }), 200)
  })
  api.openapi(getImage, (c) => {
    const { id, sha256 } = c.req.valid('param')
    const { mediaType, bytes } = images.file(numericPath(id), sha256, c.get('caller'))
    const headers = {
      'Content-Type': mediaType,
      ETag: `"${sha256}"`,
      'Cache-Control': 'private, max-age=31536000, immutable',
      // Opened by itself, a drawing may style itself and nothing else.
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    }
    return rawAnswer(c.body(new Uint8Array(bytes), 200, headers))
  })
  api.openapi(removeImage, async (c) => {
    await images.remove(numericPath(c.req.valid('param').id), versionOf(c), { by: originOf(c) })
    return c.body(null, 204)
  })
}
