import { z } from '@hono/zod-openapi'
import { allQuery, lines, queryInteger, resource, rowId, timeOut } from '../http/index.ts'
import { discrepancyKinds } from './discrepancy.ts'
import { flag, SlotName, whenQuery } from './schema.ts'

export const discrepanciesQuery = z.object({
  ...allQuery,
  ...whenQuery,
  kind: z.enum(discrepancyKinds).optional(),
  warehouseId: queryInteger({ min: 1 }).optional(),
  zoneId: queryInteger({ min: 1 }).optional(),
  resolved: flag()
    .optional()
    .openapi({
      type: 'string',
      enum: ['true', 'false'],
      description: '`true`: the disputes that a supervisor resolved with a note, the newest resolution first.',
    }),
})

export const NewResolution = z
  .object({
    note: lines(4000).openapi({ description: 'why the dispute ends', example: 'Counted by hand, all there.' }),
  })
  .openapi('NewResolution')

const Resolution = z.object({
  note: z.string().nullable().openapi({ description: 'null once erased' }),
  resolvedBy: z.string(),
  resolvedAt: timeOut(),
  eventId: z.string(),
  seq: z.int().openapi({ description: 'number of its leaf in the log' }),
  evidenceHash: z.string(),
})

const shape = {
  id: z.string().openapi({ description: 'stays the same while the same events prove it' }),
  kind: z.enum(discrepancyKinds),
  what: z.string(),
  todo: z.string(),
  note: z.string().nullable().openapi({ description: 'disputed: what the supervisor wrote; null for other kinds' }),
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
  // Not .nullable(): for a named schema the description would require object and null at once.
  resolution: z.union([Resolution, z.null()]).openapi({ description: 'null while it is open' }),
}
export const Discrepancy = z.object(shape).openapi('Discrepancy')
export const DiscrepancyResource = resource(shape)
export type Discrepancy = z.infer<typeof Discrepancy>
