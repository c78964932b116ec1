import { z } from '@hono/zod-openapi'
import {
  barcode,
  historyQuery,
  nameText,
  optional,
  optionalTime,
  queryInteger,
  resource,
  rowId,
  text,
  time,
  timeOut,
} from '../http/index.ts'

export const readingsPath = '/api/iot/scale-readings'

export const NewScaleReading = z
  .object({
    scaleId: nameText(128).openapi({ description: 'name of the scale at the site' }),
    weightKg: z.number().min(0).max(100_000),
    stable: optional(z.boolean()).openapi({ description: 'whether the scale had settled, if it reports that' }),
    timestamp: optionalTime().openapi({ description: 'time of the reading; default: the time of the gateway' }),
    slot_id: optional(rowId()),
    asset_barcode: optional(barcode()),
    transportUnitId: optional(text(64)).openapi({ description: 'the reading becomes evidence of this unit' }),
  })
  .openapi('NewScaleReading')
export type NewScaleReading = z.output<typeof NewScaleReading>

export const readingsQuery = z.object({
  scaleId: text(128).optional(),
  slot_id: queryInteger({ min: 1 }).optional(),
  asset_barcode: barcode().optional(),
  transportUnitId: text(64).optional(),
  from: time().optional().openapi({ format: 'date-time', description: 'timestamp at or after' }),
  to: time().optional().openapi({ format: 'date-time', description: 'timestamp before' }),
  cursor: z.string().max(64).optional(),
  ...historyQuery,
})

const readingShape = {
  id: rowId(),
  eventId: z.string().openapi({ format: 'uuid' }),
  scaleId: z.string(),
  weightKg: z.number(),
  stable: z.boolean().nullable(),
  timestamp: timeOut(),
  device_timestamp: timeOut().nullable(),
  received_at: timeOut(),
  clock_offset_ms: z.int().nullable(),
  time_quality: z.enum(['synced', 'corrected', 'unsynced']),
  slot_id: rowId().nullable(),
  asset_barcode: z.string().nullable(),
  transportUnitId: z.string().nullable(),
  actor: z.string().nullable().openapi({ description: 'the verified caller; null after the name was erased' }),
}
export const ScaleReading = z.object(readingShape).openapi('ScaleReading')
export type ScaleReading = z.infer<typeof ScaleReading>
export const ScaleReadingResource = resource(readingShape).openapi('ScaleReadingResource')
