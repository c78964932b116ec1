import t, { type Test } from 'tap'
import { allOf } from '../support/plain-sql.ts'
import type { Received } from '../support/receiver.ts'
import { WebhookYard, type YardOptions } from '../support/webhook-yard.ts'

const second = 1000
const minute = 60 * second

/** A yard with its worker running. */
function openYard(t: Test, options: YardOptions = {}): WebhookYard {
  const yard = new WebhookYard(options)
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  return yard
}

/** An error as the resolver gives it. */
function noAnswer(code: string): Error {
  return Object.assign(new Error(`getaddrinfo ${code} erp.example`), { code })
}

const numbers = (received: readonly Received[]) =>
  received.filter((r) => r.type === 'whms.placement').map((r) => r.event.data['n'])

/** Lets time pass and counts what comes in it. */
async function within(yard: WebhookYard, ms: number, received: readonly Received[]): Promise<number> {
  const before = received.length
  await yard.pass(ms)
  return received.length - before
}

t.test('while the resolver gives no answer deliveries are held, cost no attempts, and go out in order', async (t) => {
  let asked = 0
  let silent = false
  const yard = openYard(t, {
    resolve: async () => {
      asked += 1
      if (silent) throw noAnswer('EAI_AGAIN')
      return ['127.0.0.1']
    },
  })
  const receiver = await yard.receiver()
  const url = receiver.url.replace('127.0.0.1', 'erp.example')
  // The certificate is not for that name: whatever is sent there fails, and counts.
  const id = await yard.register(receiver, ['whms.placement'], { url })
  silent = true
  asked = 0
  await yard.publish(3)
  await yard.until(() => asked > 0)
  await yard.webhooks.worker.settled()
  t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0 })
  const [last, , first] = await yard.deliveries(id)
  const nextAttemptAt = new Date(yard.clock.now() + 10 * second).toISOString()
  t.match(first, { state: 'pending', held: 'held_offline', attemptCount: 0, attempts: { length: 0 }, nextAttemptAt })
  t.match(first.lastError, /^held: the gateway is offline \(.*EAI_AGAIN/)
  t.match(last, { state: 'pending', held: 'held_offline', nextAttemptAt })
  const test = (await yard.call('POST', `/api/webhooks/${id}/test`)).body
  t.match(test, { delivered: false, statusCode: null, error: /^the gateway is offline/ })

  const before = asked
  for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
    const soFar = asked
    await yard.pass(seconds * second - 1)
    t.equal(asked, soFar, `no look before ${seconds} s are over`)
    await yard.pass(1)
    t.equal(asked, soFar + 1, `one after ${seconds} s`)
  }
  t.equal(asked, before + 7)
  t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0 })
  t.equal(yard.attempts.length, 0)
  silent = false
  await yard.pass(300 * second)
  await yard.webhooks.worker.settled()
  t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 3 })
  t.match(await yard.deliveries(id), [{ held: null }, { held: null }, { held: null, attemptCount: 1 }])
})

t.test('what was held offline is delivered once the gateway gets out again', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver()
  yard.settings.allowNetworks = ['127.0.0.0/8', '224.0.0.0/4']
  // The system answers ENETUNREACH to a connection to a multicast address, as it does without a route.
  const reply = await yard.call('POST', '/api/webhooks', {
    url: 'https://224.0.0.1/hook',
    events: ['whms.placement'],
    secret: 'a secret that both know',
  })
  const { id } = reply.body
  await yard.publish(8)
  await yard.pass(minute)
  t.equal(yard.attempts.length, 0)
  t.match((await yard.deliveries(id)).at(-1), { held: 'held_offline', lastError: /ENETUNREACH/, attemptCount: 0 })
  await yard.call('PATCH', `/api/webhooks/${id}`, { url: receiver.url })
  await yard.attempted(8)
  t.strictSame(new Set(numbers(receiver.received)), new Set([1, 2, 3, 4, 5, 6, 7, 8]))
  const all = await yard.deliveries(id)
  t.ok(all.every((d) => d.state === 'delivered' && d.attemptCount === 1 && d.lastError === null && d.held === null))
})

t.test('an admin need not wait for the next look: enabling looks at once', async (t) => {
  let asked = 0
  const yard = openYard(t, {
    resolve: async () => {
      asked += 1
      throw noAnswer('EAI_AGAIN')
    },
  })
  const body = { url: 'https://erp.example/hook', events: ['whms.placement'] }
  const { id } = (await yard.call('POST', '/api/webhooks', body)).body
  await yard.publish()
  await yard.pass(10 * minute)
  const before = asked
  await yard.call('POST', `/api/webhooks/${id}/enable`)
  await yard.until(() => asked > before)
  await yard.webhooks.worker.settled()
  t.equal(asked, before + 1)
})

t.test('a resolver that says nothing at all within the time of an attempt costs none', async (t) => {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<string[]>()
  let isUp = true
  const yard = openYard(t, {
    resolve: () => {
      if (isUp) return Promise.resolve(['127.0.0.1'])
      asked.resolve()
      return answer.promise
    },
  })
  const receiver = await yard.receiver()
  const id = await yard.register(receiver, undefined, { url: receiver.url.replace('127.0.0.1', 'erp.example') })
  isUp = false
  await yard.publish()
  await asked.promise
  yard.clock.advance(30 * second)
  await yard.webhooks.worker.settled()
  answer.resolve(['127.0.0.1'])
  t.match(await yard.deliveries(id), [
    { attemptCount: 0, held: 'held_offline', lastError: /no answer from the resolver within 30 s/ },
  ])
  t.match(await yard.webhook(id), { consecutiveFailures: 0 })
})

t.test(
  'an address without a route beside one that refuses is a failed attempt, and so is an unknown host',
  async (t) => {
    const gone = { addresses: ['224.0.0.1', '127.0.0.1'], error: /ENETUNREACH.*; .*ECONNREFUSED/ }
    const both = { addresses: ['127.0.0.1', '224.0.0.1'], error: /ECONNREFUSED.*; .*ENETUNREACH/ }
    for (const { addresses, error } of [gone, both]) {
      const yard = openYard(t, {
        resolve: async () => addresses,
        settings: { allowNetworks: ['127.0.0.0/8', '224.0.0.0/4'] },
      })
      const receiver = await yard.receiver()
      await receiver.stop()
      const id = await yard.register(receiver, undefined, { url: receiver.url.replace('127.0.0.1', 'erp.example') })
      await yard.publish()
      await yard.attempted(1)
      t.match(await yard.deliveries(id), [{ attemptCount: 1, held: null, attempts: [{ error }] }])
    }
    for (const code of ['ENOTFOUND', 'EHOSTUNREACH', 'ECONNREFUSED', 'ETIMEDOUT']) {
      const yard = openYard(t, {
        resolve: async () => {
          throw noAnswer(code)
        },
      })
      const body = { url: 'https://erp.example/hook', events: ['whms.placement'] }
      const { id } = (await yard.call('POST', '/api/webhooks', body)).body
      await yard.publish()
      await yard.attempted(1)
      t.match(await yard.webhook(id), { consecutiveFailures: 1 }, code)
    }
    const nowhere = openYard(t, { resolve: async () => [] })
    const body = { url: 'https://erp.example/hook', events: ['whms.placement'] }
    const { id } = (await nowhere.call('POST', '/api/webhooks', body)).body
    await nowhere.publish()
    await nowhere.attempted(1)
    t.match(await nowhere.deliveries(id), [{ attempts: [{ error: /erp\.example has no address/ }] }])
  },
)

t.test(
  'after six failures in a row an endpoint gets one attempt at a time, at growing intervals, the oldest delivery that is due',
  async (t) => {
    const yard = openYard(t)
    const receiver = await yard.receiver({ behave: () => ({ status: 500 }) })
    const id = await yard.register(receiver)
    await yard.publish(6)
    await yard.attempted(6)
    await yard.publish(40)
    await yard.webhooks.worker.settled()
    t.equal(receiver.received.length, 6)
    const slowedSince = new Date(yard.clock.now()).toISOString()
    const nextAttemptAt = new Date(yard.clock.now() + 10 * second).toISOString()
    t.match(await yard.webhook(id), { status: 'active', pacing: { slowedSince, nextAttemptAt } })
    t.match((await yard.deliveries(id))[0], { attemptCount: 0, held: null, nextAttemptAt })
    const inOrder = (await yard.deliveries(id, '?limit=100')).map((d) => d.id).reverse()
    // 7 and 8 are the oldest that are due until the retries of 1 to 6 are, after a minute, and then after five.
    const expected = [
      [10, 7],
      [20, 8],
      [40, 1],
      [80, 2],
      [160, 3],
      [300, 1],
      [300, 2],
    ] as const
    for (const [seconds, nth] of expected) {
      t.equal(await within(yard, seconds * second - 1, receiver.received), 0, `nothing before ${seconds} s are over`)
      t.equal(await within(yard, 1, receiver.received), 1, `one attempt after ${seconds} s`)
      t.equal(receiver.received.at(-1)?.deliveryId, inOrder[nth - 1], `delivery ${nth}`)
    }
    receiver.behave(() => ({ status: 204 }))
    await yard.pass(300 * second)
    t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0, pacing: null })
    await yard.passUntil(() => yard.webhooks.status().pending < 6)
  },
)

t.test('the first probe after a start comes at once, and the intervals are those of the config', async (t) => {
  const yard = openYard(t, { settings: { probe: { initialMs: 3000, maxMs: 4000 } } })
  const receiver = await yard.receiver({ behave: () => ({ status: 500 }) })
  const id = await yard.register(receiver)
  await yard.publish(6)
  await yard.attempted(6)
  t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 6 })
  await yard.publish(10)
  await yard.webhooks.worker.settled()
  await yard.webhooks.worker.stop()
  yard.crash()
  yard.webhooks.worker.start()
  await yard.attempted(7)
  await yard.webhooks.worker.settled()
  t.equal(receiver.received.length, 7)
  for (const seconds of [3, 4, 4]) {
    t.equal(await within(yard, seconds * second - 1, receiver.received), 0)
    t.equal(await within(yard, 1, receiver.received), 1)
  }
})

t.test('an endpoint that is back gets so many deliveries a second, in order, until it has caught up', async (t) => {
  const yard = openYard(t, { settings: { drainPerSecond: 20 } })
  const receiver = await yard.receiver()
  const id = await yard.register(receiver, ['whms.placement'], { active: false, hold: true })
  await yard.publish(50)
  await yard.webhooks.worker.settled()
  await yard.call('PATCH', `/api/webhooks/${id}`, { active: true })
  await yard.attempted(20)
  await yard.webhooks.worker.settled()
  await yard.publish(3)
  const arrived = () => numbers(receiver.received).map(Number)
  const from1to = (n: number) => Array.from({ length: n }, (_, i) => i + 1)
  const ascending = (a: number, b: number) => a - b
  t.equal(receiver.received.length, 20)
  t.strictSame(arrived().sort(ascending), from1to(20))
  await yard.pass(999)
  t.equal(receiver.received.length, 20)
  await yard.pass(1)
  t.strictSame(arrived().sort(ascending), from1to(40))
  await yard.pass(1000)
  t.strictSame(arrived().slice(0, 50).sort(ascending), from1to(50))
  t.equal(receiver.received.length, 53)
  await yard.publish(60)
  await yard.attempted(113)
  t.equal(receiver.received.length, 113, 'what came after the outage is not slowed down')
})

/** Publishes a hundred events that all fail, and lets time pass until the endpoint is disabled. */
async function failUntilDisabled(yard: WebhookYard): Promise<void> {
  await yard.publish(100)
  while (yard.attempts.length < 100) await yard.pass(5 * minute)
}

t.test(
  'an endpoint disabled by its failures is tested every 15 minutes, and the first 2xx brings all it missed',
  async (t) => {
    const yard = openYard(t)
    const receiver = await yard.receiver({ behave: () => ({ status: 503 }) })
    const id = await yard.register(receiver)
    await failUntilDisabled(yard)
    t.match(await yard.webhook(id), { status: 'disabled', active: true })
    await yard.publish(2)
    const { received } = receiver
    for (let n = 0; n < 3; n += 1) {
      t.equal(await within(yard, 15 * minute - 1, received), 0)
      t.equal(await within(yard, 1, received), 1)
      t.match(received.at(-1), { type: 'webhook.test', signatureValid: true, event: { data: { webhookId: id } } })
    }
    t.match(await yard.webhook(id), { status: 'disabled', consecutiveFailures: 100 })
    const tested = received.length
    receiver.behave((r) => ({ status: r.signatureValid ? 204 : 401 }))
    await yard.pass(15 * minute)
    t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0 })
    await yard.passUntil(() => yard.webhooks.status().pending === 0)
    t.equal(received[tested]?.type, 'webhook.test')
    t.ok(received.slice(tested + 1).every((r) => r.type === 'whms.placement'))
    t.equal(
      new Set(received.slice(tested + 1).map((r) => r.deliveryId)).size,
      yard.count("delivery WHERE state = 'delivered'"),
    )
    const rows = yard.work.read((tx) =>
      allOf<{ action: string }>(
        tx,
        "SELECT action FROM audit_entry WHERE action LIKE 'webhook.%' ORDER BY id DESC LIMIT 2",
      ),
    )
    t.strictSame(
      rows.map((r) => r.action),
      ['webhook.recovered', 'webhook.disabled'],
    )
  },
)

t.test('a disabled endpoint is tested at once after a start; one that a person switched off never', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: () => ({ status: 503 }) })
  const id = await yard.register(receiver)
  const off = await yard.register(receiver, undefined, { active: false })
  await failUntilDisabled(yard)
  await yard.webhooks.worker.stop()
  yard.crash()
  yard.webhooks.worker.start()
  await receiver.waitFor((r) => r.type === 'webhook.test')
  await yard.webhooks.worker.settled()
  await yard.call('PATCH', `/api/webhooks/${id}`, { active: false })
  t.equal(await within(yard, 60 * minute, receiver.received), 0)
  await yard.call('DELETE', `/api/webhooks/${off}`)
  receiver.behave(() => ({ status: 204 }))
  t.match((await yard.call('POST', `/api/webhooks/${id}/enable`)).body, { active: true, status: 'active' })
  await yard.passUntil(() => yard.webhooks.status().pending === 0)
})

t.test('an endpoint that is changed while it is tested is not enabled by the test', async (t) => {
  const yard = openYard(t)
  const receiver = await yard.receiver({ behave: (r) => (r.type === 'webhook.test' ? 'hang' : { status: 503 }) })
  const id = await yard.register(receiver)
  await failUntilDisabled(yard)
  await yard.webhooks.worker.settled()
  yard.clock.advance(15 * minute)
  await receiver.waitFor((r) => r.type === 'webhook.test')
  await yard.call('PATCH', `/api/webhooks/${id}`, { url: `${receiver.url}/elsewhere` })
  receiver.release(204)
  await yard.webhooks.worker.settled()
  t.match(await yard.webhook(id), { status: 'disabled', consecutiveFailures: 100 })
})

t.test('without autoResume a disabled endpoint is left alone', async (t) => {
  const yard = openYard(t, { settings: { autoResume: { enabled: false, everyMs: minute } } })
  const receiver = await yard.receiver({ behave: () => ({ status: 503 }) })
  await yard.register(receiver)
  await failUntilDisabled(yard)
  t.equal(await within(yard, 24 * 60 * minute, receiver.received), 0)
})
