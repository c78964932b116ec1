import { z } from '@hono/zod-openapi'
import { type Api, listOf, onceHeaders, operation, send, sendAll, sendResource } from '../http/index.ts'
import { deviceTimeHeaders, timedAskOf } from '../ledger/index.ts'
import {
  NewTransportUnit,
  TransportUnitItem,
  TransportUnitResource,
  UnitAction,
  UnitAdvance,
  UnitEvidence,
  unitsPath,
  unitsQuery,
  WorkflowResource,
} from './schema.ts'
import type { UnitService } from './service.ts'

const tag = 'Transport units'
const params = z.object({ id: z.string() })
const headers = z.object({ ...deviceTimeHeaders, ...onceHeaders })
const timeErrors = ['TIMESTAMP_IN_FUTURE'] as const
const changed = { 200: { description: 'The unit after the change', schema: TransportUnitResource } }

const listUnits = operation({
  id: 'listTransportUnits',
  method: 'get',
  path: unitsPath,
  access: 'whms:read',
  tag,
  summary: 'All units with stage and status',
  description: 'Filters are combined. Without `limit` the whole list is streamed.',
  input: { query: unitsQuery },
  success: { 200: { description: 'The units', schema: listOf(TransportUnitItem) } },
})

const getWorkflow = operation({
  id: 'getUnitWorkflow',
  method: 'get',
  path: `${unitsPath}/workflow`,
  access: 'whms:read',
  tag,
  summary: 'The stages of a unit',
  description: 'From the config. A unit never goes back to an earlier stage.',
  input: {},
  success: { 200: { description: 'The workflow', schema: WorkflowResource } },
})

const getUnit = operation({
  id: 'getTransportUnit',
  method: 'get',
  path: `${unitsPath}/{id}`,
  access: 'whms:read',
  tag,
  summary: 'One unit with its history and evidence',
  description: 'Every step with time, operator and evidence, oldest first.',
  input: { params },
  success: { 200: { description: 'The unit', schema: TransportUnitResource } },
})

const createUnit = operation({
  id: 'createTransportUnit',
  method: 'post',
  path: unitsPath,
  access: 'units:advance',
  tag,
  summary: 'Register a unit',
  description: 'It starts at the first stage of the workflow. With `client_event_id` a repeat answers the same unit.',
  input: { headers, body: NewTransportUnit },
  success: {
    200: {
      description: 'Registered earlier under the same client_event_id',
      schema: TransportUnitResource,
      location: true,
    },
    201: { description: 'Registered', schema: TransportUnitResource, location: true },
  },
  errors: ['REFERENCE_NOT_FOUND', ...timeErrors],
})

const advanceUnit = operation({
  id: 'advanceTransportUnit',
  method: 'post',
  path: `${unitsPath}/{id}/advance`,
  access: 'units:advance',
  tag,
  summary: 'Move a unit to its next stage; skipping one needs units:override and a reason',
  description:
    'Without `toStage` it goes to the next stage. Reaching the last stage completes the unit. Receivers get transport_unit.stage_changed.',
  input: { params, headers, body: UnitAdvance },
  success: changed,
  errors: ['INVALID_TRANSITION', ...timeErrors],
})

const action = (
  to: 'hold' | 'resume' | 'cancel',
  access: 'units:advance' | 'units:override',
  summary: string,
  description: string,
) =>
  operation({
    id: `${to}TransportUnit`,
    method: 'post',
    path: `${unitsPath}/{id}/${to}`,
    access,
    tag,
    summary,
    description,
    input: { params, headers, body: UnitAction },
    success: changed,
    errors: ['INVALID_TRANSITION', ...timeErrors],
  })

const addEvidence = operation({
  id: 'addUnitEvidence',
  method: 'post',
  path: `${unitsPath}/{id}/evidence`,
  access: 'units:advance',
  tag,
  summary: 'Add photos or a weight to a unit at its present stage',
  description: 'A photo is named by the url of its upload.',
  input: { params, headers, body: UnitEvidence },
  success: changed,
  errors: timeErrors,
})

export function unitRoutes(api: Api, units: UnitService): void {
  api.openapi(listUnits, async (c) => {
    const query = c.req.valid('query')
    return await sendAll(c, units.units(query, c.get('caller')), query)
  })
  api.openapi(getWorkflow, (c) => c.json(units.workflow(), 200))
  api.openapi(getUnit, (c) => sendResource(c, units.unit(c.req.valid('param').id, c.get('caller'))))
  api.openapi(createUnit, async (c) => {
    const asked = timedAskOf(c)
    const reply = await units.create(c.req.valid('json'), asked)
    return send(c, reply, reply.status)
  })
  api.openapi(advanceUnit, async (c) => {
    const asked = timedAskOf(c)
    return send(c, await units.advance(c.req.valid('param').id, c.req.valid('json'), asked), 200)
  })
  const actions = [
    [
      'hold',
      action(
        'hold',
        'units:advance',
        'Put a unit on hold',
        'It keeps its stage, and cannot advance until it is resumed.',
      ),
    ],
    [
      'resume',
      action('resume', 'units:advance', 'Resume a unit that is on hold', 'It continues at the stage that it had.'),
    ],
    [
      'cancel',
      action('cancel', 'units:override', 'Cancel a unit', 'Final: a completed or cancelled unit cannot be cancelled.'),
    ],
  ] as const
  for (const [to, route] of actions) {
    api.openapi(route, async (c) => {
      const asked = timedAskOf(c)
      return send(c, await units.act(c.req.valid('param').id, to, c.req.valid('json'), asked), 200)
    })
  }
  api.openapi(addEvidence, async (c) => {
    const asked = timedAskOf(c)
    return send(c, await units.addEvidence(c.req.valid('param').id, c.req.valid('json'), asked), 200)
  })
}
