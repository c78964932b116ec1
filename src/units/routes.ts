import { z } from '@hono/zod-openapi'
import { type Api, claimOf, listOf, onceHeaders, operation, originOf, send, sendAll } from '../http/index.ts'
import { deviceTimeHeaders, deviceTimeOf } from '../ledger/index.ts'
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
const changed = { 200: { description: 'The unit after it', schema: TransportUnitResource } }

const listUnits = operation({
  method: 'get',
  path: unitsPath,
  access: 'whms:read',
  tag,
  summary: 'All units with current stage and status',
  input: { query: unitsQuery },
  success: { 200: { description: 'The units', schema: listOf(TransportUnitItem) } },
})

const getWorkflow = operation({
  method: 'get',
  path: `${unitsPath}/workflow`,
  access: 'whms:read',
  tag,
  summary: 'The stages that a unit goes through, as the config has them',
  input: {},
  success: { 200: { description: 'The workflow', schema: WorkflowResource } },
})

const getUnit = operation({
  method: 'get',
  path: `${unitsPath}/{id}`,
  access: 'whms:read',
  tag,
  summary: 'One unit with its history and evidence',
  input: { params },
  success: { 200: { description: 'The unit', schema: TransportUnitResource } },
})

const createUnit = operation({
  method: 'post',
  path: unitsPath,
  access: 'units:advance',
  tag,
  summary: 'Register a unit',
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
  method: 'post',
  path: `${unitsPath}/{id}/advance`,
  access: 'units:advance',
  tag,
  summary: 'Move a unit to its next stage; skipping one needs units:override and a reason',
  input: { params, headers, body: UnitAdvance },
  success: changed,
  errors: ['INVALID_TRANSITION', ...timeErrors],
})

const action = (to: 'hold' | 'resume' | 'cancel', access: 'units:advance' | 'units:override', summary: string) =>
  operation({
    method: 'post',
    path: `${unitsPath}/{id}/${to}`,
    access,
    tag,
    summary,
    input: { params, headers, body: UnitAction },
    success: changed,
    errors: ['INVALID_TRANSITION', ...timeErrors],
  })

const addEvidence = operation({
  method: 'post',
  path: `${unitsPath}/{id}/evidence`,
  access: 'units:advance',
  tag,
  summary: 'Add photos or a weight to a unit, where it stands',
  input: { params, headers, body: UnitEvidence },
  success: changed,
  errors: timeErrors,
})

export function unitRoutes(api: Api, units: UnitService): void {
  api.openapi(listUnits, async (c) => {
    const query = c.req.valid('query')
    return (await sendAll(c, units.units(query, c.get('caller')), query)) as never
  })
  api.openapi(getWorkflow, (c) => c.json(units.workflow(), 200))
  api.openapi(getUnit, (c) =>
    c.json({ success: true as const, ...units.unit(c.req.valid('param').id, c.get('caller')) }, 200),
  )
  api.openapi(createUnit, async (c) => {
    const asked = { by: originOf(c), claim: claimOf(c), deviceTimeMs: deviceTimeOf(c) }
    const reply = await units.create(c.req.valid('json'), asked)
    return send(c, reply, reply.status)
  })
  api.openapi(advanceUnit, async (c) => {
    const asked = { by: originOf(c), claim: claimOf(c), deviceTimeMs: deviceTimeOf(c) }
    return send(c, await units.advance(c.req.valid('param').id, c.req.valid('json'), asked), 200)
  })
  const actions = [
    ['hold', action('hold', 'units:advance', 'Put a unit on hold')],
    ['resume', action('resume', 'units:advance', 'Let a unit on hold go on')],
    ['cancel', action('cancel', 'units:override', 'Cancel a unit for good')],
  ] as const
  for (const [to, route] of actions) {
    api.openapi(route, async (c) => {
      const asked = { by: originOf(c), claim: claimOf(c), deviceTimeMs: deviceTimeOf(c) }
      return send(c, await units.act(c.req.valid('param').id, to, c.req.valid('json'), asked), 200)
    })
  }
  api.openapi(addEvidence, async (c) => {
    const asked = { by: originOf(c), claim: claimOf(c), deviceTimeMs: deviceTimeOf(c) }
    return send(c, await units.addEvidence(c.req.valid('param').id, c.req.valid('json'), asked), 200)
  })
}
