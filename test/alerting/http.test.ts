import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLogger } from '../../src/platform/index.ts'
import { alertHall, camera } from '../support/alerting.ts'
import { people } from '../support/gateway.ts'
import { type Behaviour, startReceiver } from '../support/receiver.ts'

const minute = 60_000
const taken: Behaviour = () => ({ status: 200 })

async function site(
  t: Test,
  { channel = {}, http = {}, config = {} }: { channel?: object; http?: object; config?: object } = {},
) {
  const receiver = await startReceiver({ secret: '', behave: taken })
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-alerts-'))
  const [caFile, token] = [join(folder, 'ca.pem'), join(folder, 'token')]
  writeFileSync(caFile, receiver.caPem)
  writeFileSync(token, 'Bearer tk_secret\n', { mode: 0o600 })
  t.teardown(async () => {
    await receiver.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const lines: string[] = []
  const channels = [
    {
      name: 'ops',
      warehouses: [1],
      http: {
        ...{ url: receiver.url, caFile, headerFiles: { Authorization: token } },
        headers: { Title: '{{title}}', 'Content-Type': 'application/json' },
        body: '{"text": "{{text}}", "event": "{{event}}", "n": 1, "tags": ["{{severity}}", "{{kind}}"], "id": "{{id}}"}',
        ...http,
      },
      ...channel,
    },
  ]
  const hall = await alertHall(
    t,
    { alerts: { channels }, ...config },
    { log: createLogger({ write: (line) => lines.push(line) }) },
  )
  await hall.pass(5000)
  const bodies = () => receiver.received.map(({ body }) => body.toString('utf8'))
  return { ...hall, receiver, lines, bodies }
}

t.test('an alert goes to any address by template, with its secret from a file', async (t) => {
  const name = 'Tor "3" \\ Süd {{kind}}'
  const { lose, restore, pass, receiver, bodies, admin, lines } = await site(t, {
    config: { cameras: [camera(1, { name })] },
  })
  lose(1)
  await pass(2 * minute)
  const [request] = receiver.received
  t.match(request?.headers, { authorization: 'Bearer tk_secret', title: /^=\?UTF-8\?B\?/ })
  const body = JSON.parse(bodies()[0] ?? '')
  t.match(body, { event: 'raised', n: 1, tags: ['warning', 'camera.offline'] })
  t.ok(body.text.includes(name), 'the name is text in JSON, and no template')
  restore(1)
  await pass(2 * minute)
  t.match(JSON.parse(bodies()[1] ?? ''), { event: 'resolved' })
  const shown = JSON.stringify([
    (await admin('GET', '/api/alert-messages')).body,
    (await admin('GET', '/api/alert-channels')).body,
  ])
  t.notMatch(shown + lines.join('\n'), /tk_secret|\/hook/, 'neither the secret nor the path')
  t.match((await admin('GET', '/api/alert-channels')).body.data, [
    {
      name: 'ops',
      hasWebPush: false,
      recipients: [new URL(receiver.url).origin],
      waiting: 0,
      pending: 0,
      lastError: null,
    },
  ])
})

t.test('a receiver that redirects gets nothing elsewhere, and an endless answer is cut', async (t) => {
  const { lose, pass, receiver, admin } = await site(t)
  receiver.behave((_, nth) => (nth === 1 ? { status: 307, headers: { Location: `${receiver.url}2` } } : 'hang-body'))
  lose(1)
  await pass(80_000)
  const first = await admin('GET', '/api/alert-messages')
  t.match(first.body.data, [{ status: 'pending', attempts: 1, lastError: 'HTTP 307: redirects are not followed' }])
  await pass(minute)
  const { body } = await admin('GET', '/api/alert-messages')
  t.match(body.data, [{ status: 'sent', attempts: 2 }])
  t.strictSame(new Set(receiver.received.map(({ path }) => path)), new Set(['/hook']))
  t.equal(new Set(receiver.received.map((one) => JSON.parse(one.body.toString()).id)).size, 1, 'both have one id')
})

t.test('a busy receiver says when to come again', async (t) => {
  const { lose, pass, receiver } = await site(t)
  receiver.behave((_, nth) => (nth === 1 ? { status: 429, headers: { 'Retry-After': '600' } } : { status: 200 }))
  lose(1)
  await pass(10 * minute)
  t.equal(receiver.received.length, 1)
  await pass(2 * minute)
  t.equal(receiver.received.length, 2)
})

t.test('a channel gets its kinds, severities and warehouses, in its hours by the clock of the warehouse', async (t) => {
  const cameras = [camera(1, { warehouseId: 1 }), camera(2, { warehouseId: 2 })]
  const { lose, restore, pass, bodies, gateway } = await site(t, {
    // 08:00 UTC is 17:00 in Tokyo.
    channel: { kinds: ['camera.*'], severities: ['warning'], warehouses: [1], hours: ['Mo-Su 17:00-18:00'] },
    config: { cameras },
  })
  await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: { name: 'A', timezone: 'Asia/Tokyo' } })
  lose(2)
  await pass(2 * minute)
  t.strictSame(bodies(), [])
  lose(1)
  await pass(2 * minute)
  t.equal(bodies().length, 1)
  t.match(bodies()[0], /Gate 1/)
  restore(1)
  await pass(60 * minute)
  lose(1)
  await pass(2 * minute)
  t.strictSame(
    bodies().map((body) => JSON.parse(body).event),
    ['raised', 'resolved'],
    'not after the hours',
  )
})

t.test('a digest is one message in its time', async (t) => {
  const { lose, pass, bodies } = await site(t, { channel: { digest: '1h' } })
  lose(1)
  await pass(20 * minute)
  lose(2)
  await pass(20 * minute)
  t.strictSame(bodies(), [])
  await pass(25 * minute)
  t.equal(bodies().length, 1)
  t.match(bodies()[0], /Gate 1[\s\S]*Gate 2/)
})

t.test('an alert escalates when no one acknowledges it, and else does not', async (t) => {
  const { lose, restore, pass, bodies, admin } = await site(t, { channel: { escalateAfter: '15m' } })
  lose(1, 2, 3)
  await pass(5 * minute)
  restore(3)
  await admin('POST', '/api/alerts/1/acknowledge')
  await pass(9 * minute)
  t.strictSame(bodies(), [])
  await pass(5 * minute)
  t.equal(bodies().length, 1)
  t.match(bodies()[0], /No one has acknowledged this for 15 minutes/)
  t.match(bodies()[0], /Gate 2/)
  t.notMatch(bodies()[0], /Gate 1|Gate 3/)
})

t.test('a channel names the cameras of the warehouses that it names, and no other', async (t) => {
  const cameras = [camera(1), camera(2, { warehouseId: 2 })]
  const all = await site(t, { channel: { warehouses: [] }, config: { cameras } })
  all.lose(1, 2)
  await all.pass(2 * minute)
  t.equal(all.bodies().length, 1)
  t.match(all.bodies()[0], /A camera has given no pictures for over a minute/)
  t.notMatch(all.bodies()[0], /Gate|Camera [12]/)
  const one = await site(t, { channel: { warehouses: [2] }, config: { cameras } })
  one.lose(1, 2)
  await one.pass(2 * minute)
  t.match(one.bodies()[0], /Gate 2/)
  t.notMatch(one.bodies()[0], /Gate 1/)
})

t.test('a silence holds messages back for planned work, and reports afterwards what is still open', async (t) => {
  const { lose, restore, pass, bodies, admin, gateway } = await site(t)
  const until = new Date(gateway.clock.now() + 30 * minute).toISOString()
  const wrong = await admin('POST', '/api/alert-silences', { until, kinds: ['camera.ofline'], reason: 'new switch' })
  t.equal(wrong.status, 400)
  const made = await admin('POST', '/api/alert-silences', { until, kinds: ['camera.*'], reason: 'new switch' })
  t.match(made, {
    status: 201,
    body: { kinds: ['camera.*'], warehouses: { length: 0 }, reason: 'new switch', isActive: true },
  })
  t.match((await admin('GET', '/api/alert-silences')).body.data, [{ reason: 'new switch' }])
  lose(1, 2)
  await pass(10 * minute)
  restore(2)
  await pass(15 * minute)
  t.strictSame(bodies(), [])
  t.equal((await admin('GET', '/api/alerts?acknowledged=false')).body.data.length, 3, 'the list has them')
  await pass(10 * minute)
  t.equal(bodies().length, 1)
  t.match(bodies()[0], /Gate 1/)
  t.notMatch(bodies()[0], /Gate 2/)
  const { body } = await admin('GET', '/api/governance/audit?action=alerts.silenced')
  t.match(body.data, [{ actor: 'ada', changes: { reason: 'new switch', kinds: ['camera.*'] } }])
})

t.test('a silence can be ended early', async (t) => {
  const { lose, pass, bodies, admin, gateway } = await site(t)
  const until = new Date(gateway.clock.now() + 600 * minute).toISOString()
  const { body } = await admin('POST', '/api/alert-silences', { until, reason: 'new switch' })
  lose(1)
  await pass(3 * minute)
  t.strictSame(bodies(), [])
  t.match(await admin('POST', `/api/alert-silences/${body.id}/end`), { status: 200, body: { isActive: false } })
  t.strictSame((await admin('GET', '/api/alert-silences')).body.data, [])
  await pass(10_000)
  t.equal(bodies().length, 1)
})

t.test('the test of a channel says at once what is wrong', async (t) => {
  const { admin, receiver, bodies, gateway } = await site(t)
  const test = () => admin('POST', '/api/alert-channels/ops/test')
  t.match(await test(), { status: 200, body: { results: [{ sent: true, error: null }] } })
  t.match(JSON.parse(bodies()[0] ?? ''), { event: 'test' })
  receiver.behave(() => ({ status: 401 }))
  t.match(await test(), { body: { results: [{ sent: false, error: 'HTTP 401' }] } })
  t.match((await admin('GET', '/api/alert-messages')).body.data, [
    { about: 'test', status: 'failed' },
    { status: 'sent' },
  ])
  t.equal((await admin('POST', '/api/alert-channels/opss/test')).status, 404)
  t.equal((await gateway.ask('POST', '/api/alert-channels/ops/test', { by: people.sven })).status, 403)
  t.equal((await gateway.ask('GET', '/api/alert-messages', { by: people.sven })).status, 403)
})

t.test('alert.resolved follows alert.raised', async (t) => {
  const { lose, restore, pass, admin } = await site(t)
  lose(1)
  await pass(2 * minute)
  t.match((await admin('GET', '/api/alerts')).body.data, [{ id: 1, severity: 'warning', resolvedAt: null }])
  restore(1)
  await pass(5000)
  t.match((await admin('GET', '/api/alerts')).body.data, [
    { kind: 'camera.online', severity: 'info', resolvedAt: null },
    { id: 1, resolvedAt: String },
  ])
})
