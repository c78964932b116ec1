import fc from 'fast-check'
import t, { type Test } from 'tap'
import { stepBetween } from '../../src/webhooks/delivery/clock-steps.ts'
import { allOf } from '../support/plain-sql.ts'
import { type Mood, type Sent, SimulatedDelivery } from '../support/simulated-delivery.ts'
import { WebhookYard } from '../support/webhook-yard.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** A tenth of the document's, so that hours are minutes. */
const scheduleMs = [0, 6 * second, 30 * second, 3 * minute, 12 * minute, 72 * minute]

const settings = {
  retryScheduleMs: scheduleMs,
  probe: { initialMs: second, maxMs: 30 * second },
  autoResume: { enabled: true, everyMs: 90 * second },
  allowNetworks: [],
}

type Step =
  | { readonly kind: 'publish'; readonly count: number }
  | { readonly kind: 'mood'; readonly endpoint: number; readonly mood: Mood }
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'crash' }
  | { readonly kind: 'set clock'; readonly hours: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 8 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('mood' as const),
      endpoint: fc.nat({ max: 1 }),
      mood: fc.constantFrom<Mood>('up', 'down', 'offline', 'flaky', 'busy'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 1500 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('set clock' as const), hours: fc.constantFrom(-1, 1) }) },
)

async function play(simulated: SimulatedDelivery, urls: readonly string[], one: Step): Promise<number> {
  const { yard } = simulated
  switch (one.kind) {
    case 'publish':
      await yard.publish(one.count)
      await simulated.quiet()
      return one.count
    case 'mood':
      simulated.moods.set(urls[one.endpoint] ?? '', one.mood)
      return 0
    case 'pass':
      await simulated.pass(one.seconds * second)
      return 0
    case 'crash':
      await simulated.crash()
      return 0
    case 'set clock':
      yard.clock.setWall(yard.clock.now() + one.hours * hour)
      simulated.worker.wake()
      await simulated.quiet()
      return 0
  }
}

type Row = { id: string; url: string; seq: number; state: string; attempts: number }

const deliveriesOf = (yard: WebhookYard) =>
  yard.work.read((tx) =>
    allOf<Row>(
      tx,
      'SELECT d.id, w.url, d.outbox_seq AS seq, d.state, d.attempts FROM delivery d JOIN webhook w ON w.id = d.webhook_id ORDER BY d.outbox_seq',
    ),
  )

const outcomes = (sent: readonly Sent[]) => sent.map(({ kind }) => kind)

/** Invariants of every delivery. Throws with the broken one. */
function checkDelivery(row: Row, sent: readonly Sent[]): void {
  const failures = sent.filter(({ kind }) => kind === 'failed').length
  if (row.state === 'delivered') {
    if (!outcomes(sent).includes('delivered')) throw new Error(`delivered without a 2xx: ${outcomes(sent)}`)
  } else if (row.state !== 'exhausted' || failures < scheduleMs.length) {
    throw new Error(`${row.state} after ${outcomes(sent)}`)
  }
  for (const [i, attempt] of sent.entries()) {
    const before = sent[i - 1]
    if (before?.endedMs === undefined || before.kind !== 'failed') continue
    const nth = sent.slice(0, i).filter(({ kind }) => kind === 'failed').length
    const leastMs = Math.max(scheduleMs[nth] ?? 0, before.retryAfterMs)
    const waitedMs = attempt.startedMs - before.endedMs
    if (waitedMs < leastMs) throw new Error(`attempt ${nth + 1} after ${waitedMs} ms, not ${leastMs}`)
  }
}

/** Invariants of all attempts to one endpoint. */
function checkEndpoint(rows: readonly Row[], sent: readonly Sent[]): void {
  for (const { beside, status, failures, type } of sent) {
    if (beside > 3) throw new Error(`${beside + 1} at once`)
    if (failures >= 6 && beside > 0) throw new Error('two at once to an endpoint that is slowed down')
    if (status === 'disabled' && type !== 'webhook.test') throw new Error(`${type} to a disabled endpoint`)
  }
  const firsts = [...new Set(sent.filter(({ type }) => type !== 'webhook.test').map(({ deliveryId }) => deliveryId))]
  const seqs = firsts.map((id) => rows.find((row) => row.id === id)?.seq ?? 0)
  if (seqs.some((seq, i) => seq < (seqs[i - 1] ?? 0))) throw new Error(`first attempts out of order: ${seqs}`)
}

t.test(
  'whatever receivers, uplinks, clocks and power do: nothing is lost, nothing comes early, a sick endpoint gets one at a time, first attempts are in order',
  async () => {
    const latencies = fc.infiniteStream(fc.constantFrom(0, 5, 200, 3000, 20_000))
    const lucks = fc.infiniteStream(fc.boolean())
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 24 }),
        latencies,
        lucks,
        async (steps, latency, luck) => {
          const simulated = new SimulatedDelivery({
            settings: { settings },
            latencyMs: () => latency.next().value ?? 0,
            luck: () => luck.next().value ?? true,
          })
          try {
            const urls = [await simulated.register('a'), await simulated.register('b')]
            let published = 0
            for (const one of steps) published += await play(simulated, urls, one)
            for (const url of urls) simulated.moods.set(url, 'up')
            for (let n = 0; n < 40 && deliveriesOf(simulated.yard).some((row) => row.state === 'pending'); n += 1)
              await simulated.pass(15 * minute)
            const rows = deliveriesOf(simulated.yard)
            if (rows.length !== published * urls.length)
              throw new Error(`${rows.length} deliveries of ${published} events`)
            for (const row of rows)
              checkDelivery(
                row,
                simulated.sent.filter(({ deliveryId }) => deliveryId === row.id),
              )
            for (const url of urls) {
              const mine = simulated.sent.filter((sent) => sent.url === url)
              checkEndpoint(
                rows.filter((row) => row.url === url),
                mine,
              )
            }
          } finally {
            await simulated.end()
          }
        },
      ),
      { numRuns: 40 },
    )
  },
)

t.test(
  'a receiver that is down for 30 minutes at ten events a minute has everything afterwards, with nobody to help',
  async (t) => {
    const yard = new WebhookYard()
    t.teardown(() => yard.end())
    yard.webhooks.worker.start()
    const receiver = await yard.receiver()
    const id = await yard.register(receiver)
    const other = await yard.receiver()
    await yard.register(other)
    const publishFor = async (minutes: number) => {
      for (let n = 0; n < minutes * 10; n += 1) {
        await yard.publish()
        await yard.pass(6 * second)
      }
    }
    await publishFor(1)
    receiver.behave(() => ({ status: 503 }))
    await publishFor(30)
    t.match(await yard.webhook(id), { status: 'active', pacing: { slowedSince: String } })
    t.ok(
      receiver.received.length < 10 + 30,
      `${receiver.received.length - 10} attempts in half an hour: probed, not hammered`,
    )
    t.equal(other.received.length, 310, 'the other endpoint has noticed nothing')
    const down = receiver.received.length
    receiver.behave((request) => ({ status: request.signatureValid ? 204 : 401 }))
    await publishFor(12)
    t.ok(yard.webhooks.status().pending <= 15, 'only what was probed with waits for its next attempt')
    await yard.pass(25 * minute)
    t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0 })
    t.strictSame(yard.webhooks.status(), {
      total: 2,
      failing: 0,
      slowed: 0,
      disabled: 0,
      paused: 0,
      offline: 0,
      pending: 0,
    })
    const arrived = new Set(receiver.received.filter((_, i) => i < 10 || i >= down).map((r) => r.event.id))
    t.equal(arrived.size, 430, 'every event has arrived')
    t.equal(yard.count("alert WHERE kind = 'webhook.failing'"), 0, 'no delivery has failed six times in half an hour')
  },
)

/** A delivery that has failed once, a minute before its next attempt. */
async function aFailedDelivery(t: Test) {
  const yard = new WebhookYard()
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  const receiver = await yard.receiver({ behave: () => ({ status: 500 }) })
  await yard.register(receiver)
  await yard.publish()
  await yard.attempted(1)
  await yard.webhooks.worker.settled()
  return { yard, receiver }
}

for (const hours of [-1, 1]) {
  t.test(`a clock that is set ${hours > 0 ? 'forward' : 'back'} by an hour changes no delay`, async (t) => {
    const { yard, receiver } = await aFailedDelivery(t)
    yard.clock.setWall(yard.clock.now() + hours * hour)
    await yard.publish() // the gateway looks, and sees the clock
    await yard.attempted(2)
    await yard.pass(minute - 1)
    t.equal(receiver.received.length, 2, 'nothing comes early')
    await yard.pass(3 * second + 1)
    t.equal(receiver.received.length, 4, 'and nothing an hour late')
    await yard.pass(5 * minute)
    yard.clock.setWall(yard.clock.now() - hours * hour)
    await yard.pass(15 * second)
    t.equal(receiver.received.length, 6)
  })
}

t.test('what counts as a step of the clock', async (t) => {
  const at = (wallMs: number, monotonicMs: number) => ({ wallMs, monotonicMs })
  t.equal(stepBetween(at(0, 0), at(5000, 5000)), 0)
  t.equal(stepBetween(at(0, 0), at(5900, 5000)), 0, 'drift')
  t.equal(stepBetween(at(0, 0), at(hour, 0)), hour)
  t.equal(stepBetween(at(hour, 0), at(5000, 5000)), -hour)
  t.equal(stepBetween(at(0, 0), at(300 * 24 * hour, 0)), 0, 'the clock had lost its battery')
})
