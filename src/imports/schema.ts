import { z } from '@hono/zod-openapi'
import { timeOut } from '../http/index.ts'

export const OpeningList = z
  .object({
    sha256: z.string(),
    sizeBytes: z.int(),
    rows: z.int().openapi({ description: 'pallets on it' }),
    receivedAt: timeOut(),
    importedBy: z.string().nullable().openapi({ description: 'null after the person was erased' }),
    uncounted: z.int().openapi({ description: 'of its pallets that no count has seen yet' }),
  })
  .openapi('OpeningList')
export type OpeningList = z.infer<typeof OpeningList>
