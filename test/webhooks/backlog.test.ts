import t, { type Test } from 'tap'
import { Pacing } from '../../src/webhooks/delivery/pacing.ts'
import { allOf, oneOf } from '../support/plain-sql.ts'
import { SimulatedDelivery } from '../support/simulated-delivery.ts'

const second = 1000
const minute = 60 * second

const settings = {
  retryScheduleMs: [0, 1, 5, 30, 120, 720].map((minutes) => minutes * minute),
  allowNetworks: [],
  drainPerSecond: 500,
}

function simulate(t: Test, latencyMs: () => number): SimulatedDelivery {
  const simulated = new SimulatedDelivery({ settings: { settings }, latencyMs, luck: () => true })
  t.teardown(() => simulated.end())
  return simulated
}

t.test('a long backlog outlives a restart and drains in order, a few at a time, beside a dead endpoint', async (t) => {
  const count = 5000
  const simulated = simulate(t, () => 2)
  const { yard } = simulated
  const [well, dead] = [await simulated.register('well'), await simulated.register('dead')]
  for (const url of [well, dead]) simulated.moods.set(url, 'offline')
  for (let n = 0; n < count; n += 500) await yard.publish(500)
  await simulated.pass(20 * minute)
  t.equal(yard.count("delivery WHERE state = 'pending'"), 2 * count)
  await simulated.crash()
  simulated.moods.set(well, 'up')
  simulated.moods.set(dead, 'down')
  const before = simulated.sent.length
  await simulated.pass(5 * minute + (count / 500) * second)

  const took = simulated.sent.slice(before).filter(({ url }) => url === well)
  const seqs = took.map(({ deliveryId }) => seqOf(simulated, deliveryId))
  t.equal(took.length, count)
  t.strictSame(
    seqs,
    seqs.toSorted((a, b) => a - b),
    'in order',
  )
  t.ok(
    took.every(({ beside }) => beside < 4),
    'four at a time at most',
  )
  const perSecond = Map.groupBy(took.slice(1), ({ startedMs }) => Math.floor(startedMs / second))
  t.ok(
    [...perSecond.values()].every((some) => some.length <= 2 * settings.drainPerSecond),
    'no faster than it should',
  )
  const refused = simulated.sent.slice(before).filter(({ url }) => url === dead)
  t.ok(refused.length > 6 && refused.length < 40, `${refused.length} attempts at the dead one`)
})

t.test('no more deliveries are looked at than can start, however many wait', async (t) => {
  const simulated = simulate(t, () => 2)
  const { yard } = simulated
  const url = await simulated.register('well')
  simulated.moods.set(url, 'offline')
  for (let n = 0; n < 3000; n += 500) await yard.publish(500)
  await simulated.pass(minute)
  const plans = [
    "SELECT id FROM delivery WHERE webhook_id = 'w' AND state = 'pending' AND next_attempt_at_ms = 0 AND lease_until_ms <= 1 ORDER BY outbox_seq LIMIT 8",
    "SELECT id FROM delivery WHERE webhook_id = 'w' AND state = 'pending' AND next_attempt_at_ms BETWEEN 1 AND 9 AND lease_until_ms <= 9 ORDER BY next_attempt_at_ms, outbox_seq LIMIT 8",
    "UPDATE delivery SET lease_until_ms = 0 WHERE state = 'pending' AND lease_until_ms > 0",
  ]
  for (const sql of plans) {
    const plan = yard.work
      .read((tx) => allOf<{ detail: string }>(tx, `EXPLAIN QUERY PLAN ${sql}`))
      .map(({ detail }) => detail)
      .join('; ')
    t.match(plan, /USING (COVERING )?INDEX delivery_(due|leased)/, sql)
    t.notMatch(plan, /SCAN delivery\b(?! USING)|TEMP B-TREE/, sql)
  }
})

t.test(
  'four deliveries that are answered together give way to the next four without a look at all endpoints',
  async (t) => {
    const simulated = simulate(t, () => 2)
    const { yard } = simulated
    const url = await simulated.register('well')
    await simulated.pass(minute)
    const looks = t.capture(Pacing.prototype, 'look', Pacing.prototype.look)
    await yard.publish(400)
    await simulated.pass(minute)
    t.equal(simulated.sent.filter((one) => one.url === url).length, 400)
    const { length } = looks()
    t.ok(length < 20, `${length} looks for 400 deliveries`)
  },
)

function seqOf(simulated: SimulatedDelivery, deliveryId: string): number {
  const row = simulated.yard.work.read((tx) =>
    oneOf<{ seq: number }>(tx, 'SELECT outbox_seq AS seq FROM delivery WHERE id = ?', [deliveryId]),
  )
  return row?.seq ?? 0
}
