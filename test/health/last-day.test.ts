import t from 'tap'
import { furnish, people, testGateway } from '../support/gateway.ts'

const minuteMs = 60_000
const day = '/api/metrics/day'

t.test('the box shows its figures of the last day, minute by minute', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const by = people.ada
  t.match(await gateway.ask('GET', day, { by }), { status: 200, body: { everySeconds: 60, times: { length: 0 } } })
  const firstMs = gateway.clock.now()
  await gateway.lastDay.take()
  await furnish(gateway, ['A-1'])
  for (const event_type of ['PLACED', 'REMOVED']) {
    const photo = event_type === 'PLACED' ? { photo_url: 'https://photos.example/1.jpg' } : {}
    const body = { event_type, slot_code: 'A-1', asset_barcode: 'P-1', ...photo }
    const { status, text } = await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
    t.equal(status, 201, text)
  }
  gateway.clock.advance(minuteMs)
  await gateway.lastDay.take()
  const { body } = await gateway.ask('GET', day, { by })
  t.same(
    body.times,
    [firstMs, firstMs + minuteMs].map((ms) => new Date(ms).toISOString()),
  )
  t.equal(body.figures.events[0], null, 'nothing is known of the time before the first minute')
  t.ok(body.figures.events[1] >= 2, 'both events of this minute')
  t.ok(body.figures.diskFreeBytes[1] > 0)
  t.equal(body.figures.camerasOnline[1], 0)
  for (const [name, column] of Object.entries<unknown[]>(body.figures)) t.equal(column.length, 2, name)
})

t.test('of the figures a day is kept, however long the box runs', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const minutes = 24 * 60
  for (let i = 0; i < minutes + 3; i += 1) {
    await gateway.lastDay.take()
    // The machine is asked at most every ten seconds of the clock that never jumps; this one is the other.
    gateway.clock.setWall(gateway.clock.now() + minuteMs)
  }
  const { body } = await gateway.ask('GET', day, { by: people.ada })
  t.equal(body.times.length, minutes)
  t.equal(Date.parse(body.times.at(-1)) - Date.parse(body.times[0]), (minutes - 1) * minuteMs)
})

t.test('the figures are for those who may read the metrics', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  t.equal((await gateway.ask('GET', day)).status, 401)
  t.equal((await gateway.ask('GET', day, { by: people.sven })).status, 403)
})
