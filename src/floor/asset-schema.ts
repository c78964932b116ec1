import { z } from '@hono/zod-openapi'
import { allQuery, barcode, queryInteger, text } from '../http/index.ts'
import { assetShape, assetTypes, day, goodsTextLimit, gtin, sscc } from '../warehouse/index.ts'
import { flag, placeShape, SlotName, whenQuery } from './schema.ts'

export const assetsQuery = z.object({
  ...allQuery,
  sscc: sscc().optional(),
  gtin: gtin().optional().openapi({ description: '8, 12, 13 or 14 digits' }),
  lot: text(goodsTextLimit).optional(),
  serial: text(goodsTextLimit).optional(),
  bestBefore: day().optional().openapi({ description: 'on this day', format: 'date' }),
  bestBeforeFrom: day().optional().openapi({ description: 'on this day or later', format: 'date' }),
  bestBeforeTo: day().optional().openapi({ description: 'on this day or earlier', format: 'date' }),
  type: z.enum(assetTypes).optional(),
  provisional: flag()
    .optional()
    .openapi({ type: 'string', enum: ['true', 'false'] }),
  q: barcode().optional().openapi({ description: 'start of the barcode, as written or as asset key' }),
  location: flag()
    .optional()
    .openapi({ type: 'string', enum: ['true', 'false'], description: 'true: with the place of each now' }),
  slot: text(64).optional().openapi({ description: 'in this slot, by its integer id or its label' }),
  zoneId: queryInteger({ min: 1 }).optional().openapi({ description: 'in a slot of this zone' }),
  warehouseId: queryInteger({ min: 1 }).optional().openapi({ description: 'in a slot of this warehouse' }),
  at: whenQuery.at.openapi({ description: 'also with the places at this time, as known now', format: 'date-time' }),
  known_at: whenQuery.known_at.openapi({
    description: 'also with the places at this time, as known then',
    format: 'date-time',
  }),
})

const StandingPlace = z.union([z.object({ slot: z.union([SlotName, z.null()]), ...placeShape }), z.null()])
export type StandingPlace = z.infer<typeof StandingPlace>

export const ListedAsset = z
  .object({
    ...assetShape,
    location: StandingPlace.optional().openapi({
      description: 'the place now, when asked for; null: the caller may not see it',
    }),
    locationThen: StandingPlace.optional().openapi({ description: 'the place at the time of at and known_at' }),
  })
  .openapi('Asset')
export type ListedAsset = z.infer<typeof ListedAsset>
