import { type Api, listOf, operation, sendShared } from '../http/index.ts'
import type { Discrepancies } from './discrepancies.ts'
import { Discrepancy, discrepanciesQuery } from './discrepancy-schema.ts'

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

export function discrepancyRoutes(api: Api, discrepancies: Discrepancies): void {
  api.openapi(listDiscrepancies, async (c) => {
    const { at, known_at, limit, offset, ...query } = c.req.valid('query')
    const when = { atMs: at, knownAtMs: known_at }
    return sendShared(c, await discrepancies.find(c.get('caller'), when, query), { limit, offset })
  })
}
