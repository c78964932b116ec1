import { createHash } from 'node:crypto'
import { z } from '@hono/zod-openapi'
import { takesSignature } from '../devices/index.ts'
import {
  type Api,
  asOpenApi30,
  type Description,
  describeRoutes,
  isKnown,
  newApi,
  operation,
  rawAnswer,
} from '../http/index.ts'
import { describeNotifications } from '../webhooks/index.ts'
import { notifications } from './notifications.ts'

const versions = ['3.1', '3.0'] as const
export type DescriptionVersion = (typeof versions)[number]

const getDescription = operation({
  id: 'getApiDescription',
  method: 'get',
  path: '/api/openapi',
  access: 'whms:read',
  tag: 'Health',
  summary: 'Get this description',
  description: 'The same for every caller. It changes only with the version of the gateway: ask with If-None-Match.',
  input: {
    query: z.object({
      version: z.enum(versions).optional().openapi({
        description:
          'Version of OpenAPI. 3.0 is for tools that cannot read 3.1, and has no notifications. Default 3.1.',
        default: '3.1',
      }),
    }),
  },
  success: { 200: { description: 'OpenAPI 3.1 or 3.0', schema: z.looseObject({ openapi: z.string() }) } },
})

type Rendered = { readonly text: string; readonly etag: string }

/** Adds GET /api/openapi. The description is made at the first request, and cached. */
export function descriptionRoutes(root: Api, version: string): void {
  let description: Promise<Description> | undefined
  const rendered = new Map<DescriptionVersion, Rendered>()
  root.openapi(getDescription, async (c) => {
    const { version: wanted = '3.1' } = c.req.valid('query')
    description ??= describeApi(root, version)
    const { text, etag } = rendered.get(wanted) ?? render(inVersion(await description, wanted))
    rendered.set(wanted, { text, etag })
    c.header('ETag', etag)
    c.header('Cache-Control', 'private, no-cache')
    if (isKnown(c, etag)) return rawAnswer(c.body(null, 304))
    return rawAnswer(c.body(text, 200, { 'Content-Type': 'application/json' }))
  })
}

/** Weak, because gzip makes other bytes of the same description. */
function render(description: object): Rendered {
  const text = JSON.stringify(description)
  return { text, etag: `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` }
}

export const inVersion = (description: Description, version: DescriptionVersion): object =>
  version === '3.0' ? asOpenApi30(description) : description

const tags: Readonly<Record<string, string>> = {
  Ledger: 'Placement events, their evidence and their corrections. Nothing here is ever changed or deleted.',
  Scan: 'Identification of scanned codes.',
  Assets: 'Pallets, containers and other goods, where they are and where they were.',
  Slots: 'Storage places and their contents.',
  Zones: 'Areas of a warehouse.',
  Warehouses: 'The warehouses of this gateway.',
  Stream: 'Changes, as they happen.',
  Dashboard: 'Figures, and contradictions in the ledger.',
  'Transport units': 'Trucks and containers on their way through the warehouse, stage by stage.',
  Scales: 'Scale readings.',
  Counts: 'Stock counts, their review and their approval.',
  Labels: 'Labels of slots and assets, printing, and numbers for new pallets (SSCC).',
  Cameras: 'Cameras, motion detection, detections and their clips.',
  Governance: 'Audit trail, incidents and reports.',
  Webhooks: 'Endpoints that receive notifications, and their deliveries.',
  Alerts: 'Alerts that need an admin.',
  Evidence: 'The log that outsiders can check: signed checkpoints, tiles, proofs.',
  Uploads: 'Copies of evidence on the file storage server.',
  Devices: 'Handhelds, badges and signed addresses.',
  Accounts: 'Local accounts, own passwords and open sessions.',
  Console: 'The session of the web console.',
  Health: 'Health, metrics and this description.',
  Notifications: 'Messages that the gateway posts to webhooks.',
}

/** Returns the machine-readable description (OpenAPI 3.1), made from the routes themselves. */
export async function describeApi(api: Api, version: string): Promise<Description> {
  // Read when it is needed: it is long.
  const { default: examples } = await import('./api-examples.json', { with: { type: 'json' } })
  const besides = newApi()
  registerSecurity(besides)
  describeNotifications(besides, notifications)
  const info = {
    openapi: '3.1.0',
    info: {
      title: 'gatehouse',
      version,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      description:
        'Placement ledger, evidence and webhooks of one warehouse. Every operation but health and ping needs Authorization, ' +
        'X-Storage-Instance and X-Storage-Username, or the session cookie of the console.',
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  }
  const description = await describeRoutes([api.openAPIRegistry, besides.openAPIRegistry], info, examples)
  describeSignatures(description)
  return description
}

/** Adds the query of signed addresses, which `auth` reads before the operations do. */
function describeSignatures({ paths, components }: Description): void {
  components['parameters'] = {
    ...components['parameters'],
    Signed: {
      name: 'signed',
      in: 'query',
      description: 'Signature from POST /api/signed-urls or from a receipt. It replaces the credentials.',
      schema: { type: 'string' },
    },
  }
  const aSha256 = '0'.repeat(64)
  for (const [path, { get }] of Object.entries(paths)) {
    if (!get || !takesSignature(path.replaceAll(/\{[^}]+\}/g, aSha256))) continue
    get.parameters = [...(get.parameters ?? []), { $ref: '#/components/parameters/Signed' }]
  }
}

function registerSecurity({ openAPIRegistry: registry }: Api): void {
  registry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' })
  registry.registerComponent('securitySchemes', 'basic', { type: 'http', scheme: 'basic' })
  const inHeader = (name: string, description: string) => ({
    type: 'apiKey' as const,
    in: 'header' as const,
    name,
    description,
  })
  registry.registerComponent(
    'securitySchemes',
    'storageInstance',
    inHeader('X-Storage-Instance', 'The storage server that verifies the user, or the address of this gateway.'),
  )
  registry.registerComponent(
    'securitySchemes',
    'storageUsername',
    inHeader('X-Storage-Username', 'The user name at this instance.'),
  )
  registry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'gatehouse',
    description:
      'From POST /api/session; over TLS its name is __Host-gatehouse. Requests that change something also need X-CSRF-Token.',
  })
}
