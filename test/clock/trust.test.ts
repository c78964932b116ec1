import t, { type Test } from 'tap'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const by = people.ada
const minute = 60_000
const eight = Date.UTC(2026, 2, 2, 8)
const iso = (ms: number) => new Date(ms).toISOString()

/** Lines of `chronyc -c tracking`, in the form of chrony 4.3. */
const follows = 'C0000201,192.0.2.1,3,1772438400.1,0.00025,0.00002,0.00003,-1.5,0.001,0.02,0.008,0.003,64.2,Normal\n'
const lost = '00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised\n'

/** A gateway whose box has the programs that are named, with what they print. */
async function box(t: Test, startMs = eight) {
  const says: Record<string, string> = {}
  const clock = new SimulatedClock(startMs)
  const timeServices = { timesyncFolder: '/nowhere', ask: async (program: string) => says[program] }
  const gateway = await testGateway({ clock, timeServices })
  t.teardown(() => gateway.end())
  return { says, clock, gateway }
}

/** Lets time pass as the daemon does: the services are asked every minute, health every five seconds, the clock every second. */
async function pass(gateway: TestGateway, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5000) {
    if (passed % minute === 0) await gateway.clockSync.look()
    gateway.clock.advance(5000)
    await gateway.clockBook.look()
    await gateway.health.look()
  }
}

const health = async (gateway: TestGateway) => (await gateway.ask('GET', '/api/health', { by: people.ada })).body
const alerts = async (gateway: TestGateway) => (await gateway.ask('GET', '/api/alerts', { by })).body.data
const trust = async (gateway: TestGateway, query = '') =>
  (await gateway.ask('GET', `/api/governance/clock${query}`, { by: people.sven })).body
async function metric(gateway: TestGateway, name: string): Promise<string | undefined> {
  const { text } = await gateway.ask('GET', '/api/metrics', { by })
  return text
    .split('\n')
    .find((line) => line.startsWith(`${name} `))
    ?.slice(name.length + 1)
}

t.test(
  'a clock without servers is seen at once, raises an alert after ten minutes, and its return ends it',
  async (t) => {
    const { says, gateway } = await box(t)
    says['chronyc'] = follows
    await pass(gateway, minute)
    t.match((await health(gateway)).checks.clock, {
      ...{ status: 'healthy', synchronized: true, source: 'chrony', offsetMs: -0.25, stratum: 3 },
      ...{ since: iso(eight), steps: 0, lastStep: null },
    })
    t.equal(await metric(gateway, 'gatehouse_clock_synchronised'), '1')
    t.equal(await metric(gateway, 'gatehouse_clock_offset_seconds'), '-0.00025')
    says['chronyc'] = lost
    await pass(gateway, 10 * minute - 5000)
    const reason = 'The clock of the gateway is not synchronized. Events are marked.'
    t.match(await health(gateway), {
      status: 'degraded',
      checks: {
        clock: { status: 'degraded', reason, synchronized: false, offsetMs: null, since: iso(eight + minute) },
      },
    })
    t.equal(await metric(gateway, 'gatehouse_clock_synchronised'), '0')
    t.same(await alerts(gateway), [], 'a service that starts or loses an answer wakes nobody')
    await pass(gateway, 5000)
    t.match(await alerts(gateway), [
      { kind: 'clock.unsynced', message: /not been synchronized for 10 minutes: chrony says so/ },
    ])
    says['chronyc'] = follows
    await pass(gateway, minute)
    t.match(await alerts(gateway), [{ kind: 'clock.synced' }, { kind: 'clock.unsynced' }])
    t.equal((await health(gateway)).status, 'healthy')
  },
)

t.test('where no time service answers, the clock is unknown: never called synchronized, and no trouble', async (t) => {
  const { gateway } = await box(t)
  await gateway.clockBook.start()
  t.teardown(() => gateway.clockBook.stop())
  await pass(gateway, 15 * minute)
  t.match((await health(gateway)).checks.clock, { status: 'healthy', synchronized: null, source: null, offsetMs: null })
  t.equal(await metric(gateway, 'gatehouse_clock_synchronised'), '0')
  t.equal(await metric(gateway, 'gatehouse_clock_state{state="unknown"}'), '1')
  t.equal(await metric(gateway, 'gatehouse_clock_offset_seconds'), 'Nan')
  t.same(await alerts(gateway), [])
  const { now, seconds } = await trust(gateway)
  t.match(now, { state: 'unknown', source: null, server: null })
  t.strictSame(seconds, { synchronized: 0, unsynchronized: 0, unknown: 900, stopped: 0 })
})

t.test(
  'a clock that is set by more than 2 s leaves a row, an entry in the trail, and its mark on a report',
  async (t) => {
    const { says, clock, gateway } = await box(t)
    says['chronyc'] = follows
    await gateway.clockSync.look()
    await gateway.clockBook.start()
    t.teardown(() => gateway.clockBook.stop())
    for (const byMs of [2000, -2000]) {
      clock.setWall(clock.now() + byMs)
      await gateway.clockBook.look()
    }
    t.same((await trust(gateway)).steps, [], 'two seconds are slewed')
    clock.setWall(clock.now() + 1000 - 90_000)
    await gateway.clockBook.look()
    const step = {
      byMs: -89_000,
      before: iso(eight),
      after: iso(eight - 89_000),
      cause: 'running',
      state: 'synchronized',
    }
    t.match(await trust(gateway), { stepCount: 1, steps: [{ ...step, at: step.after, source: 'chrony' }] })
    t.match((await health(gateway)).checks.clock, { steps: 1, lastStep: { at: step.after, byMs: -89_000 } })
    t.equal(await metric(gateway, 'gatehouse_clock_steps_total'), '1')
    const trail = await gateway.ask('GET', '/api/governance/audit?entity=clock', { by })
    t.match(trail.body.data, [{ action: 'clock.stepped', entityId: '1', actor: null, changes: { byMs: -89_000 } }])
    const body = { from: iso(eight - minute), to: iso(eight + minute) }
    const { body: report } = await gateway.ask('POST', '/api/governance/reports', { by, body })
    t.match(report.clock, { stepCount: 1, steps: [step], rows: { steps: 1 } })
    const file = await gateway.ask('GET', `/api/governance/reports/${report.id}/file`, { by })
    t.match(file.body.clock, { stepCount: 1, steps: [step] }, 'in the file that is stated by a leaf, too')
  },
)

t.test('a clock that is behind after a restart is a step, also when the gateway crashed', async (t) => {
  const { clock, gateway } = await box(t)
  await gateway.clockBook.start()
  clock.advance(5 * minute)
  await gateway.clockBook.stop()
  clock.advance(minute)
  const ended = await gateway.restart()
  await ended.clockBook.start()
  t.same((await trust(ended)).steps, [], 'a pause is no step')
  clock.setWall(eight + 5 * minute)
  clock.advance(minute)
  const crashed = await ended.restart()
  t.teardown(() => crashed.clockBook.stop())
  clock.setWall(eight + 2 * minute)
  await crashed.clockBook.start()
  const { steps, seconds } = await trust(crashed, `?from=${iso(eight)}&to=${iso(eight + 10 * minute)}`)
  t.match(steps.at(-1), { cause: 'restart', byMs: -4 * minute, before: iso(eight + 6 * minute) })
  t.equal(seconds.stopped, 60, 'the pause')
})

t.test('a box that wakes up in 1970 says so, and says when its clock was found', async (t) => {
  const { clock, gateway } = await box(t, 5000)
  await gateway.clockBook.start()
  t.teardown(() => gateway.clockBook.stop())
  clock.setWall(eight)
  await gateway.clockBook.look()
  t.match((await trust(gateway, `?from=${iso(0)}&to=${iso(eight + 1)}`)).steps, [
    { cause: 'no_clock', before: '2026-01-01T00:00:00.000Z', after: iso(5000) },
    { cause: 'running', after: iso(eight) },
  ])
})
