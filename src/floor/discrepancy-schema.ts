import { z } from '@hono/zod-openapi'
import { allQuery, queryInteger, rowId, timeOut } from '../http/index.ts'
import { discrepancyKinds } from './discrepancy.ts'
import { SlotName, whenQuery } from './schema.ts'

export const discrepanciesQuery = z.object({
  ...allQuery,
  ...whenQuery,
  kind: z.enum(discrepancyKinds).optional(),
  warehouseId: queryInteger({ min: 1 }).optional(),
  zoneId: queryInteger({ min: 1 }).optional(),
})

export const Discrepancy = z
  .object({
    id: z.string().openapi({ description: 'stays the same while the same events prove it' }),
    kind: z.enum(discrepancyKinds),
    what: z.string(),
    todo: z.string(),
    since: timeOut(),
    slot: SlotName,
    assetBarcode: z.string().nullable(),
    otherSlot: z.union([SlotName, z.null()]),
    otherAssetBarcode: z.string().nullable(),
    countId: rowId().nullable().openapi({ description: 'the count that proves it' }),
    lastPlacedHere: z
      .boolean()
      .nullable()
      .openapi({
        description:
          'removed_elsewhere: whether the newest placement of the pallet is here, so that its location is this slot; null for ' +
          'other kinds',
      }),
    eventIds: z.array(rowId()).openapi({ description: 'the events that prove it, oldest first' }),
  })
  .openapi('Discrepancy')
export type Discrepancy = z.infer<typeof Discrepancy>
