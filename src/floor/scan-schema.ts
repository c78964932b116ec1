import { z } from '@hono/zod-openapi'
import { barcode, resource } from '../http/index.ts'
import { Warning } from '../ledger/index.ts'
import { assetShape } from '../warehouse/index.ts'
import { FloorSlot, placeShape } from './schema.ts'

/** Keyboard scanners end a code with Enter or Tab, and some begin it with a space. */
const ends = /^[ \t\r\n]+|[ \t\r\n]+$/g

export const scannedCode = z
  .string()
  .transform((code) => code.replace(ends, ''))
  .pipe(barcode())

const ReadCode = z
  .object({
    key: z.string().openapi({ description: 'the form that is compared' }),
    symbology: z.string().nullable().openapi({ description: 'AIM prefix, if the scanner sent one' }),
    gs1: z.record(z.string(), z.string()).nullable().openapi({ description: 'element strings by identifier' }),
    sscc: z.string().nullable(),
    gtin: z.string().nullable().openapi({ description: '14 digits' }),
    lot: z.string().nullable(),
    serial: z.string().nullable(),
    warnings: z.array(Warning),
  })
  .openapi('ReadCode')
export type ReadCode = z.infer<typeof ReadCode>

const ScanMatch = z
  .object({
    kind: z.string().openapi({ description: 'slot, asset, transport_unit' }),
    id: z.union([z.int(), z.string()]),
    path: z.string().openapi({ description: 'address of the match in the API' }),
    slot: FloorSlot.optional(),
    asset: z.object(assetShape).openapi('ScannedAsset').optional(),
    location: z
      .union([z.object({ slot: z.union([FloorSlot, z.null()]), ...placeShape }), z.null()])
      .optional()
      .openapi({ description: 'place of an asset; null: the caller may not see it' }),
    resource: z.looseObject({}).optional().openapi({ description: 'resource of another kind, as its GET answers it' }),
  })
  .openapi('ScanMatch')
export type ScanMatch = z.infer<typeof ScanMatch>

export const ScanAnswer = resource({
  code: z.string(),
  kind: z.string().openapi({ description: 'kind of the first match; unknown without one' }),
  barcode: ReadCode,
  matches: z.array(ScanMatch),
})
