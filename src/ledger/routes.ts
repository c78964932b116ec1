import { z } from '@hono/zod-openapi'
import { AppError } from '../errors/index.ts'
import {
  type Api,
  always,
  barcode,
  historyLimit,
  historyQuery,
  listOf,
  numericPath,
  onceHeaders,
  operation,
  queryInteger,
  readTimeCursor,
  resource,
  send,
  sendResource,
  text,
  time,
  timeCursor,
} from '../http/index.ts'
import { Evidence } from '../log/index.ts'
import { deviceTimeHeaders } from './record/device-time.ts'
import { timedAskOf } from './record/timed-ask.ts'
import { ListedEvent, NewPlacementEvent, placementEventShape, placementEventTypes, RecordedReply } from './schema.ts'
import type { LedgerService } from './service.ts'

const tag = 'Ledger'
const eventsPath = '/api/whms/events'

const recordEvent = operation({
  id: 'recordEvent',
  method: 'post',
  path: eventsPath,
  access: ['events:create', 'events:verify'],
  tag,
  summary: 'Record a placement event',
  description:
    'PLACED and REMOVED need events:create, VERIFIED and DISPUTED need events:verify. An event that contradicts the ledger is recorded with warnings. ' +
    'The answer comes after the event is on disk.',
  input: {
    headers: z.object({
      ...deviceTimeHeaders,
      ...onceHeaders,
    }),
    body: NewPlacementEvent,
  },
  success: {
    200: { description: 'Recorded earlier under the same client_event_id', schema: RecordedReply, location: true },
    201: { description: 'Recorded', schema: RecordedReply, location: true },
  },
  errors: [
    'EVIDENCE_REQUIRED',
    'TIMESTAMP_IN_FUTURE',
    'REFERENCE_NOT_FOUND',
    'CONSTRAINT_VIOLATED',
    'PLACEMENT_MISMATCH',
  ],
})

const listEvents = operation({
  id: 'listEvents',
  method: 'get',
  path: eventsPath,
  access: 'whms:read',
  tag,
  summary: 'The history, newest first; with after_seq oldest first and without gaps',
  description: 'Filters are combined. A correction is a new event; no event is changed or removed.',
  input: {
    query: z.object({
      slot_id: queryInteger({ min: 1 }).optional(),
      slot_code: text(64).optional(),
      asset_barcode: barcode().optional().openapi({ description: 'the asset, by any form of its barcode' }),
      event_type: z.enum(placementEventTypes).optional(),
      operator: text(512).optional().openapi({
        description:
          'the operator or the actor, as in the audit trail: a name, or name@<instance URL>; an erased person is not found',
        example: 'olga@https://cloud.example.com',
      }),
      work_order_ref: text(128).optional(),
      corrects_event_id: queryInteger({ min: 1 }).optional(),
      zoneId: queryInteger({ min: 1 }).optional(),
      warehouseId: queryInteger({ min: 1 }).optional(),
      from: time().optional().openapi({ description: 'happened at or after', format: 'date-time' }),
      to: time().optional().openapi({ description: 'happened before', format: 'date-time' }),
      after_seq: queryInteger({ min: 0 })
        .optional()
        .openapi({ description: 'only what was recorded after this seq, in the order of the log' }),
      cursor: z.string().max(64).optional(),
      ...historyQuery,
    }),
  },
  success: { 200: { description: 'One page', schema: listOf(ListedEvent) } },
})

const getEvent = operation({
  id: 'getEvent',
  method: 'get',
  path: `${eventsPath}/{id}`,
  access: 'whms:read',
  tag,
  summary: 'One event',
  description: 'As it was recorded, with its warnings, and how far it is secured by now.',
  input: { params: z.object({ id: z.string() }) },
  success: { 200: { description: 'The event', schema: resource({ ...placementEventShape, evidence: Evidence }) } },
})

export function ledgerRoutes(api: Api, ledger: LedgerService): void {
  api.openapi(recordEvent, async (c) => {
    const asked = timedAskOf(c)
    const reply = await ledger.record(c.req.valid('json'), asked)
    return send(c, reply, reply.status)
  })

  api.openapi(listEvents, async (c) => {
    const { limit = historyLimit, offset = 0, after_seq, cursor, ...query } = c.req.valid('query')
    const page = {
      limit,
      offset,
      afterSeq: after_seq,
      before: cursor === undefined ? undefined : readTimeCursor(cursor),
    }
    const { events, hasMore, total } = await ledger.events(query, page, c.get('caller'), c.req.raw.signal)
    const last = events.at(-1)
    const nextCursor =
      hasMore && last && after_seq === undefined
        ? timeCursor({ timestampMs: Date.parse(last.timestamp), id: last.id })
        : null
    return c.json(
      { success: true as const, data: events, pagination: { limit, offset, total, hasMore, nextCursor } },
      200,
    )
  })

  api.openapi(getEvent, (c) => sendResource(c, ledger.event(numericPath(c.req.valid('param').id), c.get('caller'))))

  const immutable = always(() => new AppError('LEDGER_IMMUTABLE', 'Ledger events are never changed or deleted'))
  for (const path of [eventsPath, `${eventsPath}/:id`]) api.on(['PUT', 'PATCH', 'DELETE'], path, immutable)
}
