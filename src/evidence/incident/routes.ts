import { z } from '@hono/zod-openapi'
import { type Api, askOf, demand, numericPath, operation, rawAnswer } from '../../http/index.ts'
import type { IncidentPackages } from './incident-package.ts'
import { bodyOf } from './zip-stream.ts'

const getPackage = operation({
  id: 'getIncidentPackage',
  stepUp: true,
  method: 'get',
  path: '/api/governance/incidents/{id}/package',
  access: 'evidence:read',
  tag: 'Evidence',
  summary: 'Everything that an incident refers to, with proofs, photos and clips, as one zip for people outside',
  description:
    'Events, detections, photos, steps of transport units and the changes of the incident, each with its proof bundle; gaps of the cameras of these slots; the entries of the audit trail about all of it; an index to print and the recipe. It has only evidence that the caller may see. Files that were removed from this box are named with their removal. With privacy.fourEyesForExport clips are withheld: they are exported one by one. `gatehouse ledger verify FILE.zip` checks every proof. Every package is an entry of the audit trail. Two are made at a time; others get 503 with Retry-After. Needs incidents:read too.',
  input: { params: z.object({ id: z.string() }) },
  success: {
    200: { description: 'A zip', schema: z.string().openapi({ format: 'binary' }), mediaType: 'application/zip' },
  },
  errors: ['PACKAGES_WAITING'],
})

/** Serves the evidence packages of incidents. */
export function incidentPackageRoutes(api: Api, packages: Pick<IncidentPackages, 'open'>): void {
  api.openapi(getPackage, async (c) => {
    demand(c.get('caller'), 'incidents:read')
    const { name, stream } = await packages.open(numericPath(c.req.valid('param').id), askOf(c))
    const headers = {
      'Content-Type': 'application/zip',
      'Content-Disposition': `attachment; filename="${name}.zip"`,
      'Cache-Control': 'no-store',
    }
    if (c.req.method === 'HEAD') stream.destroy()
    const body = c.req.method === 'HEAD' ? null : bodyOf(stream)
    return rawAnswer(new Response(body, { headers }))
  })
}
