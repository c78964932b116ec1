import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { AppError } from '../../src/errors/index.ts'
import { allOf } from '../support/plain-sql.ts'
import { startReceiver } from '../support/receiver.ts'
import { WebhookYard, type YardOptions } from '../support/webhook-yard.ts'

const minute = 60_000

/** A yard with its worker running. */
function openYard(t: Test, options: YardOptions = {}): WebhookYard {
  const yard = new WebhookYard(options)
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  return yard
}

/** Publishes placements with these numbers, one commit each. */
async function publishNumbered(yard: WebhookYard, numbers: readonly number[]): Promise<void> {
  for (const n of numbers) {
    const event = { eventId: `event ${n}`, timestampMs: yard.clock.now(), data: { n } }
    await yard.work.write((tx) => yard.outbox.publish(tx, { type: 'whms.placement', ...event }))
  }
}

t.test('an event reaches the receiver signed, in the documented headers', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  const id = await yard.register(receiver)
  await yard.publish()
  const request = await receiver.waitFor(() => true)
  await yard.attempted(1)
  const [delivery] = await yard.deliveries(id)
  t.match(request, { method: 'POST', path: '/hook', signatureValid: true })
  t.match(request.event, { type: 'whms.placement', data: { n: 1 } })
  t.strictSame(request.event.metadata, { warehouseId: 1, siteId: 'dc-7', version: '1.0' })
  const { host, connection, ...headers } = request.headers
  t.strictSame(headers, {
    'content-type': 'application/json',
    'content-length': String(request.body.length),
    'user-agent': 'gatehouse/1.2.3',
    'x-service-event': 'whms.placement',
    'x-service-delivery': delivery.id,
    'x-service-timestamp': request.event.timestamp,
    'x-service-signature': `sha256=${createHmac('sha256', 'a secret that both know').update(request.body).digest('hex')}`,
    'webhook-id': delivery.id,
    'webhook-timestamp': String(yard.clock.now() / 1000),
    'webhook-signature': `v1,${createHmac('sha256', 'a secret that both know')
      .update(`${delivery.id}.${yard.clock.now() / 1000}.`)
      .update(request.body)
      .digest('base64')}`,
  })
  t.match(delivery, {
    state: 'delivered',
    eventId: request.event.id,
    attemptCount: 1,
    attempts: [{ attempt: 1, statusCode: 204 }],
  })
  t.equal(delivery.nextAttemptAt, null)
})

t.test('a retry that falls due while another delivery is claimed is sent all the same', async (t) => {
  const yard = openYard(t)
  const failing = await yard.receiver({ behave: (_, nth) => ({ status: nth === 1 ? 503 : 204 }) })
  const silent = await yard.receiver({ behave: () => 'hang' })
  await yard.register(failing)
  await yard.register(silent, ['whms.removal'])
  await yard.publish()
  await yard.attempted(1)
  await yard.webhooks.worker.settled()
  const write = yard.work.write
  let isHeldUp = false
  yard.work.write = ((...args: Parameters<typeof write>) => {
    // Both deliveries are made, so what follows is the claim.
    if (!isHeldUp && yard.count('delivery') === 2) {
      isHeldUp = true
      yard.clock.stall(2 * minute)
    }
    return write(...args)
  }) as typeof write
  await yard.publish(1, 'whms.removal')
  await silent.waitFor(() => true)
  yard.clock.advance(1)
  await yard.attempted(2)
  t.equal(failing.received.length, 2)
})

t.test('an endpoint gets the types it asked for, from its registration on', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  await yard.publish(3)
  const placements = await yard.register(receiver)
  const everything = await yard.register(receiver, ['event.created', 'scale.reading'])
  await yard.publish(1)
  await yard.publish(1, 'scale.reading')
  await yard.attempted(4)
  await yard.webhooks.worker.settled()
  const types = async (id: string) => (await yard.deliveries(id)).map((d) => d.type)
  t.strictSame(await types(placements), ['whms.placement'])
  t.strictSame(await types(everything), ['event.created', 'scale.reading', 'event.created'])
  const created = receiver.received.find((r) => r.type === 'event.created')
  t.strictSame(created?.event.data, { kind: 'whms.placement', event: { n: 1 } })
})

t.test(
  'a failed delivery is sent again as the same bytes under the same delivery id, after 1, 5, 30, 120 and 720 minutes',
  async (t) => {
    const yard = openYard(t)
    const receiver = await yard.receiver({ behave: () => ({ status: 500 }) })
    const id = await yard.register(receiver)
    await yard.publish()
    await yard.attempted(1)
    for (const [n, minutes] of [1, 5, 30, 120, 720].entries()) {
      await yard.pass(minutes * minute - 1)
      t.equal(receiver.received.length, n + 1, `nothing is sent before ${minutes} min`)
      await yard.pass(0.05 * minutes * minute + 1)
      t.equal(receiver.received.length, n + 2, `attempt ${n + 2} is sent within 5 % after ${minutes} min`)
    }
    await yard.pass(24 * 60 * minute)
    t.equal(receiver.received.length, 6)
    t.equal(new Set(receiver.received.map((r) => r.deliveryId)).size, 1)
    t.equal(new Set(receiver.received.map((r) => r.body.toString('hex'))).size, 1)
    t.equal(new Set(receiver.received.map((r) => r.headers['x-service-timestamp'])).size, 1)
    const [delivery] = await yard.deliveries(id)
    t.match(delivery, { state: 'exhausted', attemptCount: 6, nextAttemptAt: null })
    t.strictSame(
      delivery.attempts.map((a: { attempt: number; error: string }) => [a.attempt, a.error]),
      [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 'HTTP 500']),
    )
  },
)

t.test('an endpoint that wants nothing of what is new costs no commit, and misses nothing that it wants', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  const id = await yard.register(receiver, ['scale.reading'])
  await yard.webhooks.worker.settled()
  let commits = 0
  yard.work.onCommit(() => {
    commits += 1
  })
  for (let n = 0; n < 20; n += 1) {
    await yard.publish(1)
    await yard.webhooks.worker.settled()
  }
  t.equal(commits, 20, 'those of the events alone')
  await yard.publish(1, 'scale.reading')
  await yard.attempted(1)
  for (let n = 0; n < 130; n += 1) await yard.publish(1)
  await yard.webhooks.worker.settled()
  yard.crash()
  yard.webhooks.worker.start()
  await yard.publish(1, 'scale.reading')
  await yard.attempted(2)
  const wider = { events: ['scale.reading', 'whms.placement'] }
  t.match(await yard.call('PATCH', `/api/webhooks/${id}`, wider), { status: 200 })
  await yard.publish(1)
  await yard.attempted(3)
  await yard.webhooks.worker.settled()
  t.strictSame(
    receiver.received.map(({ type }) => type),
    ['scale.reading', 'scale.reading', 'whms.placement'],
  )
})

t.test('Retry-After puts the next attempt off, a replaced secret signs it', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({
    secret: 'the new secret of both',
    behave: (_, nth) => (nth === 1 ? { status: 503, headers: { 'Retry-After': '600' } } : { status: 200 }),
  })
  const id = await yard.register(receiver)
  await yard.publish()
  await yard.attempted(1)
  await yard.call('PATCH', `/api/webhooks/${id}`, { secret: 'the new secret of both' })
  await yard.pass(600_000 - 1)
  t.equal(receiver.received.length, 1)
  await yard.pass(1)
  t.equal(receiver.received.length, 2)
  t.strictSame(
    receiver.received.map((r) => r.signatureValid),
    [false, true],
  )
})

t.test('everything but a 2xx in time is a failed attempt', async (t) => {
  const yard = openYard(t)
  const elsewhere = await yard.receiver()
  const gone = await yard.receiver()
  await gone.stop()
  const untrusted = await startReceiver({ secret: 'x' })
  t.teardown(() => untrusted.stop())
  const failure = async (behave: Parameters<typeof yard.receiver>[0], meanwhile = async () => {}) => {
    const receiver = await yard.receiver(behave)
    return failureAt(receiver, meanwhile)
  }
  const failureAt = async (receiver: { url: string }, meanwhile = async () => {}) => {
    const id = await yard.register(receiver as never)
    const before = yard.attempts.length
    await yard.publish()
    await meanwhile()
    await yard.attempted(before + 1)
    const [delivery] = await yard.deliveries(id)
    await yard.call('DELETE', `/api/webhooks/${id}`)
    return delivery.attempts[0]
  }
  t.match(await failure({ behave: () => ({ status: 404 }) }), { statusCode: 404, error: 'HTTP 404' })
  t.match(await failure({ behave: () => ({ status: 302, headers: { Location: elsewhere.url } }) }), {
    statusCode: 302,
    error: 'HTTP 302: redirects are not followed',
  })
  t.equal(elsewhere.received.length, 0)
  t.match(await failure({ behave: () => 'reset' }), { statusCode: null, error: /ECONNRESET|socket hang up/ })
  t.match(await failureAt(gone), { statusCode: null, error: /ECONNREFUSED/ })
  const why =
    /SELF_SIGNED.*: no authority that this gateway trusts signed its certificate; webhooks\.caFile names more$/
  t.match(await failureAt(untrusted), { statusCode: null, error: why })

  const silent = await yard.receiver({ behave: () => 'hang' })
  const timedOut = failureAt(silent, async () => {
    await silent.waitFor(() => true)
    yard.clock.advance(30_000)
  })
  t.match(await timedOut, { statusCode: null, error: 'no answer within 30 s', durationMs: 30_000 })
})

t.test('a name that leads inside is refused at the connection, whatever it said at registration', async (t) => {
  let inside = false
  const yard = openYard(t, {
    resolve: async () => [inside ? '10.0.0.8' : '198.41.0.4'],
    settings: { allowNetworks: [] },
  })
  const reply = await yard.call('POST', '/api/webhooks', {
    url: 'https://erp.example/hook',
    events: ['whms.placement'],
  })
  t.equal(reply.status, 201)
  inside = true
  await yard.publish()
  await yard.attempted(1)
  const [delivery] = await yard.deliveries(reply.body.id)
  t.match(delivery.attempts, [{ statusCode: null, error: /10\.0\.0\.8 is private/ }])
})

t.test('every address of a name is judged at the connection, in whatever form it carries a private one', async (t) => {
  const forms = {
    loopback: '127.8.9.10',
    private: '192.168.1.1',
    'carrier-grade NAT': '100.64.0.1',
    'cloud metadata': '169.254.169.254',
    'metadata at a public address': '168.63.129.16',
    'IPv6 loopback': '::1',
    'IPv6 private': 'fd12::1',
    'IPv6 link-local': 'fe80::1',
    mapped: '::ffff:10.0.0.1',
    'mapped, hex': '::ffff:a00:1',
    compatible: '::10.0.0.1',
    NAT64: '64:ff9b::a00:1',
    'NAT64, local': '64:ff9b:1::a00:1',
    '6to4': '2002:a00:1::',
    Teredo: '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  }
  let now = ['198.41.0.4']
  const yard = openYard(t, { resolve: async () => now, settings: { allowNetworks: [] } })
  for (const [what, address] of Object.entries(forms)) {
    now = ['198.41.0.4']
    const body = { url: 'https://erp.example/hook', events: ['whms.placement'] }
    const { id } = (await yard.call('POST', '/api/webhooks', body)).body
    // Behind a public one, which a client would try first.
    now = ['198.41.0.4', address]
    const before = yard.attempts.length
    await yard.publish()
    await yard.attempted(before + 1)
    const [delivery] = await yard.deliveries(id)
    t.match(delivery.attempts, [{ statusCode: null, error: /^FORBIDDEN_ADDRESS: / }], what)
    await yard.webhooks.worker.settled()
    await yard.call('DELETE', `/api/webhooks/${id}`)
  }
})

t.test('a literal address is refused at the connection when the config no longer names its network', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  const id = await yard.register(receiver)
  yard.settings.allowNetworks = []
  await yard.publish()
  await yard.attempted(1)
  const [delivery] = await yard.deliveries(id)
  t.match(delivery.attempts, [{ statusCode: null, error: /127\.0\.0\.1 is loopback/ }])
  t.equal(receiver.received.length, 0)
})

t.test('a 2xx counts with its headers: a body that never ends is cut after 2 s', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => 'hang-body' })
  const id = await yard.register(receiver)
  await yard.publish()
  await receiver.waitFor(() => true)
  await yard.passUntil(() => yard.attempts.length > 0)
  const [delivery] = await yard.deliveries(id)
  t.match(delivery, { state: 'delivered', attempts: [{ statusCode: 200 }] })
})

t.test('connections are used again, and one that went stale meanwhile fails nobody', async (t) => {
  const yard = openYard(t)
  const ports = new Set<number>()
  const receiver = await yard.receiver({ behave: () => ({ status: 200, body: 'thank you' }) })
  const id = await yard.register(receiver, ['whms.placement'])
  for (let n = 1; n <= 3; n += 1) {
    await yard.publish()
    await yard.attempted(n)
    ports.add(receiver.received.at(-1)?.port ?? 0)
  }
  t.equal(ports.size, 1)
  receiver.behave((request) => (request.port === [...ports][0] ? 'reset' : { status: 200 }))
  await yard.publish()
  await yard.attempted(4)
  t.equal(receiver.received.length, 5)
  t.ok((await yard.deliveries(id)).every((d) => d.state === 'delivered' && d.attemptCount === 1))
})

t.test('of a body only 64 KiB are read; then the connection is cut', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => ({ status: 200, body: Buffer.alloc(1024 * 1024) }) })
  await yard.register(receiver)
  for (let n = 1; n <= 2; n += 1) {
    await yard.publish()
    await yard.attempted(n)
  }
  t.equal(new Set(receiver.received.map((r) => r.port)).size, 2)
})

t.test('first attempts start in order, four at a time', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => 'hang' })
  await yard.register(receiver)
  await yard.publish(10)
  const numbers = () => receiver.received.map((r) => Number(r.event.data['n'])).sort((a, b) => a - b)
  await receiver.waitFor((_, all) => all.length === 4)
  t.strictSame(numbers(), [1, 2, 3, 4])
  receiver.release()
  await receiver.waitFor((_, all) => all.length === 8)
  t.strictSame(numbers(), [1, 2, 3, 4, 5, 6, 7, 8])
  receiver.behave(() => ({ status: 204 }))
  receiver.release()
  await yard.attempted(10)
  t.strictSame(numbers(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  t.equal(receiver.mostAtOnce, 4)
})

t.test('deliveries that wait for another try hold up nothing', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: (r) => ({ status: r.event.data['n'] === 1 ? 500 : 204 }) })
  const id = await yard.register(receiver)
  await yard.publish(5)
  await yard.attempted(5)
  t.strictSame(
    (await yard.deliveries(id)).map((d) => d.state),
    ['delivered', 'delivered', 'delivered', 'delivered', 'pending'],
  )
})

t.test('a receiver that hangs delays neither another receiver nor a write', async (t) => {
  const yard = openYard(t)
  const slow = await yard.receiver({ behave: () => 'hang' })
  const quick = await yard.receiver()
  await yard.register(slow)
  await yard.register(quick)
  await yard.publish(10)
  await slow.waitFor((_, all) => all.length === 4)
  await yard.attempted(10)
  t.equal(quick.received.length, 10)
  t.equal(slow.received.length, 4)
  t.equal(yard.db.inTransaction, false)
  t.equal((await yard.call('POST', '/api/webhooks', { url: quick.url, events: ['scale.reading'] })).status, 201)
})

t.test('six events that fail once each slow a webhook down; it stays active, and no alert is raised', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => ({ status: 500 }) })
  const id = await yard.register(receiver)
  await yard.publish(5)
  await yard.attempted(5)
  t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 5, pacing: null })
  await yard.publish(1)
  await yard.attempted(6)
  await yard.webhooks.worker.settled()
  const slowedSince = new Date(yard.clock.now()).toISOString()
  const inMs = (ms: number) => new Date(yard.clock.now() + ms).toISOString()
  const pacing = { slowedSince, nextAttemptAt: inMs(minute) }
  const after = await yard.webhook(id)
  t.match(after, { status: 'active', consecutiveFailures: 6 })
  t.match(after.pacing.slowedSince, slowedSince)
  t.ok(after.pacing.nextAttemptAt >= pacing.nextAttemptAt, 'no retry is due before a minute has passed')
  await yard.publish(1)
  await yard.webhooks.worker.settled()
  t.same((await yard.webhook(id)).pacing, { slowedSince, nextAttemptAt: inMs(10_000) }, 'a new event is due at once')
  t.strictSame(yard.webhooks.status(), {
    total: 1,
    failing: 0,
    slowed: 1,
    disabled: 0,
    paused: 0,
    offline: 0,
    pending: 7,
  })
  t.equal(yard.webhooks.areWell(), false)
  t.strictSame((await yard.call('GET', '/api/alerts')).body.data, [])
  yard.clock.advance(4000)
  t.same((await yard.webhook(id)).pacing, { slowedSince, nextAttemptAt: inMs(6000) })
  yard.crash()
  yard.webhooks.worker.start()
  await yard.attempted(7)
  await yard.webhooks.worker.settled()
  t.match((await yard.webhook(id)).pacing, { slowedSince }, 'a restart does not forget since when')
  receiver.behave(() => ({ status: 200 }))
  await yard.publish()
  await yard.pass(10_000)
  t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0, pacing: null })
  t.equal(yard.webhooks.status().slowed, 0)
})

t.test(
  'the sixth failed attempt of one delivery marks a webhook failing and alerts the admin once; one success ends it',
  async (t) => {
    const yard = openYard(t)
    let isUp = false
    // Every other event arrives, so no more than one attempt in a row fails: nothing is slowed down.
    const receiver = await yard.receiver({
      behave: ({ event }) => ({ status: isUp || event.data['n'] === 2 ? 204 : 500 }),
    })
    const id = await yard.register(receiver)
    await yard.publish(1)
    await yard.attempted(1)
    for (const minutes of [1, 5, 30, 120]) {
      await yard.pass(minutes * 1.05 * minute + 1)
      await publishNumbered(yard, [2])
      await yard.until(() => yard.webhooks.status().pending === 1)
      await yard.webhooks.worker.settled()
    }
    t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0, pacing: null })
    t.match((await yard.deliveries(id, '?state=pending'))[0], { attemptCount: 5 })
    await yard.pass(720 * 1.05 * minute + 1)
    t.match(await yard.webhook(id), { status: 'failing', consecutiveFailures: 1, pacing: null })
    t.match(yard.webhooks.status(), { failing: 1, slowed: 0 })
    const alerts = (await yard.call('GET', '/api/alerts')).body
    t.match(alerts, {
      success: true,
      data: [{ kind: 'webhook.failing', subject: id, acknowledgedAt: null }],
      pagination: { total: 1 },
    })
    t.match(alerts.data[0].message, /127\.0\.0\.1:\d+ is failing: attempt 6 of one delivery failed.*HTTP 500/)
    await yard.publish(1)
    await yard.attempted(11)
    await yard.webhooks.worker.settled()
    t.match(await yard.webhook(id), { status: 'failing', consecutiveFailures: 2 })
    t.equal((await yard.call('GET', '/api/alerts')).body.pagination.total, 1)
    isUp = true
    await yard.publish(1)
    await yard.attempted(12)
    t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0 })
  },
)

t.test(
  'a hundred failures in a row switch a webhook off; its deliveries are held until an admin enables it',
  async (t) => {
    const yard = openYard(t, { settings: { autoResume: { enabled: false, everyMs: 15 * minute } } })
    const receiver = await yard.receiver({ behave: () => ({ status: 500 }) })
    const id = await yard.register(receiver)
    await yard.publish(100)
    while (yard.attempts.length < 100) await yard.pass(5 * minute)
    t.match(await yard.webhook(id), { active: true, status: 'disabled', consecutiveFailures: 100 })
    await yard.publish(2)
    await yard.pass(24 * 60 * minute)
    t.equal(receiver.received.length, 100)
    t.match(yard.webhooks.status(), { total: 1, failing: 0, disabled: 1 })
    t.match((await yard.deliveries(id))[0], {
      state: 'pending',
      held: 'held_disabled',
      attemptCount: 0,
      nextAttemptAt: null,
    })
    const kinds = (await yard.call('GET', '/api/alerts?acknowledged=false')).body.data.map(
      (a: { kind: string }) => a.kind,
    )
    t.strictSame(kinds, ['webhook.disabled'], 'no delivery has failed six times')
    receiver.behave(() => ({ status: 204 }))
    t.match((await yard.call('POST', `/api/webhooks/${id}/enable`)).body, {
      success: true,
      status: 'active',
      consecutiveFailures: 0,
      warnings: { length: 0 },
    })
    await yard.passUntil(() => yard.webhooks.status().pending === 0)
    t.match(yard.webhooks.status(), { total: 1, failing: 0, disabled: 0 })
    t.match(
      (await yard.deliveries(id, '?limit=2')).map((d) => d.state),
      ['delivered', 'delivered'],
    )
  },
)

t.test('what is published while a person has switched a webhook off is skipped; recover resends it', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  const id = await yard.register(receiver)
  const numbers = () => receiver.received.map((r) => r.event.data['n']).sort()
  await publishNumbered(yard, [1])
  await yard.attempted(1)
  await yard.webhooks.worker.stop()
  await publishNumbered(yard, [2])
  const off = await yard.call('PATCH', `/api/webhooks/${id}`, { active: false })
  t.match(off.body, { active: false, hold: false, status: 'disabled' })
  t.match(yard.webhooks.status(), { disabled: 0, paused: 1 }, 'a pause is no failure')
  yard.crash()
  yard.webhooks.worker.start()
  const sinceMs = yard.clock.now()
  yard.clock.advance(1000)
  await publishNumbered(yard, [3, 4])
  await yard.pass(minute)
  await publishNumbered(yard, [5])
  t.strictSame(numbers(), [1], 'nothing is sent')
  t.match(await yard.deliveries(id), [{ held: 'held_disabled', eventId: 'event 2' }, { eventId: 'event 1' }])
  await yard.call('PATCH', `/api/webhooks/${id}`, { active: true })
  await publishNumbered(yard, [6])
  await yard.attempted(3)
  await yard.webhooks.worker.settled()
  t.strictSame(
    numbers(),
    [1, 2, 6],
    'what was published before it was switched off is sent, what came meanwhile is not',
  )
  const since = new Date(sinceMs + 500).toISOString()
  t.match((await yard.call('POST', `/api/webhooks/${id}/recover`, { since, include: 'missing' })).body, { resent: 3 })
  await yard.attempted(6)
  t.strictSame(numbers(), [1, 2, 3, 4, 5, 6])
})

t.test(
  'with hold: true what is published while a webhook is switched off waits, and goes out in order when it is on again',
  async (t) => {
    const yard = openYard(t)
    const receiver = await yard.receiver({ behave: () => 'hang' })
    const id = await yard.register(receiver)
    const off = await yard.call('PATCH', `/api/webhooks/${id}`, { active: false, hold: true })
    t.match(off.body, { active: false, hold: true, status: 'disabled', version: 2 })
    await yard.publish(5)
    await yard.pass(minute)
    t.equal(receiver.received.length, 0)
    t.equal(yard.webhooks.status().pending, 5)
    const again = await yard.call('PATCH', `/api/webhooks/${id}`, { active: false })
    t.match(again.body, { hold: true, version: 2 }, 'what is not sent stays as it is')
    const on = await yard.call('PATCH', `/api/webhooks/${id}`, { active: true, hold: true })
    t.match(on.body, { active: true, hold: false }, 'a hold ends with the pause')
    await receiver.waitFor((_, all) => all.length === 4)
    t.strictSame(
      receiver.received.map((r) => r.event.data['n']).sort(),
      [1, 2, 3, 4],
      'the oldest first, four at a time',
    )
    receiver.release()
    await receiver.waitFor((_, all) => all.length === 5)
    receiver.release()
    await yard.attempted(5)
    t.ok((await yard.deliveries(id)).every(({ state }) => state === 'delivered'))
  },
)

t.test('a hold can begin and end while a webhook is off, and needs one that is off', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  const id = await yard.register(receiver, ['whms.placement'], { active: false })
  await publishNumbered(yard, [1])
  t.match((await yard.call('PATCH', `/api/webhooks/${id}`, { hold: true })).body, { hold: true })
  await publishNumbered(yard, [2])
  t.match((await yard.call('PATCH', `/api/webhooks/${id}`, { hold: false })).body, { hold: false })
  await publishNumbered(yard, [3])
  await yard.call('POST', `/api/webhooks/${id}/enable`)
  await yard.attempted(1)
  await yard.webhooks.worker.settled()
  t.strictSame(
    receiver.received.map((r) => r.event.data['n']),
    [2],
  )
  const { url } = receiver
  const refusals = [
    await yard.call('PATCH', `/api/webhooks/${id}`, { hold: true }),
    await yard.call('POST', '/api/webhooks', { url, events: ['scale.reading'], hold: true }),
  ]
  for (const refused of refusals) {
    t.match(refused, { status: 400, body: { error: { code: 'VALIDATION_ERROR', fields: [{ path: 'hold' }] } } })
  }
  t.match(await yard.webhook(id), { active: true, hold: false, version: 4 })
})

t.test(
  'a delivery under way when the process is killed is sent again under its id, without waiting for its lease',
  async (t) => {
    const yard = openYard(t)
    const receiver = await yard.receiver({ behave: (_, nth) => (nth === 1 ? 'hang' : { status: 204 }) })
    const id = await yard.register(receiver)
    await yard.publish()
    await receiver.waitFor(() => true)
    yard.crash()
    receiver.release()
    yard.webhooks.worker.start()
    await yard.attempted(1)
    const [first, second] = receiver.received
    t.equal(receiver.received.length, 2)
    t.equal(second?.deliveryId, first?.deliveryId)
    t.strictSame(second?.body, first?.body)
    t.match(await yard.deliveries(id), [{ state: 'delivered', attemptCount: 1 }])
  },
)

t.test('events that were published before a restart are delivered after it, at the pace of a backlog', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  const receiver = await yard.receiver()
  await yard.register(receiver)
  await yard.publish(450)
  yard.crash()
  yard.webhooks.worker.start()
  await yard.attempted(50)
  await yard.webhooks.worker.settled()
  t.equal(receiver.received.length, 50)
  await yard.passUntil(() => yard.attempts.length === 450)
  const numbers = new Set(receiver.received.map((r) => r.event.data['n']))
  t.equal(numbers.size, 450)
})

t.test(
  'an attempt at an address that was replaced meanwhile is recorded and not held against the new one',
  async (t) => {
    const yard = openYard(t)
    const old = await yard.receiver({ behave: () => 'hang' })
    const next = await yard.receiver()
    const id = await yard.register(old)
    await yard.publish()
    await old.waitFor(() => true)
    await yard.call('PATCH', `/api/webhooks/${id}`, { url: next.url })
    old.release(500)
    await yard.attempted(1)
    t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0 })
    await yard.pass(2 * minute)
    t.match(await yard.deliveries(id), [{ state: 'delivered', attempts: [{ statusCode: 500 }, { statusCode: 204 }] }])
    t.equal(next.received[0]?.deliveryId, old.received[0]?.deliveryId)
  },
)

t.test('stopping waits for the attempt under way and leaves the rest', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => 'hang' })
  const id = await yard.register(receiver)
  await yard.publish(6)
  await receiver.waitFor((_, all) => all.length === 4)
  const stopped = yard.webhooks.worker.stop()
  receiver.release()
  await stopped
  t.strictSame(
    (await yard.deliveries(id)).map((d) => d.state),
    ['pending', 'pending', 'delivered', 'delivered', 'delivered', 'delivered'],
  )
})

t.test('stopping does not wait for ever: what hangs is cut after 10 s and counts as no attempt', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => 'hang' })
  const id = await yard.register(receiver)
  await yard.publish()
  await receiver.waitFor(() => true)
  const stopped = yard.webhooks.worker.stop()
  yard.clock.advance(10_000)
  await stopped
  t.match(await yard.deliveries(id), [{ state: 'pending', attemptCount: 0, attempts: { length: 0 } }])
})

t.test('a full disk after sending delays the record, and nothing is sent twice', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => 'hang' })
  const id = await yard.register(receiver)
  await yard.publish()
  await receiver.waitFor(() => true)
  yard.writesFail = new AppError('STORAGE_FULL', 'The disk is full')
  receiver.release()
  await yard.until(() => yard.refusedWrites > 0)
  yard.writesFail = undefined
  await yard.passUntil(() => yard.attempts.length > 0)
  t.match(await yard.deliveries(id), [{ state: 'delivered', attemptCount: 1 }])
  t.equal(receiver.received.length, 1)
})

t.test('a full disk before sending holds deliveries until there is room', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  await yard.register(receiver)
  await yard.webhooks.worker.settled()
  await yard.publish()
  yard.writesFail = new AppError('STORAGE_FULL', 'The disk is full')
  await yard.pass(60_000)
  t.equal(receiver.received.length, 0)
  yard.writesFail = undefined
  await yard.pass(5000)
  await yard.attempted(1)
  t.equal(receiver.received.length, 1)
})

t.test('a deleted webhook takes its deliveries with it, also the one under way', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => 'hang' })
  const id = await yard.register(receiver)
  await yard.publish(1200)
  await receiver.waitFor((_, all) => all.length === 4)
  const reply = await yard.call('DELETE', `/api/webhooks/${id}`)
  t.equal(reply.status, 204)
  receiver.release()
  await yard.webhooks.worker.settled()
  t.equal((await yard.call('GET', `/api/webhooks/${id}`)).status, 404)
  t.equal(yard.count('delivery'), 0)
  t.equal(yard.count('delivery_attempt'), 0)
  t.equal(receiver.received.length, 4)
})

t.test(
  'after 30 days notifications go with their settled deliveries; what still waits keeps its notification',
  async (t) => {
    const yard = openYard(t)
    const receiver = await yard.receiver()
    await yard.register(receiver)
    const held = await yard.register(receiver, ['scale.reading'], { active: false, hold: true })
    await yard.publish(120)
    await yard.publish(1, 'scale.reading')
    await yard.attempted(120)
    await yard.passMonth()
    await yard.publish(1)
    await yard.attempted(121)
    await yard.pass(60 * minute)
    const types = yard.work
      .read((tx) => allOf<{ type: string }>(tx, 'SELECT type FROM outbox ORDER BY seq'))
      .map(({ type }) => type)
    t.strictSame(types, ['scale.reading', 'whms.placement', 'event.created'])
    t.equal(yard.count('delivery'), 2)
    t.equal(yard.count('delivery_attempt'), 1)
    await yard.call('PATCH', `/api/webhooks/${held}`, { active: true })
    await yard.attempted(122)
    t.equal(receiver.received.at(-1)?.type, 'scale.reading')
  },
)

t.test('a wall clock that ran ahead and was set back does not strand a delivery', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: (_, nth) => ({ status: nth === 1 ? 500 : 204 }) })
  await yard.register(receiver)
  const rightMs = yard.clock.now()
  yard.clock.setWall(rightMs + 400 * 24 * 60 * minute)
  await yard.publish()
  await yard.attempted(1)
  await yard.webhooks.worker.settled()
  yard.clock.setWall(rightMs)
  for (let hour = 0; hour < 26; hour += 1) await yard.pass(60 * minute)
  t.equal(receiver.received.length, 2)
})

t.test('changing the events leaves what was published before to the old subscription', async (t) => {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  const receiver = await yard.receiver()
  const id = await yard.register(receiver)
  await yard.publish(2)
  await yard.call('PATCH', `/api/webhooks/${id}`, { events: ['scale.reading'] })
  await yard.publish(1)
  await yard.publish(1, 'scale.reading')
  yard.webhooks.worker.start()
  await yard.attempted(3)
  await yard.webhooks.worker.settled()
  t.strictSame(
    (await yard.deliveries(id)).map((d) => d.type),
    ['scale.reading', 'whms.placement', 'whms.placement'],
  )
})

t.test('secrets stand nowhere in the files', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  await yard.register(receiver)
  const reply = await yard.call(
    'POST',
    '/api/webhooks',
    { url: receiver.url, events: ['scale.reading'] },
    { 'Idempotency-Key': 'shown-once' },
  )
  t.match(reply.body.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  await yard.publish()
  await yard.attempted(1)
  for (const file of readdirSync(yard.folder)) {
    const bytes = readFileSync(join(yard.folder, file))
    t.notOk(bytes.includes('a secret that both know'), file)
    t.notOk(bytes.includes(reply.body.secret), file)
  }
})
