import t, { type Test } from 'tap'
import { catalogue } from '../../src/errors/index.ts'
import { HttpListener } from '../../src/http/index.ts'
import { operationsOf } from '../support/description.ts'
import { furnish, heldPhoto, type Person, people, signedIn, siteUrl, testGateway, tinyPng } from '../support/gateway.ts'

t.test('the door: who asks is looked at before anything else, and strangers learn nothing', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const refusals: { what: string; headers: Record<string, string>; code: string }[] = [
    { what: 'no credentials', headers: {}, code: 'AUTH_REQUIRED' },
    {
      what: 'a scheme of its own',
      headers: signedIn(people.ada, { Authorization: 'Digest abc' }),
      code: 'AUTH_REQUIRED',
    },
    { what: 'a malformed Basic', headers: signedIn(people.ada, { Authorization: 'Basic !!!' }), code: 'AUTH_REQUIRED' },
    {
      what: 'Basic without a colon',
      headers: signedIn(people.ada, { Authorization: `Basic ${btoa('ada')}` }),
      code: 'AUTH_REQUIRED',
    },
    { what: 'no storage headers', headers: { Authorization: 'Bearer ada-secret' }, code: 'STORAGE_HEADERS_REQUIRED' },
    {
      what: 'only one storage header',
      headers: { Authorization: 'Bearer ada-secret', 'X-Storage-Username': 'ada' },
      code: 'STORAGE_HEADERS_REQUIRED',
    },
    {
      what: 'an instance of somebody else',
      headers: signedIn(people.ada, { 'X-Storage-Instance': 'https://evil.example' }),
      code: 'STORAGE_INSTANCE_NOT_ALLOWED',
    },
    {
      what: 'a wrong secret',
      headers: signedIn(people.ada, { Authorization: 'Bearer olga-secret' }),
      code: 'INVALID_CREDENTIALS',
    },
    { what: 'an unknown user', headers: signedIn({ username: 'nobody', role: 'admin' }), code: 'INVALID_CREDENTIALS' },
    {
      what: 'Basic of another user',
      headers: signedIn(people.ada, { Authorization: `Basic ${btoa('olga:olga-secret')}` }),
      code: 'USER_MISMATCH',
    },
  ]
  for (const { what, headers, code } of refusals) {
    for (const path of ['/api/whms/slots', '/api/there/is/nothing', '/api/metrics']) {
      const { status, body, headers: answered } = await gateway.ask('GET', path, { headers })
      t.match({ status, body }, { status: 401, body: { success: false, error: { code } } }, `${what}: ${path}`)
      t.equal(answered.get('www-authenticate'), 'Bearer, Basic realm="gatehouse"', what)
    }
  }
  const withSlash = signedIn(people.vera, { 'X-Storage-Instance': 'http://127.0.0.1:8480/' })
  t.equal(
    (await gateway.ask('GET', '/api/whms/slots', { headers: withSlash })).status,
    200,
    'a final slash makes no other instance',
  )
  const basic = signedIn(people.vera, { Authorization: `Basic ${btoa('vera:vera-secret')}` })
  t.equal((await gateway.ask('GET', '/api/whms/slots', { headers: basic })).status, 200, 'the same secret as Basic')
  t.match(await gateway.ask('GET', '/api/there/is/nothing', { by: people.vera }), {
    status: 404,
    body: { error: { code: 'NOT_FOUND' } },
  })
})

t.test('a name with letters beyond ASCII signs in, as the bytes that HTTP carries', async (t) => {
  const jürgen: Person = { username: 'jürgen', role: 'viewer' }
  const gateway = await testGateway({ people: [jürgen] })
  t.teardown(() => gateway.end())
  const onTheWire = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
  const named = { 'X-Storage-Instance': siteUrl, 'X-Storage-Username': onTheWire('jürgen') }
  const basic = Buffer.from('jürgen:jürgen-secret', 'utf8').toString('base64')
  const { status } = await gateway.ask('GET', '/api/whms/zones', {
    headers: { ...named, Authorization: `Basic ${basic}` },
  })
  t.equal(status, 200)
})

t.test('every refusal has the documented body, with the field and what was expected', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const post = (body: unknown) => gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  const good = { event_type: 'REMOVED', slot_id: 1, asset_barcode: 'P' }
  const refused: { body: unknown; path: string; says: RegExp }[] = [
    { body: { ...good, slot_id: 'x' }, path: 'slot_id', says: /expected integer/ },
    { body: { ...good, slot_id: 1.5 }, path: 'slot_id', says: /expected integer/ },
    { body: { ...good, slot_id: undefined }, path: 'slot_id', says: /required/ },
    { body: { ...good, asset_barcode: undefined }, path: 'asset_barcode', says: /required/ },
    { body: { ...good, asset_barcode: 'x'.repeat(257) }, path: 'asset_barcode', says: /at most 256/ },
    { body: { ...good, asset_barcode: 'a\u0000b' }, path: 'asset_barcode', says: /control characters/ },
    { body: { ...good, asset_barcode: '\ud800' }, path: 'asset_barcode', says: /well-formed/ },
    { body: { ...good, event_type: 'MOVED' }, path: 'event_type', says: /PLACED, REMOVED, VERIFIED, DISPUTED/ },
    { body: { ...good, event_type: undefined }, path: 'event_type', says: /^required$/ },
    { body: { ...good, scale_weight_kg: -1 }, path: 'scale_weight_kg', says: /at least 0/ },
    { body: { ...good, timestamp: '2026-02-30T08:00:00Z' }, path: 'timestamp', says: /RFC 3339/ },
    { body: { ...good, timestamp: '2026-03-02 08:00' }, path: 'timestamp', says: /RFC 3339/ },
    { body: { ...good, timestamp: '1969-12-31T23:59:59Z' }, path: 'timestamp', says: /1970/ },
    { body: { ...good, photo_url: 'ftp://x/y' }, path: 'photo_url', says: /http/ },
    { body: { ...good, photo_url: 'https://u:p@x/y' }, path: 'photo_url', says: /user info/ },
    { body: { ...good, evidence_hash: 'AB' }, path: 'evidence_hash', says: /64/ },
    { body: 7, path: '(body)', says: /expected object/ },
    { body: null, path: '(body)', says: /expected object/ },
  ]
  for (const { body, path, says } of refused) {
    const { status, body: answer } = await post(body)
    t.match({ status, code: answer.error?.code }, { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body))
    t.match(answer.error.fields, [{ path, message: says }])
    t.match(
      answer.error.details,
      new RegExp(`${path.replace(/[()]/g, '\\$&')}: `),
      'details is a string that names the field',
    )
    t.type(answer.error.requestId, 'string')
  }
  const raw = (bytes: Uint8Array | string, type = 'application/json') =>
    gateway.ask('POST', '/api/whms/events', { by: people.olga, bytes, headers: { 'Content-Type': type } })
  t.match(await raw('{"event_type":'), { status: 400, body: { error: { code: 'MALFORMED_JSON' } } })
  t.match(await raw(Buffer.from('{"a":"\xff"}', 'latin1')), {
    status: 400,
    body: { error: { code: 'MALFORMED_JSON' } },
  })
  t.match(await raw('a=b', 'application/x-www-form-urlencoded'), {
    status: 415,
    body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } },
  })
  t.match(await raw(`"${'x'.repeat(300_000)}"`), { status: 413, body: { error: { code: 'BODY_TOO_LARGE' } } })
  t.match(
    await raw(''),
    { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } },
    'an empty body lacks its fields',
  )
  const { body } = await gateway.ask('GET', '/api/whms/events', { by: people.vera })
  t.equal(body.pagination.total, 0, 'nothing of all that was stored')
})

t.test('a method that is not there answers 405 with what is, and nobody changes an event', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const wrong = await gateway.ask('DELETE', '/api/whms/slots', { by: people.ada })
  t.match(wrong, { status: 405, body: { error: { code: 'METHOD_NOT_ALLOWED' } } })
  t.equal(wrong.headers.get('allow'), 'GET, POST')
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    for (const [path, allowed] of [
      ['/api/whms/events', 'GET, POST'],
      ['/api/whms/events/1', 'GET'],
    ] as const) {
      for (const bytes of ['{}', 'no JSON', 'x'.repeat(300_000)]) {
        const answer = await gateway.ask(method, path, { by: people.ada, bytes })
        t.match(answer, { status: 405, body: { error: { code: 'LEDGER_IMMUTABLE' } } })
        t.equal(answer.headers.get('allow'), allowed)
      }
    }
  }
})

t.test('JSON is taken under every name that it goes by, and nothing else is', async (t) => {
  const gateway = await testGateway()
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  const port = await listener.start()
  t.teardown(async () => {
    await listener.stop()
    gateway.end()
  })
  await furnish(gateway, ['A'])
  const send = async (type: string | undefined, path: string, method: string, body: string) => {
    const headers = { ...signedIn(people.ada), ...(type !== undefined && { 'Content-Type': type }) }
    const bytes = Buffer.from(body)
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: bytes })
    return { status: answer.status, body: (await answer.json()) as Record<string, Record<string, unknown>> }
  }
  const put = (type: string | undefined) => send(type, '/api/whms/slots/1', 'PUT', '{"constraints":{"max_weight":5}}')
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json;',
    'application/json ; charset=utf-8',
    'application/json; charset="utf-8"',
    'application/vnd.a1+json',
    'application/vnd.acme_scan+json; v=2',
    '',
    undefined,
  ]) {
    t.match(await put(type), { status: 200, body: { constraints: { max_weight: 5 } } }, type ?? 'none')
  }
  for (const type of ['text/plain', 'application/jsonp', 'application/json+x', 'image/png', ';']) {
    const refused = { status: 415, body: { success: false, error: { code: 'UNSUPPORTED_MEDIA_TYPE' } } }
    t.match(await put(type), refused, type)
  }
  for (const none of [undefined, '']) {
    const broken = await send(none, '/api/whms/slots/1', 'PUT', 'a')
    t.match(broken, { status: 400, body: { error: { code: 'MALFORMED_JSON' } } }, 'what has no type is read as JSON')
  }
  t.match(await send('text/plain', '/api/whms/slots/1', 'PUT', ''), { status: 200 }, 'no body has no type')
  t.match(await send(undefined, '/api/whms/zones', 'POST', ''), {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR' } },
  })
})

t.test('what breaks inside is answered without a word about it, and told in the log', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  gateway.api.get('/api/broken', () => {
    throw new Error('the secret is xyzzy')
  })
  const answer = await gateway.ask('GET', '/api/broken', {
    by: people.vera,
    headers: { 'X-Request-Id': 'my-request-1' },
  })
  t.match(answer, {
    status: 500,
    body: { success: false, error: { code: 'INTERNAL_ERROR', requestId: 'my-request-1' } },
  })
  t.notMatch(answer.text, 'xyzzy')
  t.equal(answer.headers.get('x-request-id'), 'my-request-1')
})

t.test(
  'the hundred-and-first request in a minute waits, each user for itself, and health is another matter',
  async (t) => {
    const gateway = await testGateway({ config: { rateLimit: { requestsPerMinute: 100, users: { olga: 3 } } } })
    t.teardown(() => gateway.end())
    const ask = (by: Person) => gateway.ask('GET', '/api/whms/zones', { by })
    for (let i = 0; i < 100; i += 1) t.equal((await ask(people.vera)).status, 200)
    const refused = await ask(people.vera)
    t.match(refused, { status: 429, body: { error: { code: 'RATE_LIMITED' } } })
    t.match(refused.headers.get('retry-after'), /^([1-9]|[1-5]\d|60)$/)
    t.equal((await ask(people.sven)).status, 200, 'another user is not meant')
    for (const expected of [200, 200, 200, 429]) t.equal((await ask(people.olga)).status, expected, 'a rate of her own')
    t.equal((await gateway.ask('GET', '/api/health')).status, 200)
    gateway.clock.advance(Number(refused.headers.get('retry-after')) * 1000)
    t.equal((await ask(people.vera)).status, 200, 'after Retry-After it goes on')
  },
)

t.test('strangers are slowed by address, and that never stops a colleague', async (t) => {
  const gateway = await testGateway({ config: { rateLimit: { requestsPerMinute: 5 } } })
  t.teardown(() => gateway.end())
  const guess = (n: number) =>
    gateway.ask('GET', '/api/whms/zones', { headers: signedIn(people.ada, { Authorization: `Bearer guess-${n}` }) })
  for (let n = 0; n < 5; n += 1) t.equal((await guess(n)).status, 401)
  t.equal((await guess(6)).status, 429)
  t.equal(
    (await gateway.ask('GET', '/api/whms/zones', { by: people.ada })).status,
    200,
    'from the same address, with the right secret',
  )
})

t.test('every operation asks for the permission that its description names, of every role', async (t) => {
  // From the table "Who may do what" of the decisions.
  const supervisor = [
    'whms:read',
    'cameras:read',
    'events:create',
    'units:advance',
    'incidents:read',
    'incidents:create',
    'events:verify',
    'units:override',
  ]
  const granted: Record<string, readonly string[]> = {
    viewer: supervisor.slice(0, 2),
    operator: supervisor.slice(0, 6),
    supervisor: [
      ...supervisor,
      'incidents:resolve',
      'reports:read',
      'evidence:read',
      'reports:create',
      'audit:read',
      'cameras:control',
      'cameras:export',
    ],
  }
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const { body } = await gateway.ask('GET', '/api/openapi', { by: people.vera })
  let looked = 0
  for (const [path, item] of Object.entries(body.paths as Record<string, Record<string, Record<string, unknown>>>)) {
    for (const [method, operation] of Object.entries(item)) {
      const asked = [operation['x-permission']].flat() as string[]
      t.ok(asked.length > 0 && asked.every(Boolean), `${method} ${path} names a permission`)
      for (const person of Object.values(people)) {
        const may =
          person.role === 'admin' ||
          asked.some((one) => one === 'public' || one === 'caller' || granted[person.role]?.includes(one))
        const { status, body: answer } = await gateway.ask(method.toUpperCase(), path.replace(/\{\w+\}/g, '999'), {
          by: person,
          body: method === 'get' ? undefined : {},
        })
        if (may) t.notMatch({ status, code: answer?.error?.code }, { status: 403 }, `${person.role}: ${method} ${path}`)
        else
          t.match(
            { status, code: answer?.error?.code },
            { status: 403, code: 'PERMISSION_DENIED' },
            `${person.role}: ${method} ${path}`,
          )
        looked += 1
      }
    }
  }
  t.ok(looked > 100, `${looked} combinations`)
})

/** Operations that integrations are built on: one that is gone from the description breaks them. */
const promisedOperations = [
  'get /api/health',
  'get /api/ping',
  'get /api/metrics',
  'get /api/metrics/day',
  'get /api/console/object-detection',
  'get /api/console/object-detection/models/{sha256}',
  'get /api/openapi',
  'post /api/device-pairings',
  'post /api/device-pairings/collect',
  'get /api/device-pairings/{code}',
  'post /api/device-pairings/{code}/confirm',
  'get /api/whms/warehouses',
  'post /api/whms/warehouses',
  'get /api/whms/warehouses/{id}',
  'put /api/whms/warehouses/{id}/floor-plan-image',
  'get /api/whms/warehouses/{id}/floor-plan-image/{sha256}',
  'delete /api/whms/warehouses/{id}/floor-plan-image',
  'get /api/whms/zones',
  'post /api/whms/zones',
  'get /api/whms/zones/{id}',
  'get /api/whms/zones/{id}/slots',
  'get /api/whms/slots',
  'post /api/whms/slots',
  'get /api/whms/slots/{id}',
  'put /api/whms/slots/{id}',
  'post /api/whms/slots/batch',
  'get /api/whms/events',
  'post /api/whms/events',
  'post /api/whms/events/batch',
  'post /api/whms/moves',
  'post /api/whms/events/{id}/correct',
  'get /api/whms/events/{id}/footage',
  'get /api/whms/scan/{code}',
  'get /api/whms/discrepancies',
  'get /api/whms/slots/{id}/history',
  'get /api/whms/assets/{barcode}/history',
  'get /api/whms/assets/{barcode}/story',
  'get /api/whms/assets',
  'get /api/whms/assets/{barcode}',
  'put /api/whms/assets/{barcode}',
  'get /api/whms/assets/{barcode}/location',
  'get /api/whms/assets/{barcode}/label',
  'get /api/whms/slots/{id}/label',
  'post /api/whms/labels/print',
  'get /api/whms/labels/jobs',
  'get /api/whms/labels/printers',
  'post /api/whms/sscc',
  'get /api/whms/dashboard/utilization',
  'get /api/whms/transport-units/{id}/receipt',
  'post /api/webhooks',
  'post /api/webhooks/{id}/test',
  'get /api/governance/audit',
  'get /api/governance/audit/export',
  'get /api/governance/clock',
  'get /api/governance/incidents',
  'post /api/governance/incidents',
  'get /api/governance/incidents/{id}',
  'post /api/governance/incidents/{id}/investigate',
  'post /api/governance/incidents/{id}/resolve',
  'get /api/governance/reports',
  'post /api/governance/reports',
  'get /api/governance/reports/{id}',
  'get /api/governance/reports/{id}/file',
]

async function descriptionOf(t: Test) {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  return (await gateway.ask('GET', '/api/openapi', { by: people.vera })).body
}

t.test('the description names every error code that the daemon knows', async (t) => {
  const description = await descriptionOf(t)
  t.match(description, { openapi: '3.1.0', info: { title: 'gatehouse' } })
  t.same(
    description.components.schemas.Error.properties.error.properties.code.enum.toSorted(),
    Object.keys(catalogue).toSorted(),
  )
})

t.test('the description has every operation that integrations are built on', async (t) => {
  const { paths } = await descriptionOf(t)
  const documented = Object.entries(paths as Record<string, object>).flatMap(([path, item]) =>
    Object.keys(item).map((m) => `${m} ${path}`),
  )
  for (const operation of promisedOperations) t.ok(documented.includes(operation), operation)
})

/** The same list of slots again changes nothing, without a key. */
const isRepeatable = (path: string) => path === '/api/whms/slots/import'

t.test('the description says of every write to the warehouse that it takes an Idempotency-Key', async (t) => {
  const keyed = operationsOf(await descriptionOf(t)).filter(
    ({ method, path }) =>
      ['POST', 'PUT'].includes(method) && /^\/api\/(whms|governance)\//.test(path) && !isRepeatable(path),
  )
  for (const { path, operation } of keyed)
    t.ok(
      operation.parameters.some((p) => p.name === 'idempotency-key'),
      `${path} takes an Idempotency-Key`,
    )
})

t.test(
  'the description says what the daemon takes and answers: photos, times that may be absent, health',
  async (t) => {
    const { paths, components } = await descriptionOf(t)
    t.match(paths['/api/whms/evidence/photos'].post.requestBody.content, {
      'image/jpeg': { schema: { format: 'binary' } },
    })
    t.match(components.schemas.NewPlacementEvent.properties.timestamp, { type: ['string', 'null'] })
    t.match(paths['/api/health'].get.responses['503'].content['application/json'].schema, {
      anyOf: [{ $ref: '#/components/schemas/Health' }, { $ref: '#/components/schemas/Error' }],
    })
  },
)

t.test('health and ping answer everybody and give nothing away; metrics are for those who may', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const health = await gateway.ask('GET', '/api/health')
  t.match(health, {
    status: 200,
    body: { status: 'healthy', timestamp: gateway.clock.now() && String, uptime: Number, version: '0.0.0-test' },
  })
  t.strictSame(Object.keys(health.body), ['status', 'timestamp', 'uptime', 'version', 'checks'])
  t.strictSame(Object.keys(health.body.checks), ['database', 'disk', 'clock', 'storage', 'webhooks', 'cameras'])
  for (const [name, check] of Object.entries(health.body.checks)) {
    t.match(check, { status: 'healthy', responseTime: Number }, name)
    t.strictSame(Object.keys(check as object), ['status', 'responseTime'], name)
  }
  t.ok(health.text.length < 1000, `${health.text.length} bytes`)
  t.notMatch(health.text, gateway.folder)
  t.strictSame((await gateway.ask('GET', '/api/ping')).body, {
    status: 'ok',
    timestamp: new Date(gateway.clock.now()).toISOString(),
  })
  t.equal((await gateway.ask('GET', '/api/metrics', { by: people.sven })).status, 403)
  const metrics = await gateway.ask('GET', '/api/metrics', { by: people.ada })
  t.match(metrics.headers.get('content-type'), /^text\/plain/)
  t.match(metrics.text, /^gatehouse_log_leaves 0$/m)
  t.match(
    metrics.text,
    /^gatehouse_http_request_duration_seconds_count\{method="GET",route="\/api\/health",status="200"\} 1$/m,
  )
})

t.test('health says more to a caller, and the same as ever to a stranger with a wrong secret', async (t) => {
  const gateway = await testGateway({ config: { rateLimit: { requestsPerMinute: 8 } } })
  t.teardown(() => gateway.end())
  const signedInAt = await gateway.ask('POST', '/api/session', { body: { username: 'vera', secret: 'vera-secret' } })
  const cookie = signedInAt.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  for (const headers of [signedIn(people.vera), { Cookie: cookie }] as Record<string, string>[]) {
    const known = await gateway.ask('GET', '/api/health', { headers })
    t.match(known, { status: 200, body: { status: 'healthy', logKey: String, logKeyPostQuantum: String } })
    for (const name of ['database', 'evidence', 'backup', 'hub', 'config', 'box'])
      t.match(known.body.checks[name], { status: 'healthy', responseTime: Number }, name)
    t.match(known.body.checks.clock, { steps: 0 })
  }
  const wrong = { headers: signedIn(people.vera, { Authorization: 'Bearer wrong' }) }
  for (const options of [wrong, { headers: { Authorization: 'Bearer x' } }, { headers: { Cookie: 'gatehouse=x' } }]) {
    const stranger = await gateway.ask('GET', '/api/health', options)
    t.strictSame([stranger.status, Object.keys(stranger.body).length], [200, 5])
    t.notOk('reason' in stranger.body.checks.database)
  }
  for (let n = 0; n < 200; n += 1) {
    const { status, body } = await gateway.ask('GET', '/api/health', wrong)
    if (status !== 200 || Object.keys(body).length !== 5) t.fail(`a monitor with a stale secret reads ${status}`)
  }
  const limited = await gateway.ask('GET', '/api/whms/slots', wrong)
  t.match(limited, { status: 429, body: { error: { code: 'RATE_LIMITED' } } }, 'guesses count as on every path')
  const colleague = await gateway.ask('GET', '/api/health', { headers: signedIn(people.vera) })
  t.match(colleague, { status: 200, body: { logKey: String } }, 'and never use up the rate of a colleague')
  t.equal(
    (await gateway.ask('GET', '/api/health')).status,
    200,
    'a probe without a credential is answered all the same',
  )
})

t.test('a hash is taken in either case, and stored in lower case', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const url = await heldPhoto(gateway)
  const hash = url.split('/').at(-1) ?? ''
  const upper = hash.toUpperCase()
  t.not(upper, hash)
  const by = people.ada
  const event = { event_type: 'PLACED', slot_id: 1, asset_barcode: 'P-1', photo_url: url }
  const made = await gateway.ask('POST', '/api/whms/events', {
    by,
    body: { ...event, photo_sha256: upper, evidence_hash: 'AB'.repeat(32) },
  })
  t.match(made, {
    status: 201,
    body: { photo_sha256: hash, photoEvidence: 'held', client_evidence_hash: 'ab'.repeat(32) },
  })
  const named = await gateway.ask('POST', '/api/whms/events', {
    by,
    body: { ...event, event_type: 'PLACED', photo_url: url.replace(hash, upper) },
  })
  t.match(named, { status: 201, body: { photo_sha256: hash, photoEvidence: 'held' } })
  t.equal((await gateway.ask('GET', new URL(url).pathname.replace(hash, upper), { by })).status, 200)
  const incident = await gateway.ask('POST', '/api/governance/incidents', {
    by,
    body: { severity: 'low', category: 'damage', evidenceReferences: [upper, { type: 'photo', id: upper }] },
  })
  t.equal(incident.status, 201)
  for (const reference of incident.body.evidenceReferences) t.strictSame(reference, { type: 'photo', id: hash })
  t.ok(incident.body.evidenceReferences.length > 0)
  const short = await gateway.ask('POST', '/api/whms/events', { by, body: { ...event, photo_sha256: 'AB' } })
  t.strictSame(short.body.error.fields, [{ path: 'photo_sha256', message: 'expected 64 hex digits' }])
})

t.test('a disk without room for the ledger makes the gateway unhealthy, with the same body', async (t) => {
  const gateway = await testGateway({ config: { retention: { ledgerReserveBytes: '8000000GiB' } } })
  t.teardown(() => gateway.end())
  const health = await gateway.ask('GET', '/api/health')
  t.match(health, {
    status: 503,
    body: { status: 'unhealthy', checks: { disk: { status: 'unhealthy' }, database: { status: 'healthy' } } },
  })
  t.ok(health.headers.get('retry-after'))
})

t.test('a photo is what its bytes are, is kept once under its hash, and only for those who may see it', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const url = await heldPhoto(gateway)
  t.equal(url, await heldPhoto(gateway), 'the same photo again is the same photo')
  const path = new URL(url).pathname
  const photo = await gateway.api.request(path, { headers: signedIn(people.ada) })
  t.ok(Buffer.from(await photo.arrayBuffer()).equals(tinyPng), 'the same bytes come back')
  t.equal(photo.headers.get('content-type'), 'image/png')
  t.equal((await gateway.ask('GET', path)).status, 401)
  t.equal(
    (await gateway.ask('GET', path.replace(/.$/, path.endsWith('0') ? '1' : '0'), { by: people.ada })).status,
    404,
  )
  t.equal(
    (await gateway.ask('GET', '/api/whms/evidence/photos/..%2f..%2fgatehouse.db', { by: people.ada })).status,
    404,
  )
  const upload = (bytes: Uint8Array, by: Person = people.olga) =>
    gateway.ask('POST', '/api/whms/evidence/photos', { by, bytes })
  t.match(await upload(Buffer.from('<svg onload="alert(1)"/>')), { status: 415 }, 'no picture')
  t.match(await upload(Buffer.alloc(0)), { status: 415 }, 'nothing')
  t.match(await upload(Buffer.concat([tinyPng, Buffer.alloc(12 * 1024 * 1024)])), { status: 413 }, 'too large')
  t.match(await upload(tinyPng, people.vera), { status: 403 })
  const jpeg = Buffer.from('ffd8ffe000044a46ffc0000411ffffda0004000112ff0034ffd9', 'hex')
  const webp = Buffer.from('52494646100000005745425056503820040000009d012a00', 'hex')
  const changed = (file: Buffer, at: number, to: number) => Buffer.from(file.map((byte, i) => (i === at ? to : byte)))
  for (const whole of [jpeg, webp, Buffer.concat([jpeg, Buffer.of(0)])]) t.equal((await upload(whole)).status, 201)
  for (const [what, file] of Object.entries({
    'a bare PNG signature': tinyPng.subarray(0, 8),
    'a PNG without its end': tinyPng.subarray(0, -12),
    'a PNG with another first chunk': changed(tinyPng, 12, 0x4a),
    'a bare JPEG signature': jpeg.subarray(0, 4),
    'a JPEG without its end': jpeg.subarray(0, -2),
    'a JPEG without a frame': changed(jpeg, 9, 0xe1),
    'a WebP that is shorter than it says': webp.subarray(0, -1),
    'a WebP of another kind': changed(webp, 15, 0x39),
  })) {
    t.match(await upload(file), { status: 415, body: { error: { message: 'The photo is not whole' } } }, what)
  }
  const part = await gateway.ask('GET', path, { by: people.ada, headers: { Range: 'bytes=1-3' } })
  t.match(part, { status: 206, text: 'PNG' })
  t.equal(part.headers.get('etag'), `"${path.split('/').at(-1)}"`)
})
