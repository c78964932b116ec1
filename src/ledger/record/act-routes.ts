import { z } from '@hono/zod-openapi'
import { type Api, claimOf, numericPath, onceHeaders, operation, originOf, send } from '../../http/index.ts'
import { NewBatch, NewCorrection, NewMove, RecordedBatch, RecordedCorrection, RecordedMove } from './act-schema.ts'
import type { Acts } from './acts.ts'
import type { Corrections } from './corrections.ts'
import { deviceTimeHeaders } from './device-time.ts'
import { timedAskOf } from './timed-ask.ts'

const tag = 'Ledger'
export const batchPath = '/api/whms/events/batch'
const refusals = ['EVIDENCE_REQUIRED', 'TIMESTAMP_IN_FUTURE', 'REFERENCE_NOT_FOUND', 'CONSTRAINT_VIOLATED'] as const
const headers = z.object({ ...deviceTimeHeaders, ...onceHeaders })

const recordBatch = operation({
  id: 'recordBatch',
  method: 'post',
  path: batchPath,
  access: 'events:create',
  tag,
  summary: 'Record up to 100 events, at most 1 MiB, in one commit',
  description:
    '`rollback`: all or none; a refusal names the fields of all events (`events.3.slot_id`). `proceed`: each by itself, ' +
    'refused ones leave nothing behind. VERIFIED and DISPUTED need events:verify. Counts as one request.',
  input: { headers, body: NewBatch },
  success: {
    200: { description: 'proceed: the result of each', schema: RecordedBatch },
    201: { description: 'rollback: all are recorded', schema: RecordedBatch },
  },
  errors: [...refusals, 'PLACEMENT_MISMATCH'],
})

const recordMove = operation({
  id: 'recordMove',
  method: 'post',
  path: '/api/whms/moves',
  access: 'events:create',
  tag,
  summary: 'Record that an asset was taken from one slot to another, in one commit',
  description:
    'Appends a REMOVED and a PLACED. Without a source the gateway takes the slot in which the ledger has the asset.',
  input: { headers, body: NewMove },
  success: {
    200: { description: 'Recorded earlier under the same client_event_id', schema: RecordedMove, location: true },
    201: { description: 'Recorded', schema: RecordedMove, location: true },
  },
  errors: refusals,
})

const correctEvent = operation({
  id: 'correctEvent',
  method: 'post',
  path: '/api/whms/events/{id}/correct',
  access: 'events:create',
  tag,
  summary: 'Append the events that correct an event, or take it back',
  description:
    'The body has the right slot, the right asset, or `none`. No event is voided: events are appended at the time ' +
    'of the wrong one, each with corrects_event_id. A VERIFIED or DISPUTED needs events:verify.',
  input: { params: z.object({ id: z.string() }), headers: z.object(onceHeaders), body: NewCorrection },
  success: {
    200: {
      description: 'Corrected earlier under the same client_event_id',
      schema: RecordedCorrection,
      location: true,
    },
    201: { description: 'Corrected', schema: RecordedCorrection, location: true },
  },
  errors: ['REFERENCE_NOT_FOUND', 'ALREADY_EXISTS', 'EVIDENCE_REQUIRED'],
})

export function actRoutes(api: Api, acts: Acts, corrections: Corrections): void {
  api.openapi(recordBatch, async (c) => {
    const asked = timedAskOf(c)
    const reply = await acts.batch(c.req.valid('json'), asked)
    return send(c, reply, reply.status)
  })
  api.openapi(recordMove, async (c) => {
    const asked = timedAskOf(c)
    const reply = await acts.move(c.req.valid('json'), asked)
    return send(c, reply, reply.status)
  })
  api.openapi(correctEvent, async (c) => {
    const asked = { by: originOf(c), claim: claimOf(c), deviceTimeMs: undefined }
    const reply = await corrections.correct(numericPath(c.req.valid('param').id), c.req.valid('json'), asked)
    return send(c, reply, reply.status)
  })
}
