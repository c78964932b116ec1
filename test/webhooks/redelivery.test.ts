import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { eventTypes } from '../../src/journal/index.ts'
import { allOf, oneOf } from '../support/plain-sql.ts'
import { WebhookYard, type YardOptions } from '../support/webhook-yard.ts'

const minute = 60_000
const hour = 60 * minute
const unknownId = '019cae00-0000-7000-8000-000000000000'

function openYard(t: Test, options: YardOptions = {}): WebhookYard {
  const yard = new WebhookYard(options)
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  return yard
}

/** Lets a delivery fail until it is given up. */
async function exhaust(yard: WebhookYard): Promise<void> {
  await yard.attempted(1)
  while (yard.work.read((tx) => oneOf(tx, "SELECT 1 FROM delivery WHERE state = 'pending'"))) await yard.pass(6 * hour)
}

t.test(
  'a delivery that was given up is sent again on demand: same bytes, same id, a schedule of its own',
  async (t) => {
    const yard = openYard(t)
    const receiver = await yard.receiver({ behave: () => ({ status: 500, body: 'broken' }) })
    const id = await yard.register(receiver)
    await yard.publish()
    await exhaust(yard)
    const [given] = await yard.deliveries(id)
    t.match(given, { state: 'exhausted', attemptCount: 6, nextAttemptAt: null, lastStatusCode: 500 })
    t.match(given.attempts[5], { attempt: 6, statusCode: 500, error: 'HTTP 500', answer: 'broken' })

    const redeliver = () => yard.call('POST', `/api/webhooks/${id}/deliveries/${given.id}/redeliver`)
    t.match(await redeliver(), {
      status: 200,
      body: { success: true, id: given.id, state: 'pending', attemptCount: 6 },
    })
    await yard.attempted(7)
    await yard.webhooks.worker.settled()
    t.match((await yard.deliveries(id))[0], { state: 'pending', attemptCount: 7 }, 'its schedule has begun anew')
    await yard.pass(2 * minute)
    t.equal(receiver.received.length, 8)

    receiver.behave(() => ({ status: 204 }))
    await yard.pass(6 * minute)
    t.match((await yard.deliveries(id))[0], {
      state: 'delivered',
      attemptCount: 9,
      lastError: null,
      lastStatusCode: 204,
    })
    t.equal(new Set(receiver.received.map((r) => r.deliveryId)).size, 1)
    t.equal(new Set(receiver.received.map((r) => r.body.toString('hex'))).size, 1)

    t.match(await redeliver(), { status: 200 }, 'one that has arrived can be sent again too')
    await yard.attempted(10)
    await yard.webhooks.worker.settled()
    t.match((await yard.deliveries(id))[0], { state: 'delivered', attemptCount: 10 })
    const audited = yard.work.read((tx) =>
      allOf<{ changes: string }>(
        tx,
        "SELECT changes FROM audit_entry WHERE action = 'webhook.redelivered' ORDER BY id",
      ),
    )
    t.match(
      audited.map(({ changes }) => JSON.parse(changes)),
      [{ deliveryId: given.id, state: 'exhausted' }, { state: 'delivered' }],
    )
  },
)

t.test('a delivery of another webhook, or of none, is not found', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  const id = await yard.register(receiver)
  const other = await yard.register(receiver, ['scale.reading'])
  await yard.publish()
  await yard.attempted(1)
  const [delivery] = await yard.deliveries(id)
  for (const path of [`${other}/deliveries/${delivery.id}`, `${id}/deliveries/${unknownId}`, `${id}/deliveries/7`]) {
    const reply = await yard.call('POST', `/api/webhooks/${path}/redeliver`)
    t.match(reply, { status: 404, body: { error: { code: 'NOT_FOUND' } } }, path)
  }
})

t.test('what is redelivered to a webhook that is off is held until it is on', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  const id = await yard.register(receiver)
  await yard.publish()
  await yard.attempted(1)
  await yard.call('PATCH', `/api/webhooks/${id}`, { active: false })
  const [delivery] = await yard.deliveries(id)
  const reply = await yard.call('POST', `/api/webhooks/${id}/deliveries/${delivery.id}/redeliver`)
  t.match(reply.body, { state: 'pending', held: 'held_disabled', nextAttemptAt: null })
  await yard.pass(hour)
  t.equal(receiver.received.length, 1)
  await yard.call('POST', `/api/webhooks/${id}/enable`)
  await yard.attempted(2)
})

t.test('a span is sent again in order, all of it or what failed or was missed', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  await yard.publish(2) // before there was a webhook
  await yard.pass(hour)
  const sinceMs = yard.clock.now()
  const id = await yard.register(receiver)
  await yard.publish(3)
  await yard.attempted(3)
  const recover = async (body: object) => (await yard.call('POST', `/api/webhooks/${id}/recover`, body)).body
  const since = new Date(sinceMs).toISOString()

  t.match(await recover({ since, include: 'failed' }), { success: true, since, include: 'failed', resent: 0 })
  t.match(await recover({ since }), { include: 'all', resent: 3 })
  await yard.attempted(6)
  t.strictSame(
    receiver.received
      .slice(3)
      .map((r) => r.deliveryId)
      .sort(),
    receiver.received
      .slice(0, 3)
      .map((r) => r.deliveryId)
      .sort(),
    'under the ids that they had',
  )
  const before = new Date(sinceMs - hour).toISOString()
  t.match(await recover({ since: before, include: 'missing' }), { resent: 2 })
  await yard.attempted(8)
  t.match(await recover({ since: before, until: before, include: 'all' }), { resent: 2 })
  await yard.attempted(10)
  t.match(await recover({ since: new Date(yard.clock.now() + hour).toISOString() }), { resent: 0 })
  for (const body of [{}, { since: 'yesterday' }, { since, until: 7 }, { since, include: 'some' }]) {
    const reply = await yard.call('POST', `/api/webhooks/${id}/recover`, body)
    t.match(reply, { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, JSON.stringify(body))
  }
})

t.test('a long span goes out in order and no faster than a backlog', async (t) => {
  const yard = openYard(t, { settings: { drainPerSecond: 100 } })
  const receiver = await yard.receiver()
  const since = new Date(yard.clock.now()).toISOString()
  await yard.publish(1200)
  const id = await yard.register(receiver)
  t.match((await yard.call('POST', `/api/webhooks/${id}/recover`, { since })).body, { resent: 1200 })
  await yard.attempted(100)
  await yard.webhooks.worker.settled()
  t.equal(receiver.received.length, 100)
  for (let second = 2; second <= 12; second += 1) await yard.pass(1000)
  t.equal(receiver.received.length, 1200)
  const numbers = receiver.received.map((r) => Number(r.event.data['n']))
  // Four are under way at once, and the network may change their order.
  t.ok(numbers.every((n, i) => Math.abs(n - 1 - i) < 4))
})

t.test('the delivery log can be asked for a type, a state and a time', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: (r) => ({ status: r.type === 'scale.reading' ? 500 : 204 }) })
  const id = await yard.register(receiver, ['whms.placement', 'scale.reading'])
  await yard.publish(2)
  await yard.pass(hour)
  const from = new Date(yard.clock.now()).toISOString()
  await yard.publish(3)
  await yard.publish(1, 'scale.reading')
  await yard.attempted(6)
  const total = async (query: string) =>
    (await yard.call('GET', `/api/webhooks/${id}/deliveries?${query}`)).body.pagination.total
  t.equal(await total('type=whms.placement'), 5)
  t.equal(await total('type=scale.reading&state=pending'), 1)
  t.equal(await total('type=whms.placement&state=pending'), 0)
  t.equal(await total(`from=${from}`), 4)
  t.equal(await total(`to=${from}`), 2)
  const [scale] = await yard.deliveries(id, `?from=${from}&type=scale.reading`)
  t.match(scale, { type: 'scale.reading', lastError: 'HTTP 500', lastStatusCode: 500 })
  for (const query of ['type=whms.placed', 'from=yesterday', 'to=7']) {
    t.match((await yard.call('GET', `/api/webhooks/${id}/deliveries?${query}`)).status, 400, query)
  }
})

t.test('each event type is listed with the JSON Schema of its data', async (t) => {
  const yard = openYard(t)
  const { body } = await yard.call('GET', '/api/webhooks/event-types')
  const byType = new Map(body.data.map((one: { type: string }) => [one.type, one]))
  t.strictSame([...byType.keys()], eventTypes)
  const ajv = new Ajv2020({ strict: false })
  for (const { type, schema } of body.data) if (schema) t.doesNotThrow(() => ajv.compile(schema), type)
  const { schema } = byType.get('webhook.test') as { schema: object }
  t.ok(ajv.validate(schema, { webhookId: 'w', message: 'm' }))
  t.notOk(ajv.validate(schema, { webhookId: 7 }))
})
