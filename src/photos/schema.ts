import { z } from '@hono/zod-openapi'

export const StoredPhoto = z
  .object({
    success: z.literal(true),
    sha256: z.string(),
    url: z.string().openapi({ format: 'uri', description: 'goes into photo_url of an event' }),
    mediaType: z.string(),
    sizeBytes: z.int(),
    width: z.int().nullable().openapi({ description: 'pixels, before any turning' }),
    height: z.int().nullable(),
    takenAt: z
      .string()
      .nullable()
      .openapi({ description: "as its EXIF says: the camera's local time, with its offset when the camera tells it" }),
  })
  .openapi('StoredPhoto')
export type StoredPhoto = z.infer<typeof StoredPhoto>
