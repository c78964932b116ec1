import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { HttpListener } from '../../src/http/index.ts'
import { joined, pass, place } from '../support/fed-gateway.ts'
import { people, type TestGateway } from '../support/gateway.ts'
import { type TestHub, testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { waitUntil } from '../support/waiting.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
type T = { teardown(work: () => unknown): void }

const placedAt = async (hub: TestHub) => Number((await hub.rows('SELECT count(*)::int AS n FROM placement'))[0]?.['n'])

/** A gateway that feeds a head office, and whose notifications go to a receiver that does not answer before it is asked to. */
async function withSlowReceiver(t: T, hub: TestHub) {
  const secret = 'a secret that both know'
  const receiver = await startReceiver({ secret, behave: () => 'hang' })
  t.teardown(() => receiver.stop())
  const caFile = join(hub.folder, 'receiver.pem')
  writeFileSync(caFile, receiver.caPem)
  const gateway = await joined(t, hub, { webhooks: { allowNetworks: ['127.0.0.0/8'], caFile } })
  const hook = { url: receiver.url, events: ['whms.placement'], secret }
  const made = await gateway.ask('POST', '/api/webhooks', { by: people.ada, body: hook })
  if (made.status !== 201) throw new Error(`the receiver is not registered: ${made.text}`)
  gateway.webhooks.worker.start()
  t.teardown(() => gateway.webhooks.worker.stop())
  return { gateway, receiver }
}

/** Lets time pass in small steps, so that what waits for a timer sets its next one. */
async function passSlowly(gateway: TestGateway, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    gateway.clock.advance(50)
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Lets the receiver answer, and the feed end that waits for it. */
async function answered(gateway: TestGateway, receiver: Receiver): Promise<void> {
  receiver.release(204)
  await waitUntil('the notification is sent', () => !gateway.webhooks.worker.isSending)
  gateway.clock.advance(200)
  await gateway.feeder.settled()
}

t.test('the log goes to the head office after the notifications that are being sent', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const { gateway, receiver } = await withSlowReceiver(t, hub)
  await place(gateway, 'P-1')
  await receiver.waitFor(() => true)
  await passSlowly(gateway, 3000)
  const looksAgainSoon = () => (gateway.clock.nextInMs ?? Number.POSITIVE_INFINITY) <= 100
  await waitUntil('the feed waits, and looks again soon', looksAgainSoon, { withinMs: 15_000 })
  t.equal(await placedAt(hub), 0, 'it waits')
  await answered(gateway, receiver)
  t.equal(await placedAt(hub), 1)
})

t.test('a receiver that does not answer holds the log up for some five seconds, and not for ever', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const { gateway, receiver } = await withSlowReceiver(t, hub)
  await place(gateway, 'P-1')
  await receiver.waitFor(() => true)
  const beganMs = gateway.clock.monotonic()
  const isThere = async () => {
    gateway.clock.advance(50)
    return (await placedAt(hub)) === 1
  }
  await waitUntil('the event is at the head office', isThere, { withinMs: 60_000, everyMs: 1 })
  t.ok(gateway.clock.monotonic() - beganMs >= 5000)
  t.ok(gateway.webhooks.worker.isSending, 'the notification still hangs')
  await answered(gateway, receiver)
})

/** A door to the head office behind which each feed waits until it is let through. */
async function slowDoor(t: T, gateway: TestGateway, hub: TestHub) {
  const opened = Promise.withResolvers<void>()
  const came = Promise.withResolvers<void>()
  const fetch = async (request: Request) => {
    came.resolve()
    await opened.promise
    return hub.api.fetch(request)
  }
  const tls = { certFile: join(hub.folder, 'cert.pem'), keyFile: join(hub.folder, 'key.pem') }
  const listener = new HttpListener({ host: '127.0.0.1', port: 0, tls }, { fetch } as never)
  t.teardown(() => listener.stop())
  const url = `https://127.0.0.1:${await listener.start()}`
  gateway.live.config = { ...gateway.live.config, hub: { ...gateway.live.config.hub, url } }
  return { came: came.promise, open: opened.resolve }
}

t.test('a head office that takes feeds and does not answer changes nothing on the floor', async (t) => {
  const hub = await testHub(t, postgres, { listens: true })
  const gateway = await joined(t, hub)
  const door = await slowDoor(t, gateway, hub)
  await place(gateway, 'P-1')
  gateway.clock.advance(1000)
  await door.came
  for (const barcode of ['P-2', 'P-3']) t.equal((await place(gateway, barcode)).status, 201, 'while the feed hangs')
  const slots = await gateway.ask('GET', '/api/whms/slots', { by: people.ada })
  t.match(slots, { status: 200 })
  t.match(
    (await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.hub,
    { status: 'healthy' },
    'not yet a trouble',
  )
  await pass(gateway, 110_000)
  t.match(gateway.feeder.seen(), { trouble: { finding: 'unreachable' } }, 'after two minutes it is given up')
  t.equal((await place(gateway, 'P-4')).status, 201)
  door.open()
  // The feed that was given up is taken in as well, and the next one may meet it there.
  const isAllThere = async () => {
    gateway.clock.advance(1000)
    return (await placedAt(hub)) === 4
  }
  await waitUntil('everything is at the head office', isAllThere, { withinMs: 60_000, everyMs: 20 })
  await gateway.feeder.settled()
  t.equal(gateway.feeder.seen()?.trouble, undefined)
  t.equal(await placedAt(hub), 4, 'nothing is missing, and nothing is there twice')
})
