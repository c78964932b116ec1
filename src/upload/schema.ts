import { z } from '@hono/zod-openapi'
import { historyQuery, listOf, resource, rowId, timeOut } from '../http/index.ts'
import { openClipStatuses, parkedReasons, uploadKinds, uploadStatuses } from './tables.ts'

export const UploadQuery = z.object({
  ...historyQuery,
  status: z.enum(uploadStatuses).optional(),
  kind: z.enum(uploadKinds).optional(),
})
export type UploadQuery = z.output<typeof UploadQuery>

const uploadShape = {
  id: rowId(),
  kind: z.enum(uploadKinds),
  ref: z.string().openapi({
    description: 'Source of the copy: id of the detection, SHA-256 of the photo, id of the report',
  }),
  path: z.string().openapi({ description: 'path on the storage server, from the root of the account on' }),
  status: z.enum(uploadStatuses).openapi({
    description: 'uploaded: the copy on the server was compared. parked: not tried again until a person asks for it',
  }),
  parkedFor: z.enum(parkedReasons).nullable().openapi({
    description:
      'quota: no room on the server. hash: other bytes are there under this name. file: it is missing or damaged on this box. refused: the server refuses it. lost: it is missing or changed on the server, and missing on this box. null: not parked',
  }),
  attempts: z.int().openapi({ description: 'attempts that began; an outage of the server or of the line counts none' }),
  nextAttemptAt: timeOut().nullable().openapi({ description: 'null: at once, or never again' }),
  lastError: z.string().nullable(),
  verified: z.enum(['hash', 'size']).nullable().openapi({
    description: 'the way the copy was compared; size: the server computes no hashes. null: not uploaded yet',
  }),
  sha256: z.string(),
  sizeBytes: z.int(),
  urgent: z.boolean().openapi({ description: 'an incident needs it; it goes before all others' }),
  url: z.string().nullable().openapi({ description: 'where the copy is; null: not uploaded yet' }),
  queuedAt: timeOut(),
  uploadedAt: timeOut().nullable(),
  comparedAt: timeOut().nullable().openapi({
    description:
      'when the copy was last compared and was the same; evidence is compared at least once a month. null: not uploaded',
  }),
}
export const Upload = z.object(uploadShape).openapi('Upload')
export type Upload = z.infer<typeof Upload>
export const UploadOut = resource(uploadShape)

const OpenClip = z
  .object({
    detectionId: rowId(),
    cctvId: rowId(),
    path: z
      .string()
      .openapi({ description: 'folder of the parts on the storage server, from the root of the account on' }),
    parts: z
      .int()
      .openapi({ description: 'parts on the server; joined in the order of their names they can be played' }),
    sentBytes: z.int(),
    status: z.enum(openClipStatuses).openapi({
      description:
        'recording: more parts follow. finished: the clip follows as a separate file, and then the parts are removed. kept: no clip came of it, the parts stay',
    }),
  })
  .openapi('OpenClip')
export type OpenClip = z.infer<typeof OpenClip>
export const UploadList = listOf(Upload)
  .extend({
    openClips: z.array(OpenClip).openapi({
      description:
        'clips that an incident needs and that are sent while they are being recorded, newest first, at most 100',
    }),
  })
  .openapi('UploadList')
