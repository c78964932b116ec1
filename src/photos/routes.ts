import { z } from '@hono/zod-openapi'
import {
  type Api,
  bodyParts,
  claimOfBytes,
  hashPath,
  identityOf,
  onceHeaders,
  operation,
  originOf,
  send,
  sendFile,
} from '../http/index.ts'
import { StoredPhoto } from './schema.ts'
import { type Photos, photoLimitBytes, photosPath } from './service.ts'
import { UploadPlaces } from './upload-places.ts'

const tag = 'Ledger'

const storePhoto = operation({
  id: 'uploadPhoto',
  method: 'post',
  path: photosPath,
  access: 'events:create',
  tag,
  summary: 'Upload a photo: a JPEG, PNG or WebP file of at most 12 MiB',
  description:
    'The body is the file itself, not JSON and not a form. Uploading the same file again answers the same photo. Its SHA-256 goes into the log with the event that names it.',
  input: { headers: z.object(onceHeaders), bytes: ['image/jpeg', 'image/png', 'image/webp'] },
  success: { 201: { description: 'Stored; send its url as photo_url', schema: StoredPhoto, location: true } },
})

const getPhoto = operation({
  id: 'getPhoto',
  method: 'get',
  path: `${photosPath}/{sha256}`,
  access: 'whms:read',
  tag,
  summary: 'The file of an uploaded photo',
  description:
    'For its uploader and for callers who may see an event with it; a photo without an event also for supervisors. Supports Range and If-None-Match. The file never changes.',
  input: { params: z.object(hashPath) },
  success: {
    200: {
      description: 'The bytes',
      schema: z.string().openapi({ format: 'binary' }),
      mediaType: 'image/*',
      ranges: true,
    },
  },
})

export function photoRoutes(api: Api, photos: Photos): void {
  const uploads = new UploadPlaces()

  api.openapi(storePhoto, async (c) => {
    const ask = { by: originOf(c), claim: claimOfBytes(c) }
    const reply = await uploads.use(identityOf(c.get('caller')), () =>
      photos.store(bodyParts(c.req.raw, photoLimitBytes), ask),
    )
    return send(c, reply, 201)
  })

  api.openapi(getPhoto, (c) => sendFile(c, photos.file(c.req.valid('param').sha256, c.get('caller'))))
}
