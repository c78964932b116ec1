import { z } from '@hono/zod-openapi'
import { type Api, askOf, listOf, onceHeaders, operation, send, sendShared } from '../http/index.ts'
import type { Discrepancies } from './discrepancies.ts'
import { Discrepancy, DiscrepancyResource, discrepanciesQuery, NewResolution } from './discrepancy-schema.ts'
import type { ResolvedDisputes } from './resolved-disputes.ts'

const listDiscrepancies = operation({
  id: 'listDiscrepancies',
  method: 'get',
  path: '/api/whms/discrepancies',
  access: 'whms:read',
  tag: 'Dashboard',
  summary: 'Contradictions in the ledger, newest first, each with its proof and the next step',
  description:
    'Master data (registered assets, constraints, retired slots) is that of now, also with `at`. `unregistered_asset` needs `ledger.assets: registered` in the config.',
  input: { query: discrepanciesQuery },
  success: { 200: { description: 'The discrepancies', schema: listOf(Discrepancy) } },
})

const resolveDispute = operation({
  id: 'resolveDispute',
  method: 'post',
  path: '/api/whms/discrepancies/{id}/resolve',
  access: 'events:verify',
  tag: 'Dashboard',
  summary: 'End a dispute with a note',
  description:
    'Ends the dispute and the hold on its photos and films. The note is a leaf of the log. Receivers get event.created of kind ' +
    'dispute.resolved. The slot keeps `isDisputed` until the pallet is verified or moved. Other discrepancies end by what their ' +
    '`todo` says: 400 INVALID_TRANSITION.',
  input: { params: z.object({ id: z.string() }), headers: z.object(onceHeaders), body: NewResolution },
  success: { 200: { description: 'The resolved dispute', schema: DiscrepancyResource } },
  errors: ['INVALID_TRANSITION', 'ALREADY_EXISTS'],
})

export function discrepancyRoutes(api: Api, discrepancies: Discrepancies, resolved: ResolvedDisputes): void {
  api.openapi(listDiscrepancies, async (c) => {
    const { at, known_at, limit, offset, resolved: isResolved, ...query } = c.req.valid('query')
    const when = { atMs: at, knownAtMs: known_at }
    const list = isResolved === true ? resolved : discrepancies
    return sendShared(c, await list.find(c.get('caller'), when, query), { limit, offset })
  })
  api.openapi(resolveDispute, async (c) => {
    const { note } = c.req.valid('json')
    return send(c, await resolved.resolve(c.req.valid('param').id, note, askOf(c)), 200)
  })
}
