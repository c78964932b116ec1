import { z } from '@hono/zod-openapi'
import { rowId, timeOut } from '../http/index.ts'

export const noticeShape = {
  cctvId: rowId(),
  camera: z.string(),
  site: z.string(),
  who: z
    .string()
    .nullable()
    .openapi({ description: 'responsible person or company (privacy.controller); null: not stated' }),
  why: z.string().nullable().openapi({ description: "the camera's purpose; null: not stated" }),
  legalBasis: z.string().nullable(),
  when: z.string().openapi({ description: 'when it records' }),
  howLong: z
    .string()
    .openapi({ description: 'how long recordings are kept, and where copies are that the gateway does not delete' }),
  retentionDays: z.number(),
  whom: z.string().nullable().openapi({ description: 'contact for questions (privacy.contact); null: not stated' }),
  sound: z.string().openapi({ description: 'statement that no sound is recorded' }),
  rights: z.string(),
  issuedAt: timeOut(),
  missing: z.array(z.string()).openapi({ description: 'config keys that the notice needs and that are not set' }),
}
