import { z } from '@hono/zod-openapi'

export const StoredPhoto = z
  .object({
    success: z.literal(true),
    sha256: z.string(),
    url: z.string().openapi({ format: 'uri', description: 'send it as photo_url of an event' }),
    mediaType: z.string(),
    sizeBytes: z.int(),
    width: z.int().nullable().openapi({ description: 'pixels, before the rotation of EXIF' }),
    height: z.int().nullable(),
    takenAt: z
      .string()
      .nullable()
      .openapi({ description: 'from EXIF: local time of the camera, with its offset if the camera records one' }),
  })
  .openapi('StoredPhoto')
export type StoredPhoto = z.infer<typeof StoredPhoto>
