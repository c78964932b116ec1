import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { type ProbeAnswer, provesUplink } from '../../src/webhooks/sending/uplink.ts'
import { people, testGateway } from '../support/gateway.ts'
import { certificate, startReceiver } from '../support/receiver.ts'
import { WebhookYard, type YardOptions } from '../support/webhook-yard.ts'

const second = 1000
const minute = 60 * second

function openYard(t: Test, options: YardOptions = {}): WebhookYard {
  const yard = new WebhookYard(options)
  t.teardown(() => yard.end())
  yard.webhooks.worker.start()
  return yard
}

type Listening = { readonly port: number; readonly asked: () => number; stop(): Promise<void> }

/** A server of any kind on loopback that counts its connections; stopping cuts them. */
async function listening(t: Test, server: Server | ReturnType<typeof createTcpServer>, port = 0): Promise<Listening> {
  const sockets = new Set<Socket>()
  let asked = 0
  server.on('connection', (socket: Socket) => {
    asked += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = () => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  t.teardown(stop)
  return { port: (server.address() as AddressInfo).port, asked: () => asked, stop }
}

/** A place in the Internet over plain HTTP. */
const site = (t: Test, answer: RequestListener, port = 0) => listening(t, createServer(answer), port)

/** Answers as the usual connectivity checks do. */
const noContent: RequestListener = (_, response) => response.writeHead(204).end()

/** Takes connections and never says a word, as far as a dead line looks like anything. */
const silence = (t: Test) =>
  listening(
    t,
    createTcpServer(() => {}),
  )

/** A port at which no one listens. */
async function nobody(t: Test): Promise<number> {
  const { port, stop } = await site(t, noContent)
  await stop()
  return port
}

const url = (port: number, scheme = 'http') => `${scheme}://127.0.0.1:${port}/`

/** Registers an endpoint at this address, publishes, and waits until the attempt is over. Returns its outcome. */
async function attemptAt(yard: WebhookYard, address: string) {
  const { id } = (await yard.call('POST', '/api/webhooks', { url: address, events: ['whms.placement'] })).body
  await yard.publish()
  await yard.until(() => yard.count('delivery WHERE lease_until_ms > 0') > 0)
  let over = false
  void yard.webhooks.worker.settled().then(() => {
    over = true
  })
  await yard.passUntil(() => over)
  const [delivery] = await yard.deliveries(id)
  return { id, delivery, webhook: await yard.webhook(id) }
}

const held = { delivery: { state: 'pending', held: 'held_offline', attemptCount: 0, attempts: [] } }
const failed = { delivery: { state: 'pending', attemptCount: 1 }, webhook: { consecutiveFailures: 1 } }

t.test(
  'while no probe answers, an endpoint that cannot be reached is held, and everything arrives afterwards',
  async (t) => {
    const yard = openYard(t)
    const port = await nobody(t)
    yard.settings.uplinkProbes = [url(port), url(await nobody(t), 'https')]
    const receiver = await yard.receiver()
    const address = receiver.url
    await receiver.stop()
    const { id, delivery } = await attemptAt(yard, address)
    t.match({ delivery }, held)
    t.match(
      delivery.lastError,
      /^held: the gateway is offline \(.*ECONNREFUSED.*; no address of uplink.probes answers\)/,
    )
    await yard.publish(9)
    for (let n = 0; n < 100; n += 1) await yard.pass(5 * minute)
    t.match(await yard.webhook(id), { status: 'active', consecutiveFailures: 0 }, 'eight hours cost nothing')
    t.equal(yard.attempts.length, 0)
    t.match(yard.webhooks.status(), { failing: 0, disabled: 0, offline: 1, pending: 10 })
    t.equal(yard.webhooks.areWell(), false)

    const again = await startReceiver({
      secret: 'x',
      port: Number(new URL(address).port),
      behave: () => ({ status: 204 }),
    })
    t.teardown(() => again.stop())
    await yard.call('PATCH', `/api/webhooks/${id}`, {})
    writeFileSync(String(yard.settings.caFile), again.caPem)
    await site(t, noContent, port)
    await yard.passUntil(() => yard.webhooks.status().pending === 0)
    t.strictSame(new Set(again.received.map((r) => r.event.data['n'])), new Set([1, 2, 3, 4, 5, 6, 7, 8, 9]))
    t.match(yard.webhooks.status(), { offline: 0 })
    t.equal(yard.webhooks.areWell(), true)
  },
)

t.test(
  'with a working uplink it is the endpoint that fails: refused, unknown, wrong certificate, silent',
  async (t) => {
    const text: RequestListener = (_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/plain' }).end('success')
    const untrusted = await startReceiver({ secret: 'x' })
    t.teardown(() => untrusted.stop())
    const endpoints = {
      refused: url(await nobody(t), 'https'),
      unknown: 'https://erp.example/',
      'wrong certificate': untrusted.url,
      silent: url((await silence(t)).port, 'https'),
    }
    for (const answer of [noContent, text]) {
      const probe = await site(t, answer)
      for (const [what, address] of Object.entries(endpoints)) {
        const resolve = () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }))
        const yard = openYard(t, { resolve, settings: { uplinkProbes: [url(await nobody(t)), url(probe.port)] } })
        t.match(await attemptAt(yard, address), failed, what)
        t.same((await yard.call('GET', '/api/alerts')).body.data, [])
      }
      t.equal(probe.asked(), 4)
    }
  },
)

t.test('a captive portal is no uplink, whatever it answers and whatever it shows the endpoint', async (t) => {
  const redirect: RequestListener = (_, response) => response.writeHead(302, { Location: 'http://10.0.0.1/' }).end()
  const page: RequestListener = (_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>Welcome')
  const unlabelled: RequestListener = (_, response) => response.writeHead(200).end('\r\n<!DOCTYPE html>')
  const { key, cert } = await certificate()
  const portal = await listening(t, createTlsServer({ key, cert }, page))
  for (const answer of [redirect, page, unlabelled]) {
    const probe = await site(t, answer)
    const yard = openYard(t, { settings: { uplinkProbes: [url(probe.port), url(portal.port, 'https')] } })
    t.match(await attemptAt(yard, url(portal.port, 'https')), held)
    t.equal(probe.asked(), 1)
  }
  // It may also answer every name with its own address, which is none that a webhook may have.
  let hijacked = false
  const yard = openYard(t, {
    resolve: async () => [hijacked ? '10.0.0.1' : '198.41.0.4'],
    settings: { uplinkProbes: [url((await site(t, page)).port)] },
  })
  const { id } = (await yard.call('POST', '/api/webhooks', { url: 'https://erp.example/', events: ['whms.placement'] }))
    .body
  hijacked = true
  await yard.publish()
  await yard.until(() => yard.webhooks.status().pending > 0 && yard.count('alert') > 0)
  t.match((await yard.deliveries(id))[0], {
    held: 'held_offline',
    attemptCount: 0,
    lastError: /10\.0\.0\.1 is private/,
  })
})

t.test('a dead line whose route is kept looks like silence everywhere, and costs no attempt', async (t) => {
  const quiet = await silence(t)
  const yard = openYard(t, { settings: { uplinkProbes: [url(quiet.port), url(quiet.port, 'https')] } })
  const { id, delivery, webhook } = await attemptAt(yard, url((await silence(t)).port, 'https'))
  t.match({ delivery, webhook }, { ...held, webhook: { consecutiveFailures: 0 } })
  t.match(delivery.lastError, /no answer within 30 s; no address of uplink.probes answers/)
  const tookMs = yard.clock.monotonic()
  t.ok(tookMs >= 40 * second && tookMs < 45 * second, 'half a minute for the attempt, and ten seconds for the probes')
  const alerts = (await yard.call('GET', '/api/alerts')).body.data
  t.match(alerts, [{ kind: 'webhook.offline', subject: id, message: /is offline towards 127\.0\.0\.1:\d+/ }])
})

t.test('an endpoint that answers is judged by its answer, uplink or not', async (t) => {
  const yard = openYard(t, { settings: { uplinkProbes: [url(await nobody(t))] } })
  const broken = await yard.receiver({ behave: () => ({ status: 500 }) })
  t.match(await attemptAt(yard, broken.url), failed)
  const well = await yard.receiver({ behave: () => ({ status: 204 }) })
  t.match(
    await attemptAt(yard, well.url),
    { delivery: { state: 'delivered' } },
    'a receiver in the hall needs no uplink',
  )
})

t.test('the admin is told once of an endpoint out of reach, and again when he has seen it', async (t) => {
  const yard = openYard(t, { settings: { uplinkProbes: [url(await nobody(t))] } })
  await attemptAt(yard, url(await nobody(t), 'https'))
  for (let n = 0; n < 20; n += 1) await yard.pass(5 * minute)
  const alerts = async () => (await yard.call('GET', '/api/alerts')).body.data
  t.equal((await alerts()).length, 1)
  await yard.call('POST', `/api/alerts/${(await alerts())[0].id}/acknowledge`)
  await yard.pass(5 * minute)
  t.equal((await alerts()).length, 2)
})

t.test('many failures of one moment ask the probes once', async (t) => {
  const probe = await site(t, noContent)
  const yard = openYard(t, { settings: { uplinkProbes: [url(probe.port)] } })
  const dead = url(await nobody(t), 'https')
  for (let n = 0; n < 8; n += 1) await yard.call('POST', '/api/webhooks', { url: dead, events: ['whms.placement'] })
  await yard.publish(4)
  await yard.attempted(32)
  t.equal(probe.asked(), 1)
  await yard.pass(minute + 3 * second)
  t.ok(probe.asked() > 1)
})

t.test('what failed while the uplink was away is excused, also when it is back by the time of asking', async (t) => {
  const port = await nobody(t)
  const yard = openYard(t, { settings: { uplinkProbes: [url(port)] } })
  const hanging = await yard.receiver({ behave: () => 'hang' })
  const id = await yard.register(hanging)
  await yard.publish()
  await hanging.waitFor(() => true)
  const other = await yard.call('POST', '/api/webhooks', {
    url: url(await nobody(t), 'https'),
    events: ['scale.reading'],
  })
  await yard.publish(1, 'scale.reading')
  await yard.until(() => yard.count('alert') > 0)
  t.equal(other.status, 201)
  await site(t, noContent, port)
  yard.clock.advance(2 * second)
  hanging.behave(() => ({ status: 204 }))
  yard.clock.advance(28 * second)
  await yard.until(() => yard.webhooks.status().offline === 2 || yard.attempts.length > 0)
  t.match(await yard.deliveries(id), [{ held: 'held_offline', attemptCount: 0 }])
})

t.test('stopping does not wait for a probe, and counts nothing', async (t) => {
  const quiet = await silence(t)
  const yard = openYard(t, { settings: { uplinkProbes: [url(quiet.port)] } })
  const { id } = (
    await yard.call('POST', '/api/webhooks', { url: url(await nobody(t), 'https'), events: ['whms.placement'] })
  ).body
  const asked = new Promise((resolve) => {
    const look = () => (quiet.asked() > 0 ? resolve(undefined) : setImmediate(look))
    look()
  })
  await yard.publish()
  await asked
  const stopped = yard.webhooks.worker.stop()
  yard.clock.advance(10 * second)
  await stopped
  t.match(await yard.deliveries(id), [{ state: 'pending', attemptCount: 0, attempts: { length: 0 } }])
})

t.test('what proves an uplink', async (t) => {
  const answer = { isVerified: false, status: 204, contentType: undefined, beginning: '' }
  const rows: [Partial<ProbeAnswer>, boolean][] = [
    [{}, true],
    [{ status: 200, contentType: 'text/plain', beginning: 'success\n' }, true],
    [{ status: 200, contentType: 'application/json', beginning: '{"installed":true}' }, true],
    [{ status: 200, contentType: 'text/html; charset=utf-8', beginning: 'Success' }, false],
    [{ status: 200, beginning: '<HTML>' }, false],
    [{ status: 302 }, false],
    [{ status: 404 }, false],
    [{ status: 511 }, false],
    [{ isVerified: true, status: 200, contentType: 'text/html', beginning: '<html>' }, true],
    [{ isVerified: true, status: 302 }, true],
    [{ isVerified: true, status: 401 }, true],
    [{ isVerified: true, status: 500 }, true],
    [{ isVerified: true, status: 504 }, false],
  ]
  for (const [given, expected] of rows) t.equal(provesUplink({ ...answer, ...given }), expected, JSON.stringify(given))
})

t.test('the metric counts the endpoints out of reach, and health says degraded', async (t) => {
  const dead = await nobody(t)
  const gateway = await testGateway({
    config: { webhooks: { allowNetworks: ['127.0.0.0/8'] }, uplink: { probes: [url(dead)] } },
  })
  t.teardown(async () => {
    await gateway.webhooks.worker.stop()
    gateway.end()
  })
  const by = people.ada
  await gateway.ask('POST', '/api/webhooks', { by, body: { url: url(dead, 'https'), events: ['event.created'] } })
  gateway.webhooks.worker.start()
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Hall', timezone: 'Europe/Berlin' } })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'S', zone_type: 'storage', warehouseId: 1 } })
  const floor_plan_polygon = [
    { x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  await gateway.ask('POST', '/api/whms/slots', { by, body: { slot_id: 'A', zone: 'S', floor_plan_polygon } })
  const event = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  t.equal((await gateway.ask('POST', '/api/whms/events', { by, body: event })).status, 201)
  const alert = async () => (await gateway.ask('GET', '/api/alerts', { by })).body.data[0]
  while (!(await alert())) await new Promise((resolve) => setImmediate(resolve))
  t.match(await alert(), { kind: 'webhook.offline' })
  await gateway.webhooks.worker.settled()
  t.match((await gateway.ask('GET', '/api/metrics', { by })).text, /^gatehouse_webhooks_offline 1$/m)
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body, {
    checks: { webhooks: { status: 'degraded' } },
  })
})
