import { z } from '@hono/zod-openapi'
import { barcode, queryInteger, time } from '../http/index.ts'
import { placementEventTypes } from '../ledger/index.ts'

/** Filters of an export. */
export const exportQuery = {
  slot_id: queryInteger({ min: 1 }).optional(),
  asset_barcode: barcode().optional(),
  event_type: z.enum(placementEventTypes).optional(),
  from: time().optional().openapi({ description: 'happened at or after', format: 'date-time' }),
  to: time().optional().openapi({ description: 'happened before', format: 'date-time' }),
  known_at: time().optional().openapi({ description: 'as the ledger was then', format: 'date-time' }),
  after_seq: queryInteger({ min: 0 })
    .optional()
    .openapi({ description: 'only what was recorded after this seq, in the order of the log' }),
}

export const exportFormats = ['csv', 'ndjson'] as const

const uri = z.object({ id: z.string() })

const ObjectEvent = z
  .looseObject({
    type: z.literal('ObjectEvent'),
    eventID: z.string(),
    eventTime: z.string(),
    eventTimeZoneOffset: z.string(),
    recordTime: z.string(),
    epcList: z.array(z.string()),
    action: z.literal('OBSERVE'),
    bizStep: z.string(),
    disposition: z.string(),
    readPoint: uri,
    bizLocation: uri.optional(),
  })
  .openapi('EpcisObjectEvent')

export const EpcisDocument = z
  .looseObject({
    '@context': z.array(z.unknown()),
    type: z.literal('EPCISDocument'),
    schemaVersion: z.literal('2.0'),
    creationDate: z.string(),
    epcisBody: z.object({ eventList: z.array(ObjectEvent) }),
  })
  .openapi('EpcisDocument')
