import { z } from '@hono/zod-openapi'
import { timeOut } from '../http/index.ts'

export const OpeningList = z
  .object({
    sha256: z.string(),
    sizeBytes: z.int(),
    rows: z.int().openapi({ description: 'number of pallets on the list' }),
    receivedAt: timeOut(),
    importedBy: z.string().nullable().openapi({ description: 'null after the person was erased' }),
    uncounted: z.int().openapi({ description: 'number of its pallets without a count so far' }),
  })
  .openapi('OpeningList')
export type OpeningList = z.infer<typeof OpeningList>
