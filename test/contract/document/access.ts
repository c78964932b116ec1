import { people, siteUrl } from '../../support/gateway.ts'
import type { Row } from './row.ts'
import { olaf, rita, type World } from './world.ts'

const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

const storageUser = (at: World, authorization: string) => ({
  Authorization: authorization,
  'X-Storage-Instance': at.storage.url,
  'X-Storage-Username': olaf.username,
})

/** The operations of the document, with an id in place of `:id`. */
const operations = [
  ...['GET /api/health', 'GET /api/ping', 'GET /api/metrics', 'GET /api/openapi'],
  ...['GET /api/whms/warehouses', 'POST /api/whms/warehouses', 'GET /api/whms/warehouses/1'],
  ...['GET /api/whms/zones', 'POST /api/whms/zones', 'GET /api/whms/zones/1/slots'],
  ...['GET /api/whms/slots', 'GET /api/whms/slots/1', 'POST /api/whms/slots', 'PUT /api/whms/slots/1'],
  ...['GET /api/whms/transport-units', 'GET /api/whms/transport-units/1'],
  ...['GET /api/whms/events', 'POST /api/whms/events', 'GET /api/whms/assets', 'GET /api/whms/assets/1/location'],
  ...['GET /api/whms/dashboard/utilization', 'GET /api/iot/cctv'],
  ...['POST /api/iot/detection/motion-stream', 'GET /api/iot/detection/motion-stream', 'GET /api/iot/detection-events'],
  ...['GET /api/governance/audit', 'POST /api/governance/incidents', 'POST /api/webhooks', 'POST /api/webhooks/1/test'],
]

/** "Authentication". */
export const authentication: readonly Row[] = [
  {
    says: 'All endpoints need authentication except `GET /api/health` and `/api/ping`.',
    holds: async (t, at) => {
      t.equal(operations.length, 29)
      for (const operation of operations) {
        const [method = '', path = ''] = operation.split(' ')
        const reply = await at.ask(method, path, { by: null, ...(method !== 'GET' && { body: {} }) })
        t.equal(reply.status === 401, !/(health|ping)$/.test(path), `${operation}: ${reply.status}`)
      }
    },
  },
  {
    says: 'Authorization: `Bearer <ACCESS_TOKEN>`',
    request: 'GET /api/whms/warehouses',
    by: null,
    headers: { Authorization: 'Bearer vera-secret', 'X-Storage-Instance': siteUrl, 'X-Storage-Username': 'vera' },
    status: 200,
  },
  {
    says: 'Authorization: `Basic <CREDENTIALS>`',
    request: 'GET /api/whms/warehouses',
    by: null,
    headers: {
      Authorization: basic('vera', 'vera-secret'),
      'X-Storage-Instance': siteUrl,
      'X-Storage-Username': 'vera',
    },
    status: 200,
  },
  {
    says: 'X-Storage-Instance: `<storage_server_url>`',
    request: 'GET /api/whms/warehouses',
    by: null,
    headers: { Authorization: 'Bearer vera-secret', 'X-Storage-Username': 'vera' },
    status: 401,
    answer: { error: { code: 'STORAGE_HEADERS_REQUIRED' } },
  },
  {
    says: 'X-Storage-Username: `<username>`',
    request: 'GET /api/whms/warehouses',
    by: null,
    headers: { Authorization: 'Bearer vera-secret', 'X-Storage-Instance': siteUrl },
    status: 401,
    answer: { error: { code: 'STORAGE_HEADERS_REQUIRED' } },
  },
  {
    says: 'Two schemes are accepted: an OAuth bearer token …',
    holds: async (t, at) => {
      const headers = storageUser(at, `Bearer ${olaf.token}`)
      t.equal((await at.ask('GET', '/api/whms/warehouses', { by: null, headers })).status, 200)
    },
  },
  {
    says: '… and an application password of the file storage server (Basic).',
    holds: async (t, at) => {
      const headers = storageUser(at, basic(olaf.username, olaf.appPassword))
      t.equal((await at.ask('GET', '/api/whms/warehouses', { by: null, headers })).status, 200)
    },
  },
  {
    says: 'The service falls back automatically between them.',
    holds: async (t, at) => {
      for (const authorization of [`Bearer ${olaf.appPassword}`, basic(olaf.username, olaf.token)]) {
        const headers = storageUser(at, authorization)
        t.equal(
          (await at.ask('GET', '/api/whms/warehouses', { by: null, headers })).status,
          200,
          authorization.slice(0, 6),
        )
      }
    },
  },
  {
    says: '`GET /api/metrics` additionally requires the permission `metrics:read`.',
    request: 'GET /api/metrics',
    by: people.sven,
    status: 403,
    answer: { error: { code: 'PERMISSION_DENIED', details: /metrics:read/ } },
  },
  {
    says: 'Camera lists are filtered by ownership: a caller sees only cameras accessible to that caller.',
    holds: async (t, at) => {
      t.same((await at.get('/api/iot/cctv', people.sven)).data, [])
      t.equal((await at.get('/api/iot/cctv', people.olga)).data.length, 1)
    },
  },
  {
    says: 'A request without valid authentication is answered with 401',
    request: 'GET /api/whms/slots',
    by: null,
    headers: { Authorization: 'Bearer wrong', 'X-Storage-Instance': siteUrl, 'X-Storage-Username': 'vera' },
    status: 401,
    answer: { success: false, error: { code: 'INVALID_CREDENTIALS' } },
  },
  {
    says: 'a caller lacking permission gets 403.',
    request: 'POST /api/whms/warehouses',
    by: people.vera,
    body: { name: 'Hall of vera', timezone: 'UTC' },
    status: 403,
    answer: { success: false, error: { code: 'PERMISSION_DENIED' } },
  },
]

/** "Errors", "Limits" and "Versioning". */
export const errors: readonly Row[] = [
  {
    says: 'Error body, for every endpoint: success boolean, false; error.message, error.code, error.details: strings',
    holds: async (t, at) => {
      const asks: [string, string, object?][] = [
        ['GET', '/api/whms/slots/4711'],
        ['GET', '/api/nothing'],
        ['POST', '/api/whms/slots', {}],
        ['GET', '/api/whms/events?limit=-1'],
        ['DELETE', '/api/whms/events/1'],
        ['POST', '/api/webhooks', { url: 'http://plain.example', events: ['whms.placement'] }],
      ]
      for (const [method, path, body] of asks) {
        const reply = await at.ask(method, path, body ? { body } : {})
        t.match(reply.body, { success: false, error: { message: String, code: /^[A-Z_]+$/, details: String } }, path)
      }
    },
  },
  { says: '400: validation error', request: 'POST /api/whms/zones', body: {}, status: 400 },
  { says: '401: unauthorized', request: 'GET /api/whms/zones', by: null, status: 401 },
  { says: '403: forbidden', request: 'POST /api/whms/zones', by: people.vera, body: {}, status: 403 },
  { says: '404: not found', request: 'GET /api/whms/zones/4711/slots', status: 404 },
  {
    says: '429: rate limited; the response carries a `Retry-After` header. 100 requests per minute by default, per user/IP',
    holds: async (t, at) => {
      const statuses: number[] = []
      for (let n = 1; n <= 101; n += 1) {
        const reply = await at.ask('GET', '/api/whms/warehouses', { by: rita })
        statuses.push(reply.status)
        if (n < 101) continue
        t.match(reply.headers.get('retry-after'), /^[1-9]\d*$/)
        t.equal(reply.body.error.code, 'RATE_LIMITED')
      }
      t.same([...new Set(statuses.slice(0, 100))], [200], 'the first hundred')
      t.equal(statuses.at(-1), 429, 'the next one')
    },
  },
  {
    says: '500: server error',
    holds: async (t, at) => {
      const { paths } = await at.get('/api/openapi')
      for (const operation of operations) {
        const [method = '', path = ''] = operation.split(' ')
        const pattern = new RegExp(`^${path.replace('/1', '/\\{\\w+\\}')}$`)
        const described = Object.entries<Record<string, { responses: object }>>(paths).find(([name]) =>
          pattern.test(name),
        )
        t.ok('500' in (described?.[1][method.toLowerCase()]?.responses ?? {}), operation)
      }
    },
  },
  {
    says: 'GET /api/health returns a `version` string for the running service.',
    request: 'GET /api/health',
    by: null,
    status: 200,
    answer: { version: '1.2.3' },
  },
  {
    says: 'Paths carry no version prefix.',
    holds: async (t, at) => {
      const { paths } = await at.get('/api/openapi')
      t.same(
        Object.keys(paths).filter((path) => /\/v\d+(\/|$)/.test(path)),
        [],
      )
    },
  },
]
