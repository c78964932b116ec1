import t, { type Test } from 'tap'
import { permissions } from '../../src/config/index.ts'
import { eventTypes } from '../../src/journal/index.ts'
import { raiseAlert } from '../../src/webhooks/alerts.ts'
import { allOf } from '../support/plain-sql.ts'
import { WebhookYard, type YardOptions } from '../support/webhook-yard.ts'

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const unknownId = '019cae00-0000-7000-8000-000000000000'
const events = ['whms.placement']

/** A yard that allows no private network; names resolve as the test says, by default to a public address. */
function openYard(t: Test, options: YardOptions = {}): WebhookYard {
  const yard = new WebhookYard({
    resolve: async () => ['198.41.0.4'],
    ...options,
    settings: { allowNetworks: [], ...options.settings },
  })
  t.teardown(() => yard.end())
  return yard
}

t.test('a webhook is registered, read, listed, changed and deleted', async (t) => {
  const yard = openYard(t)
  const url = 'https://erp.example/hook?site=7'
  const made = await yard.call('POST', '/api/webhooks', {
    url,
    events: [...events, ...events],
    secret: 'sixteen letters!',
    colour: 'red',
  })
  t.equal(made.status, 201)
  const { id } = made.body
  t.match(id, uuidv7)
  t.equal(made.headers.get('location'), `/api/webhooks/${id}`)
  const now = new Date(yard.clock.now()).toISOString()
  const webhook = {
    id,
    url,
    events,
    active: true,
    hold: false,
    checkpoint: false,
    status: 'active',
    consecutiveFailures: 0,
    pacing: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
  t.strictSame(made.body, { success: true, ...webhook, warnings: [], ignoredFields: ['colour'] })
  t.strictSame((await yard.call('GET', `/api/webhooks/${id}`)).body, { success: true, ...webhook })
  const list = await yard.call('GET', '/api/webhooks')
  t.strictSame(list.body, {
    success: true,
    data: [webhook],
    pagination: { limit: null, offset: 0, total: 1, hasMore: false, nextCursor: null },
  })

  const changes = {
    url: 'https://wms.example/',
    events: ['scale.reading', 'motion.detected'],
    active: false,
    hold: true,
    checkpoint: true,
    secret: 'another long secret',
  }
  const changed = await yard.call('PATCH', `/api/webhooks/${id}`, changes)
  const { secret, ...shown } = changes
  t.equal(changed.status, 200)
  t.strictSame(changed.body, { success: true, ...webhook, ...shown, status: 'disabled', version: 2, warnings: [] })

  const deleted = await yard.call('DELETE', `/api/webhooks/${id}`)
  t.equal(deleted.status, 204)
  t.equal(deleted.body, undefined)
  t.equal((await yard.call('GET', `/api/webhooks/${id}`)).status, 404)
})

t.test('a webhook without a secret gets one, shown in the first answer only', async (t) => {
  const yard = openYard(t)
  const request = { url: 'https://erp.example/', events }
  const first = await yard.call('POST', '/api/webhooks', request, { 'Idempotency-Key': 'k1' })
  t.match(first.body, { secret: /^whsec_[A-Za-z0-9+/]{43}=$/, warnings: { length: 0 } })
  const again = await yard.call('POST', '/api/webhooks', request, { 'Idempotency-Key': 'k1' })
  t.match(again, { status: 201, body: { id: first.body.id, warnings: [{ code: 'SECRET_SHOWN_ONCE' }] } })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(again.headers.get('location'), `/api/webhooks/${first.body.id}`)
  t.notOk('secret' in again.body)
  const other = await yard.call('POST', '/api/webhooks', { ...request, active: false }, { 'Idempotency-Key': 'k1' })
  t.match(other, { status: 422, body: { error: { code: 'IDEMPOTENCY_MISMATCH' } } })
  t.equal(yard.count('webhook'), 1)
})

t.test('a short secret is taken with a warning', async (t) => {
  const yard = openYard(t)
  const made = await yard.call('POST', '/api/webhooks', { url: 'https://erp.example/', events, secret: 'x' })
  t.match(made, { status: 201, body: { warnings: [{ code: 'SECRET_SHORT' }] } })
  const changed = await yard.call('PATCH', `/api/webhooks/${made.body.id}`, { secret: 'fifteen letters' })
  t.match(changed.body.warnings, [{ code: 'SECRET_SHORT' }])
})

t.test('a change that changes nothing is no new version', async (t) => {
  const yard = openYard(t)
  const { id } = (await yard.call('POST', '/api/webhooks', { url: 'https://erp.example/', events })).body
  const same = await yard.call('PATCH', `/api/webhooks/${id}`, {
    url: 'https://erp.example/',
    events,
    active: true,
  })
  t.match(same, { status: 200, body: { version: 1 } })
  const cleared = await yard.call('PATCH', `/api/webhooks/${id}`, { secret: null })
  t.match(cleared, { status: 400, body: { error: { fields: [{ path: 'secret' }] } } }, 'a webhook always has a secret')
  t.match(await yard.call('PATCH', `/api/webhooks/${id}`, {}), { status: 200, body: { version: 1 } })
  for (const settings of [{ active: false, hold: true, checkpoint: true }, { active: true }]) {
    await yard.call('PATCH', `/api/webhooks/${id}`, settings)
    const { success, ...webhook } = await yard.webhook(id)
    const answer = await yard.call('PATCH', `/api/webhooks/${id}`, webhook)
    t.match(answer.body, webhook, 'what was read is sent back')
  }
  t.equal(yard.count("audit_entry WHERE entity = 'webhook'"), 3, 'registered, and changed twice')
})

/** Names, and where they lead. */
const insideNames: Record<string, string[]> = {
  'inside.example': ['10.20.30.40'],
  'both.example': ['198.41.0.4', 'fd12::1'],
  'mapped.example': ['::ffff:192.168.1.1'],
}

/** Ways to name a network that is no one else's business. */
const insideAddresses = [
  ['user info', 'https://user@erp.example/'],
  ['a password alone', 'https://:pw@erp.example/'],
  ['loopback', 'https://127.0.0.1/'],
  ['loopback, not .1', 'https://127.8.9.10:8443/hook'],
  ['loopback, shortened', 'https://127.1/'],
  ['loopback, a number', 'https://2130706433/'],
  ['loopback, hex', 'https://0x7f000001/'],
  ['loopback, octal', 'https://0177.0.0.1/'],
  ['loopback, with a final dot', 'https://127.0.0.1./'],
  ['loopback, percent-encoded', 'https://%31%32%37.0.0.1/'],
  ['loopback, circled digits', 'https://①②⑦.0.0.1/'],
  ['loopback, IPv6', 'https://[::1]/'],
  ['loopback by name', 'https://localhost/'],
  ['loopback by name, with a final dot', 'https://LOCALHOST./'],
  ['loopback by a name below', 'https://api.localhost/'],
  ['loopback by a name below, with a final dot', 'https://api.localhost./'],
  ['unspecified', 'https://0.0.0.0/'],
  ['unspecified, short', 'https://0/'],
  ['unspecified, IPv6', 'https://[::]/'],
  ['private 10', 'https://10.0.0.1/'],
  ['private 172', 'https://172.31.255.254/'],
  ['private 192', 'https://192.168.178.1/'],
  ['private, IPv6', 'https://[fd00:ec2::254]/'],
  ['site-local, IPv6', 'https://[fec0::1]/'],
  ['carrier-grade NAT', 'https://100.64.0.1/'],
  ['link-local and cloud metadata', 'https://169.254.169.254/latest'],
  ['link-local, IPv6', 'https://[fe80::1]/'],
  ['metadata at a public address', 'https://168.63.129.16/'],
  ['multicast', 'https://224.0.0.1/'],
  ['multicast, IPv6', 'https://[ff02::1]/'],
  ['broadcast', 'https://255.255.255.255/'],
  ['reserved', 'https://240.0.0.1/'],
  ['documentation', 'https://192.0.2.1/'],
  ['benchmarking', 'https://198.18.0.1/'],
  ['IPv4-mapped', 'https://[::ffff:10.0.0.1]/'],
  ['IPv4-mapped, hex', 'https://[::ffff:7f00:1]/'],
  ['IPv4-mapped of a public address', 'https://[::ffff:198.41.0.4]/'],
  ['IPv4-compatible', 'https://[::127.0.0.1]/'],
  ['NAT64', 'https://[64:ff9b::10.0.0.1]/'],
  ['NAT64 of a public address', 'https://[64:ff9b::198.41.0.4]/'],
  ['NAT64, local', 'https://[64:ff9b:1::10.0.0.1]/'],
  ['SIIT', 'https://[::ffff:0:10.0.0.1]/'],
  ['6to4', 'https://[2002:7f00:1::]/'],
  ['Teredo', 'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/'],
  ['unassigned IPv6', 'https://[4000::1]/'],
  ['a name that leads inside', 'https://inside.example/'],
  ['a name that leads inside too', 'https://both.example/'],
  ['a name that leads to a mapped address', 'https://mapped.example/'],
]

t.test('addresses that a webhook must not have: those inside, however they are written', async (t) => {
  const yard = openYard(t, { resolve: async (host) => insideNames[host] ?? Promise.reject(new Error('ENOTFOUND')) })
  for (const [what, url] of insideAddresses) {
    const reply = await yard.call('POST', '/api/webhooks', { url, events })
    t.match(
      reply,
      { status: 400, body: { success: false, error: { code: 'WEBHOOK_URL_FORBIDDEN', fields: [{ path: 'url' }] } } },
      `${what}: ${url}`,
    )
  }
  t.equal(yard.count('webhook'), 0)
})

t.test('addresses that a webhook must not have: those that are not https', async (t) => {
  const yard = openYard(t)
  for (const url of [
    'http://erp.example/',
    'HTTP://erp.example/',
    'ftp://erp.example/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ws://erp.example/',
  ]) {
    const reply = await yard.call('POST', '/api/webhooks', { url, events })
    t.match(reply, { status: 400, body: { error: { code: 'WEBHOOK_URL_NOT_HTTPS', fields: [{ path: 'url' }] } } }, url)
  }
  t.equal(yard.count('webhook'), 0)
})

t.test('addresses that a webhook may have', async (t) => {
  const yard = openYard(t, {
    settings: { allowNetworks: ['10.20.0.0/16', '127.0.0.1', '64:ff9b::/96', 'not a network'] },
    resolve: async (host) => (host === 'inside.example' ? ['10.20.30.40'] : Promise.reject(new Error('ENOTFOUND'))),
  })
  const allowed = [
    'https://198.41.0.4/',
    'https://[2606:4700::1111]/',
    'https://10.20.30.40:8443/hook',
    'https://[::ffff:10.20.30.40]/',
    'https://[64:ff9b::198.41.0.4]/',
    'https://inside.example/',
    'https://localhost:8443/',
    'https://box.localhost/',
    'https://not-yet-there.example/',
  ]
  for (const url of allowed) t.equal((await yard.call('POST', '/api/webhooks', { url, events })).status, 201, url)
  for (const url of ['https://10.21.0.1/', 'https://127.0.0.2/', 'https://[::1]/', 'https://[64:ff9b::10.21.0.1]/']) {
    t.match(
      (await yard.call('POST', '/api/webhooks', { url, events })).body,
      { error: { code: 'WEBHOOK_URL_FORBIDDEN' } },
      url,
    )
  }
})

t.test('a resolver that does not answer holds a registration up for two seconds', async (t) => {
  const asked = Promise.withResolvers<void>()
  const yard = openYard(t, {
    resolve: () => {
      asked.resolve()
      return new Promise(() => {})
    },
  })
  const reply = yard.call('POST', '/api/webhooks', { url: 'https://erp.example/', events })
  await asked.promise
  yard.clock.advance(2000)
  t.equal((await reply).status, 201)
})

t.test('a new address is judged like the first', async (t) => {
  const yard = openYard(t)
  const { id } = (await yard.call('POST', '/api/webhooks', { url: 'https://erp.example/', events })).body
  const patch = (url: string) => yard.call('PATCH', `/api/webhooks/${id}`, { url })
  t.match(await patch('http://erp.example/'), { status: 400, body: { error: { code: 'WEBHOOK_URL_NOT_HTTPS' } } })
  t.match(await patch('https://10.0.0.1/'), { status: 400, body: { error: { code: 'WEBHOOK_URL_FORBIDDEN' } } })
  t.match((await yard.call('GET', `/api/webhooks/${id}`)).body, { url: 'https://erp.example/', version: 1 })
})

t.test('what is not a registration is refused field by field', async (t) => {
  const yard = openYard(t)
  const url = 'https://erp.example/'
  const bad: [unknown, string[]][] = [
    [{}, ['url', 'events']],
    [[], ['(body)']],
    [{ url: 'no url', events }, ['url']],
    [{ url: '', events }, ['url']],
    [{ url: 7, events }, ['url']],
    [{ url: `https://erp.example/${'x'.repeat(2048)}`, events }, ['url']],
    [{ url: 'https://exa\u0000mple/', events }, ['url']],
    [{ url, events: [] }, ['events']],
    [{ url, events: 'whms.placement' }, ['events']],
    [{ url, events: ['whms.placed'] }, ['events.0']],
    [{ url, events: null }, ['events']],
    [{ url, events, secret: '' }, ['secret']],
    [{ url, events, secret: 'x'.repeat(257) }, ['secret']],
    [{ url, events, secret: 12345 }, ['secret']],
    [{ url, events, active: 'yes' }, ['active']],
  ]
  for (const [body, paths] of bad) {
    const reply = await yard.call('POST', '/api/webhooks', body)
    t.match(
      reply,
      { status: 400, body: { success: false, error: { code: 'VALIDATION_ERROR' } } },
      JSON.stringify(body).slice(0, 60),
    )
    t.strictSame([...new Set(reply.body.error.fields.map((f: { path: string }) => f.path))], paths)
  }
  t.match(await yard.call('POST', '/api/webhooks', '{'), { status: 400, body: { error: { code: 'MALFORMED_JSON' } } })
  t.equal(yard.count('webhook'), 0)
})

t.test('an unknown webhook is not found, whatever is asked of it', async (t) => {
  const yard = openYard(t)
  for (const id of [unknownId, '1', 'event-typ', '%00']) {
    for (const [method, path, body] of [
      ['GET', `/api/webhooks/${id}`],
      ['PATCH', `/api/webhooks/${id}`, { active: true }],
      ['PATCH', `/api/webhooks/${id}`, { url: 'https://10.0.0.1/' }],
      ['DELETE', `/api/webhooks/${id}`],
      ['POST', `/api/webhooks/${id}/test`],
      ['GET', `/api/webhooks/${id}/deliveries`],
      ['POST', `/api/webhooks/${id}/enable`],
      ['POST', `/api/webhooks/${id}/rotate-secret`],
      ['POST', `/api/webhooks/${id}/recover`, { since: '2026-03-02T00:00:00Z' }],
      ['POST', `/api/webhooks/${id}/deliveries/${unknownId}/redeliver`],
      ['POST', `/api/alerts/${id}/acknowledge`],
    ] as const) {
      t.match(
        await yard.call(method, path, body),
        { status: 404, body: { success: false, error: { code: 'NOT_FOUND' } } },
        `${method} ${path}`,
      )
    }
  }
})

t.test('managing webhooks and alerts needs its permissions; the event types only need reading', async (t) => {
  const yard = openYard(t, { permissions: permissions.filter((p) => !/^(webhooks|alerts):/.test(p)) })
  for (const [method, path, body] of [
    ['POST', '/api/webhooks', { url: 'https://erp.example/', events }],
    ['GET', '/api/webhooks'],
    ['GET', `/api/webhooks/${unknownId}`],
    ['PATCH', `/api/webhooks/${unknownId}`, {}],
    ['DELETE', `/api/webhooks/${unknownId}`],
    ['POST', `/api/webhooks/${unknownId}/test`],
    ['GET', `/api/webhooks/${unknownId}/deliveries`],
    ['POST', `/api/webhooks/${unknownId}/enable`],
    ['POST', `/api/webhooks/${unknownId}/rotate-secret`],
    ['POST', `/api/webhooks/${unknownId}/recover`, { since: '2026-03-02T00:00:00Z' }],
    ['POST', `/api/webhooks/${unknownId}/deliveries/${unknownId}/redeliver`],
    ['GET', '/api/alerts'],
    ['POST', '/api/alerts/1/acknowledge'],
  ] as const) {
    t.match(
      await yard.call(method, path, body),
      { status: 403, body: { error: { code: 'PERMISSION_DENIED' } } },
      `${method} ${path}`,
    )
  }
  const types = await yard.call('GET', '/api/webhooks/event-types')
  t.equal(types.status, 200)
  t.strictSame(
    types.body.data.map((one: { type: string }) => one.type),
    eventTypes,
  )
})

t.test('a test sends one signed webhook.test and counts nowhere, also while the webhook is disabled', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const receiver = await yard.receiver()
  const id = await yard.register(receiver, events, { active: false })
  const before = await yard.webhook(id)
  const reply = await yard.call('POST', `/api/webhooks/${id}/test`)
  const [request] = receiver.received
  t.match(request, {
    signatureValid: true,
    type: 'webhook.test',
    event: { type: 'webhook.test', data: { webhookId: id } },
  })
  t.strictSame(reply.body, {
    success: true,
    delivered: true,
    statusCode: 204,
    durationMs: reply.body.durationMs,
    deliveryId: request?.deliveryId,
    error: null,
    answer: null,
  })
  receiver.behave(() => ({ status: 500 }))
  t.match((await yard.call('POST', `/api/webhooks/${id}/test`)).body, {
    success: true,
    delivered: false,
    statusCode: 500,
    error: 'HTTP 500',
  })
  await receiver.stop()
  t.match((await yard.call('POST', `/api/webhooks/${id}/test`)).body, {
    delivered: false,
    statusCode: null,
    error: /ECONNREFUSED/,
  })
  t.strictSame(await yard.webhook(id), before)
  t.strictSame(yard.count('alert'), 0)
  t.strictSame(yard.attempts, [])
  const { data, pagination } = (await yard.call('GET', `/api/webhooks/${id}/deliveries`)).body
  const test = { type: 'webhook.test', test: true, held: null, nextAttemptAt: null, attemptCount: 1 }
  t.match(data, [
    { ...test, state: 'exhausted', lastStatusCode: null, lastError: /ECONNREFUSED/ },
    {
      ...test,
      state: 'exhausted',
      lastStatusCode: 500,
      attempts: [{ attempt: 1, statusCode: 500, error: 'HTTP 500' }],
    },
    { ...test, id: reply.body.deliveryId, eventId: request?.event.id, state: 'delivered', lastStatusCode: 204 },
  ])
  t.equal(pagination.total, 3)
})

t.test('a test is one webhook’s, and is never sent again', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const [tested, other] = [await yard.receiver(), await yard.receiver()]
  const id = await yard.register(tested)
  const otherId = await yard.register(other, [...events, 'webhook.test'])
  const { deliveryId } = (await yard.call('POST', `/api/webhooks/${id}/test`)).body
  await yard.publish()
  await yard.attempted(2)
  t.strictSame(
    other.received.map(({ type }) => type),
    ['whms.placement'],
    'nobody else is tested',
  )
  t.match(await yard.call('POST', `/api/webhooks/${id}/deliveries/${deliveryId}/redeliver`), {
    status: 400,
    body: { error: { code: 'INVALID_TRANSITION', details: /sends another/ } },
  })
  for (const one of [id, otherId]) {
    const recovered = await yard.call('POST', `/api/webhooks/${one}/recover`, { since: '2000-01-01T00:00:00Z' })
    t.match(recovered.body, { resent: 1 }, 'a recovery passes over it')
  }
  await yard.attempted(4)
  t.equal(tested.received.filter(({ type }) => type === 'webhook.test').length, 1)
})

t.test('a test does not wait longer than the timeout', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  const receiver = await yard.receiver({ behave: () => 'hang' })
  const id = await yard.register(receiver)
  const reply = yard.call('POST', `/api/webhooks/${id}/test`)
  await receiver.waitFor(() => true)
  yard.clock.advance(30_000)
  t.match((await reply).body, {
    delivered: false,
    statusCode: null,
    error: 'no answer within 30 s',
    durationMs: 30_000,
  })
})

t.test('the history of deliveries is paged, newest first', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const receiver = await yard.receiver()
  const id = await yard.register(receiver, ['whms.placement', 'whms.removal'])
  await yard.publish(120)
  await yard.attempted(120)
  const get = async (query: string) => (await yard.call('GET', `/api/webhooks/${id}/deliveries${query}`)).body
  const first = await get('')
  t.match(first.pagination, { limit: 50, offset: 0, total: 120, hasMore: true, nextCursor: /^\d+$/ })
  const second = await get(`?limit=50&cursor=${first.pagination.nextCursor}`)
  const third = await get('?limit=700&offset=100')
  t.match(third.pagination, { limit: 500, offset: 100, total: 120, hasMore: false, nextCursor: null })
  const ids = [...first.data, ...second.data, ...third.data].map((d) => d.id)
  t.equal(new Set(ids).size, 120)
  t.strictSame(ids, ids.toSorted().toReversed())
  t.strictSame((await get('?state=pending')).data, [])
  const oldest = await get('?after_seq=0&limit=50&state=delivered')
  t.strictSame(oldest.pagination, { limit: 50, offset: 0, total: 120, hasMore: true, nextCursor: null })
  const rest = await get(`?limit=100&after_seq=${oldest.data.at(-1).seq}`)
  t.equal(rest.pagination.hasMore, false)
  t.strictSame(
    [...oldest.data, ...rest.data].map((d) => d.id),
    ids.toReversed(),
    'followed in order',
  )
  const lateMs = yard.clock.now() + 60_000
  yard.clock.advance(60_000)
  await yard.publish(2)
  await yard.publish(2, 'whms.removal')
  await yard.attempted(124)
  const of = async (query: string) => {
    const { data, pagination } = await get(query)
    return { seqs: data.map((d: { seq: number }) => d.seq), total: pagination.total }
  }
  const last = first.data[0].seq
  const from = new Date(lateMs).toISOString()
  const { seqs, total } = await of(`?from=${from}`)
  t.strictSame([seqs.length, total, seqs.at(-1) > last], [4, 4, true])
  const [d, c, b, a] = seqs
  t.strictSame(await of(`?from=${from}&type=whms.removal&after_seq=1`), { seqs: [c, d], total: 2 })
  t.strictSame(await of(`?to=${from}&after_seq=${last - 1}&state=delivered`), { seqs: [last], total: 1 })
  t.strictSame(await of('?state=exhausted&after_seq=0'), { seqs: [], total: 0 })
  t.strictSame(await of(`?after_seq=${last}&cursor=${c}`), { seqs: [a, b], total: 2 })
  for (const query of ['?limit=-1', '?limit=1.5', '?offset=x', '?state=lost', '?cursor=y', '?after_seq=y']) {
    t.match(
      await yard.call('GET', `/api/webhooks/${id}/deliveries${query}`),
      { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } },
      query,
    )
  }
})

t.test('an alert is acknowledged once, and that is in the audit trail', async (t) => {
  const yard = new WebhookYard({ settings: { retryScheduleMs: [0, 0, 0, 0, 0, 0] } })
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const receiver = await yard.receiver({ behave: () => ({ status: 500 }) })
  await yard.register(receiver)
  await yard.publish(1)
  await yard.attempted(6)
  const [alert] = (await yard.call('GET', '/api/alerts')).body.data
  const seenAt = new Date(yard.clock.now()).toISOString()
  const acknowledged = await yard.call('POST', `/api/alerts/${alert.id}/acknowledge`)
  t.strictSame(acknowledged, {
    ...acknowledged,
    status: 200,
    body: { success: true, ...alert, acknowledgedAt: seenAt },
  })
  await yard.pass(1000)
  t.equal((await yard.call('POST', `/api/alerts/${alert.id}/acknowledge`)).body.acknowledgedAt, seenAt)
  t.strictSame((await yard.call('GET', '/api/alerts?acknowledged=false')).body.data, [])
  t.equal((await yard.call('GET', '/api/alerts?acknowledged=true')).body.data.length, 1)
  const actions = yard.work.read((tx) =>
    allOf<{ action: string }>(tx, `SELECT action FROM audit_entry WHERE entity = 'alert'`),
  )
  t.strictSame(actions, [{ action: 'alert.acknowledged' }])
})

t.test('every change is in the audit trail, without secrets and without what an address may hide', async (t) => {
  const yard = openYard(t)
  const request = { url: 'https://erp.example/hooks/T0KEN?key=T0KEN', events, secret: 'a very long secret' }
  const { id } = (await yard.call('POST', '/api/webhooks', request)).body
  await yard.call('PATCH', `/api/webhooks/${id}`, {
    url: 'https://wms.example/T0KEN',
    active: false,
    hold: true,
    checkpoint: true,
    secret: 'another long secret',
  })
  await yard.call('DELETE', `/api/webhooks/${id}`)
  const rows = yard.work.read((tx) =>
    allOf<{ action: string; entity_id: string; changes: string; actor_commitment: string | null }>(
      tx,
      `SELECT action, entity_id, changes, actor_commitment FROM audit_entry WHERE entity = 'webhook' ORDER BY id`,
    ),
  )
  t.strictSame(
    rows.map((row) => row.action),
    ['webhook.registered', 'webhook.updated', 'webhook.deleted'],
  )
  t.ok(rows.every((row) => row.entity_id === id && row.actor_commitment))
  t.strictSame(JSON.parse(rows[1]?.changes ?? ''), {
    origin: { from: 'https://erp.example', to: 'https://wms.example' },
    active: { from: true, to: false },
    hold: { from: false, to: true },
    checkpoint: { from: false, to: true },
    secret: 'replaced',
  })
  t.notMatch(JSON.stringify(rows), /T0KEN|long secret/)
})

t.test('what takes no body says so of one that it cannot read, and ignores any other', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  const { paths = {} } = yard.api.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'test', version: '0' } })
  const receiver = await yard.receiver()
  const id = await yard.register(receiver)
  await yard.work.write((tx) =>
    raiseAlert(tx, yard.outbox, { kind: 'webhook.failing', subject: id, message: 'x', nowMs: 0 }),
  )
  const actions = {
    '/api/webhooks/{id}/test': id,
    '/api/webhooks/{id}/enable': id,
    '/api/alerts/{id}/acknowledge': '1',
  }
  for (const [path, of] of Object.entries(actions)) {
    const described = Object.keys(paths[path]?.post?.responses ?? {})
    const at = path.replace('{id}', of)
    t.equal((await yard.call('POST', at, { what: 'ever' })).status, 200, path)
    const refused = [
      await yard.call('POST', at, 'no JSON {'),
      await yard.call('POST', at, '<x/>', { 'Content-Type': 'text/xml' }),
    ]
    for (const { status } of refused) t.ok(status === 200 || described.includes(String(status)), `${path} ${status}`)
  }
})

t.test('the description names every operation, and a deletion answers 204 without a body', async (t) => {
  const yard = openYard(t)
  const { paths = {} } = yard.api.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'test', version: '0' } })
  t.strictSame(Object.keys(paths).sort(), [
    '/api/alerts',
    '/api/alerts/{id}/acknowledge',
    '/api/webhooks',
    '/api/webhooks/event-types',
    '/api/webhooks/{id}',
    '/api/webhooks/{id}/deliveries',
    '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver',
    '/api/webhooks/{id}/enable',
    '/api/webhooks/{id}/recover',
    '/api/webhooks/{id}/rotate-secret',
    '/api/webhooks/{id}/test',
  ])
  const headers = (paths['/api/webhooks']?.post?.parameters ?? []).map((one) => 'name' in one && one.name)
  t.strictSame(headers, ['idempotency-key'])
  t.strictSame(paths['/api/webhooks/{id}']?.delete?.responses?.['204'], { description: 'Deleted' })
})
