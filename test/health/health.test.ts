import t, { type Test } from 'tap'
import { createLogger } from '../../src/platform/index.ts'
import { byCloud, cloudFor, inFile, look, until } from '../support/cloud.ts'
import { people, type TestGateway, testGateway } from '../support/gateway.ts'

const minute = 60_000
const by = people.ada

const unreachable = {
  what: 'Nothing answers at the address of the camera.',
  hint: 'Check its power, its cable and the host and port of the url.',
}

/** A hall with one watched camera, and the messages of the camera. */
async function hall(t: Test) {
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line) })
  const gateway = await testGateway({
    log,
    config: { cameras: [{ id: 7, name: 'Dock door', url: 'rtsp://192.0.2.7/main' }] },
  })
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  return { gateway, lines: () => lines.map((line) => JSON.parse(line)), say: sayer(gateway) }
}

function sayer(gateway: TestGateway) {
  return (state: 'live' | 'backing-off' | 'connecting', words: typeof unreachable | null = null) =>
    gateway.cameras.heard({
      ...{ type: 'state', cameraId: 7, state, words, problem: words && 'unreachable', at: gateway.clock.now() },
    })
}

/** Lets time pass as the daemon does: it looks every five seconds, and the camera is tried every thirty. */
async function unplugged(gateway: TestGateway, say: ReturnType<typeof sayer>, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5000) {
    if (passed % 30_000 === 0) for (const state of ['connecting', 'backing-off'] as const) say(state, unreachable)
    gateway.clock.advance(5000)
    await gateway.health.look()
  }
}

const health = async (gateway: TestGateway) => (await gateway.ask('GET', '/api/health', { by: people.ada })).body
const alerts = async (gateway: TestGateway, query = '') =>
  (await gateway.ask('GET', `/api/alerts${query}`, { by })).body.data
/** Notifications about health. The room cameras reports the gap itself. */
const created = (gateway: TestGateway) =>
  inFile<{ body: Buffer }>(gateway, `SELECT body FROM outbox WHERE type = 'event.created' ORDER BY seq`)
    .map(({ body }) => JSON.parse(body.toString('utf8')).data)
    .filter(({ kind }) => kind !== 'camera.gap')
const metric = async (gateway: TestGateway, name: string) =>
  (await gateway.ask('GET', '/api/metrics', { by })).text.split('\n').find((line) => line.startsWith(name))

t.test('a caller sees which parts are not set up, and nobody else does', async (t) => {
  const { gateway } = await hall(t)
  const unused = async () =>
    Object.entries<{ configured?: boolean }>((await health(gateway)).checks)
      .filter(([, { configured }]) => configured === false)
      .map(([part]) => part)
  t.strictSame(await unused(), ['storage', 'webhooks', 'evidence', 'backup', 'hub', 'alerts'])
  const hook = { url: 'https://receiver.example/in', events: ['event.created'] }
  t.equal((await gateway.ask('POST', '/api/webhooks', { by, body: hook })).status, 201)
  t.notOk((await unused()).includes('webhooks'))
  t.notMatch((await gateway.ask('GET', '/api/health')).text, /configured/)
})

t.test('a camera that was unplugged for eight minutes is told once, everywhere, and so is its return', async (t) => {
  const { gateway, lines, say } = await hall(t)
  say('live')
  await gateway.health.look()
  t.equal((await health(gateway)).status, 'healthy')
  const pulledMs = gateway.clock.now()
  await unplugged(gateway, say, 55_000)
  t.equal((await health(gateway)).status, 'healthy', 'a camera that restarts wakes nobody')
  await unplugged(gateway, say, 8 * minute - 55_000)
  const bad = await health(gateway)
  t.match(bad, {
    status: 'degraded',
    checks: { cameras: { status: 'degraded', reason: 'A camera has given no pictures for over a minute.' } },
  })
  t.notMatch(JSON.stringify(bad), /Dock door|192\.0\.2/, 'strangers learn neither name nor address')
  t.match(await alerts(gateway), [
    {
      kind: 'camera.offline',
      subject: '7',
      message: /^Camera 7 \(Dock door\) .*Check its power/,
      acknowledgedAt: null,
    },
  ])
  t.equal(
    await metric(gateway, 'gatehouse_health_status{component="cameras"}'),
    'gatehouse_health_status{component="cameras"} 1',
  )
  t.equal(
    await metric(gateway, 'gatehouse_health_troubles{kind="camera.offline"}'),
    'gatehouse_health_troubles{kind="camera.offline"} 1',
  )
  const offline = { cctvId: 7, name: 'Dock door', offlineSince: new Date(pulledMs).toISOString() }
  t.match(created(gateway), [
    { kind: 'alert.raised', event: { id: 1, kind: 'camera.offline' } },
    { kind: 'camera.offline', event: { ...offline, problem: `${unreachable.what} ${unreachable.hint}` } },
  ])
  t.equal(lines().filter(({ kind }) => kind === 'camera.offline').length, 1, 'one log line')

  say('live')
  await gateway.health.look()
  t.match(await health(gateway), { status: 'healthy', checks: { cameras: { status: 'healthy' } } })
  t.notOk('reason' in (await health(gateway)).checks.cameras)
  t.match(await alerts(gateway), [
    { kind: 'camera.online', subject: '7', message: /well again, after 8 minutes/ },
    { kind: 'camera.offline' },
  ])
  t.match(created(gateway).slice(2), [
    { kind: 'alert.raised', event: { kind: 'camera.online' } },
    { kind: 'alert.resolved', event: { id: 1, resolvedAt: String } },
    { kind: 'camera.online', event: { ...offline, onlineSince: new Date(gateway.clock.now()).toISOString() } },
  ])
  t.match(await metric(gateway, 'gatehouse_health_changes_total{kind="camera.online"}'), / 1$/)
  t.match(await gateway.ask('POST', '/api/alerts/1/acknowledge', { by }), { status: 200 })
  t.equal((await alerts(gateway, '?acknowledged=false')).length, 1)
})

t.test('a restart neither repeats that a camera is offline nor forgets to tell its return', async (t) => {
  const { gateway: before, say } = await hall(t)
  say('live')
  await unplugged(before, say, 2 * minute)
  t.equal((await alerts(before)).length, 1)
  const gateway = await before.restart()
  t.teardown(() => gateway.end())
  gateway.cameras.threadStarted()
  await gateway.health.look()
  t.equal((await health(gateway)).status, 'degraded', 'it has given no picture since')
  await unplugged(gateway, sayer(gateway), 3 * minute)
  t.equal((await alerts(gateway)).length, 1)
  sayer(gateway)('live')
  await gateway.health.look()
  t.match(await alerts(gateway), [{ kind: 'camera.online' }, { kind: 'camera.offline' }])
})

t.test('a camera that is switched off on purpose is not missed', async (t) => {
  const { gateway, say } = await hall(t)
  say('live')
  await unplugged(gateway, say, 2 * minute)
  await gateway.ask('POST', '/api/iot/detection/motion-stream', { by, body: { cctvId: 7, action: 'stop' } })
  await gateway.health.look()
  t.equal((await health(gateway)).status, 'healthy')
  t.match(await alerts(gateway), [{ kind: 'cameras.unwatched' }, { kind: 'camera.offline' }])
  t.notOk(
    created(gateway).some(({ kind }) => kind === 'camera.online'),
    'it has not come back',
  )
})

t.test('a storage server that answers too slowly for over a minute is told, and so is its recovery', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  await look(gateway, byCloud(server, 'otto'))
  const isIll = () => gateway.storageUsers.wellness()[0]?.illForMs !== null
  gateway.storageUsers.start()
  t.teardown(() => gateway.storageUsers.stop())
  server.misbehave('hang')
  const before = server.requests.length
  gateway.clock.advance(60_000)
  await until(() => server.requests.length > before)
  gateway.clock.advance(3000)
  server.misbehave(undefined)
  server.release()
  await until(isIll)
  await gateway.health.look()
  t.equal((await health(gateway)).status, 'healthy', 'not at once')
  gateway.storageUsers.stop()
  gateway.clock.advance(60_000)
  await gateway.health.look()
  t.match((await gateway.ask('GET', '/api/health', byCloud(server, 'otto'))).body, {
    status: 'degraded',
    checks: { storage: { status: 'degraded', reason: /over 2 s/ } },
  })
  gateway.storageUsers.start()
  gateway.clock.advance(1)
  await until(() => !isIll())
  await gateway.health.look()
  t.equal((await health(gateway)).status, 'healthy')
  const listed = await gateway.ask('GET', '/api/alerts', byCloud(server, 'adele'))
  t.match(listed.body.data, [
    { kind: 'storage.recovered', subject: server.url },
    { kind: 'storage.slow', subject: server.url, message: /over 2 s/ },
  ])
})

t.test('a part that cannot be looked at is degraded, says so once in the log, and hides no other part', async (t) => {
  const { gateway, lines, say } = await hall(t)
  say('live')
  await unplugged(gateway, say, 2 * minute)
  t.equal((await alerts(gateway)).length, 1)
  const { cameras } = gateway
  const before = cameras.cameraHealth.bind(cameras)
  cameras.cameraHealth = () => {
    throw new Error('no such folder')
  }
  for (let round = 0; round < 3; round += 1) await gateway.health.look()
  t.match(await health(gateway), {
    checks: { cameras: { status: 'degraded', reason: /cannot be checked/ }, database: { status: 'healthy' } },
  })
  t.equal(lines().filter(({ msg }) => /cannot be checked/.test(msg)).length, 1)
  t.equal((await alerts(gateway)).length, 1, 'what was known of it holds')
  cameras.cameraHealth = before
  say('live')
  await gateway.health.look()
  t.match(await alerts(gateway), [{ kind: 'camera.online' }, { kind: 'camera.offline' }])
  t.match(await health(gateway), { status: 'healthy' })
})
