import { z } from '@hono/zod-openapi'
import { resource, timeOut } from '../http/index.ts'

export const OpeningList = z
  .object({
    sha256: z.string(),
    sizeBytes: z.int(),
    rows: z.int().openapi({ description: 'number of pallets on the list' }),
    receivedAt: timeOut(),
    importedBy: z.string().nullable().openapi({ description: 'null after the person was erased' }),
    uncounted: z.int().openapi({ description: 'number of its pallets that no count has found' }),
  })
  .openapi('OpeningList')
export type OpeningList = z.infer<typeof OpeningList>

const flag = () =>
  z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()

export const slotListQuery = {
  dryRun: flag().openapi({ description: 'shows the changes, and stores nothing' }),
  createZones: flag().openapi({ description: 'creates missing zones of the list' }),
  grid: flag().openapi({ description: 'places a slot without geometry by its label, such as A-01-02' }),
  warehouseId: z
    .string()
    .regex(/^[1-9]\d{0,15}$/)
    .optional()
    .openapi({ description: 'warehouse of slots whose line names none; without it the site’s own' }),
}

const listProblem = z.object({
  line: z.int().openapi({ description: 'as an editor numbers it; the header is line 1' }),
  column: z.string().nullable().openapi({ description: 'null when it concerns the whole line' }),
  message: z.string(),
})

export const SlotListResult = resource({
  dryRun: z.boolean(),
  ok: z.boolean().openapi({ description: 'whether the list has no problem: all of it is stored, or would be' }),
  sha256: z.string().openapi({ description: 'hash of the list' }),
  rows: z.int(),
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  zonesCreated: z.array(z.string()),
  problems: z.array(listProblem).openapi({ description: 'at most 1000, in the order of the lines' }),
  problemCount: z.int(),
}).openapi('SlotListResult')
