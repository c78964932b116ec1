import { createECDH } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { alertHall, camera } from '../support/alerting.ts'
import { inFile } from '../support/cloud.ts'
import { type Person, people } from '../support/gateway.ts'
import { decrypted, startPushService } from '../support/push-service.ts'

const minute = 60_000
const base64 = (text: string) => Buffer.from(text, 'base64url')

t.test('the push service of these tests reads the example of RFC 8291', async (t) => {
  const keys = createECDH('prime256v1')
  keys.setPrivateKey(base64('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'))
  const body = base64(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  )
  t.equal(decrypted(body, keys, base64('BTBZMqHH6r4Tts7J_aSIgg')), 'When I grow up, I want to be a watermelon')
})

const viewers = ['sven', 'olga']

async function site(t: Test, config: object = {}, webPush: object = {}) {
  const service = await startPushService()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-push-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, service.caPem)
  t.teardown(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const hall = await alertHall(t, {
    cameras: [camera(1, { viewers }), camera(2, { viewers })],
    webhooks: { allowNetworks: ['127.0.0.0/8'], caFile },
    alerts: { channels: [{ name: 'push', webPush }] },
    ...config,
  })
  await hall.pass(5000)
  const { gateway } = hall
  const subscribe = async (by: Person) => {
    const { body: state } = await gateway.ask('GET', '/api/push-subscriptions', { by })
    service.expect(state.publicKey)
    const browser = service.subscribe()
    const answer = await gateway.ask('POST', '/api/push-subscriptions', { by, body: browser.toJSON() })
    t.match(answer, { status: 200, body: { subscriptions: { length: state.subscriptions.length + 1 } } })
    const path = new URL(browser.toJSON().endpoint).pathname
    const messages = () =>
      service.received.filter((one) => one.path === path).map(({ body }) => JSON.parse(browser.read(body)))
    return { browser, messages }
  }
  return { ...hall, service, subscribe }
}

t.test(
  'a subscribed browser gets an encrypted and signed message, and its action acknowledges the alert',
  async (t) => {
    const { lose, restore, pass, service, subscribe, admin, gateway } = await site(t)
    const { messages } = await subscribe(people.ada)
    lose(1)
    await pass(2 * minute)
    t.strictSame(service.problems, [])
    t.match(messages(), [{ title: /^test-site: Camera 1 \(Gate 1\)/, body: /no pictures/, acknowledge: String }])
    t.equal(service.received[0]?.headers['urgency'], 'normal')
    const { pathname, search } = new URL(messages()[0].acknowledge)
    t.equal((await gateway.ask('POST', `${pathname}${search}`)).status, 200)
    t.match((await admin('GET', '/api/alerts')).body.data, [{ id: 1, acknowledgedAt: String }])
    restore(1)
    await pass(2 * minute)
    t.match(messages()[1], { title: /^test-site: over: / })
    t.notOk('acknowledge' in messages()[1])
    const { body } = await admin('GET', '/api/alert-messages')
    t.match(body.data, [{ recipient: 'ada' }, { recipient: 'ada' }])
    t.notMatch(JSON.stringify(body), /127\.0\.0\.1:\d+\/hook/)
    const keys = join(gateway.folder, 'state', 'keys', 'vapid.json')
    t.equal(statSync(keys).mode & 0o777, 0o600)
  },
)

t.test('each subscriber learns only of what he or she may see', async (t) => {
  const [both, one] = [{ viewers }, { viewers: ['sven'] }]
  const cameras = [camera(1, both), camera(2, one), camera(3, one)]
  const { lose, pass, subscribe, gateway } = await site(t, { cameras })
  const sven = await subscribe(people.sven)
  const olga = await subscribe(people.olga)
  lose(1, 2, 3)
  await pass(2 * minute)
  t.match(sven.messages()[0].body, /Gate 1[\s\S]*Gate 2[\s\S]*Gate 3/)
  t.match(olga.messages()[0].body, /Gate 1/)
  t.notMatch(JSON.stringify(olga.messages()), /Gate 2|Gate 3/)
  t.notOk('acknowledge' in olga.messages()[0], 'an operator acknowledges nothing')
  t.equal(olga.messages().length, 1)
  const signed = await gateway.ask('GET', '/api/push-subscriptions', { by: people.olga })
  t.equal(signed.body.subscriptions.length, 1, 'she sees her own only')
  t.equal(
    (await gateway.ask('DELETE', `/api/push-subscriptions/${signed.body.subscriptions[0].id - 1}`, { by: people.olga }))
      .status,
    404,
  )
})

t.test('alerts of the box go to those who read alerts', async (t) => {
  const { pass, subscribe, gateway, admin } = await site(t, { alerts: { channels: [{ name: 'push', webPush: {} }] } })
  const [ada, sven] = [await subscribe(people.ada), await subscribe(people.sven)]
  await gateway.work.write((tx) =>
    gateway.webhooks.raise(tx, {
      kind: 'disk.low',
      subject: 'disk',
      message: 'The disk is low.',
      nowMs: gateway.clock.now(),
    }),
  )
  await pass(20_000)
  t.match(ada.messages(), [{ title: /The disk is low/ }])
  t.strictSame(sven.messages(), [])
  t.equal((await admin('GET', '/api/alert-channels')).body.data[0].recipients.length, 2)
})

t.test('a channel may name its people, and a removed right counts at once', async (t) => {
  const { lose, pass, subscribe, gateway } = await site(t, {}, { people: ['sven'] })
  const [ada, sven] = [await subscribe(people.ada), await subscribe(people.sven)]
  lose(1)
  await pass(2 * minute)
  t.strictSame([ada.messages().length, sven.messages().length], [0, 1])
  const { config } = gateway.live
  gateway.live.config = {
    ...config,
    auth: { ...config.auth, users: config.auth.users.filter((u) => u.username !== 'sven') },
  }
  lose(2)
  await pass(3 * minute)
  t.equal(sven.messages().length, 1)
})

t.test('a subscription that has ended at its service is removed', async (t) => {
  const { lose, pass, service, subscribe, gateway, admin } = await site(t)
  await subscribe(people.ada)
  service.behave(() => ({ status: 410 }))
  lose(1)
  await pass(2 * minute)
  t.equal(service.received.length, 1, 'it is not tried again')
  t.match((await admin('GET', '/api/alert-messages')).body.data, [
    { status: 'failed', lastError: 'HTTP 410: the subscription has ended', recipient: 'an ended subscription' },
  ])
  t.match((await gateway.ask('GET', '/api/push-subscriptions', { by: people.ada })).body, {
    subscriptions: { length: 0 },
  })
  t.equal((await gateway.ask('GET', '/api/health')).body.checks?.alerts?.status ?? 'healthy', 'healthy')
})

t.test('an address inside the network gets nothing, whoever names it', async (t) => {
  const { lose, pass, service, subscribe, admin } = await site(t, { webhooks: {} })
  await subscribe(people.olga)
  lose(1)
  await pass(2 * minute)
  t.equal(service.received.length, 0)
  t.match((await admin('GET', '/api/alert-messages')).body.data, [{ lastError: /127\.0\.0\.1 is/ }])
})

t.test('wrong subscriptions are refused', async (t) => {
  const { service, gateway } = await site(t)
  const right = service.subscribe().toJSON()
  const ask = (body: unknown) => gateway.ask('POST', '/api/push-subscriptions', { by: people.ada, body })
  for (const wrong of [
    { ...right, endpoint: right.endpoint.replace('https:', 'http:') },
    { ...right, endpoint: 'file:///etc/passwd' },
    { ...right, keys: { ...right.keys, p256dh: Buffer.alloc(65, 4).toString('base64url') } },
    { ...right, keys: { ...right.keys, auth: 'short' } },
  ])
    t.match(await ask(wrong), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } })
  t.equal((await gateway.ask('POST', '/api/push-subscriptions', { body: right })).status, 401)
})

t.test('endpoint and keys of a browser are not in the database as they are', async (t) => {
  const { subscribe, gateway } = await site(t)
  const { browser } = await subscribe(people.ada)
  const [row] = inFile<{ sealed: Buffer }>(gateway, 'SELECT * FROM push_subscription')
  t.notMatch(JSON.stringify(row?.sealed.toString('latin1')), /127\.0\.0\.1/)
  const { endpoint } = browser.toJSON()
  for (const name of readdirSync(join(gateway.folder, 'state')).filter((one) => one.startsWith('gatehouse.db')))
    t.notOk(readFileSync(join(gateway.folder, 'state', name)).includes(endpoint), name)
})

t.test('without a channel for it there is no key', async (t) => {
  const { gateway } = await site(t, { alerts: { channels: [] } })
  const { body } = await gateway.ask('GET', '/api/push-subscriptions', { by: people.ada })
  t.match(body, { publicKey: null, subscriptions: { length: 0 } })
  t.notOk(readdirSync(join(gateway.folder, 'state', 'keys')).includes('vapid.json'))
})

t.test('the test of a channel goes to the own browsers alone', async (t) => {
  const { subscribe, admin } = await site(t)
  const sven = await subscribe(people.sven)
  const test = () => admin('POST', '/api/alert-channels/push/test')
  t.match(await test(), { body: { error: { code: 'INVALID_TRANSITION' } } })
  const ada = await subscribe(people.ada)
  t.match(await test(), { status: 200, body: { results: [{ recipient: 'ada', sent: true }] } })
  t.match(ada.messages(), [{ title: 'test-site: test of alerts' }])
  t.strictSame(sven.messages(), [])
})

t.test('an erased person gets nothing more', async (t) => {
  const { subscribe, gateway } = await site(t)
  await subscribe(people.sven)
  await gateway.erasePerson({ name: 'sven', reason: 'request' } as never, 'root')
  t.strictSame(inFile(gateway, 'SELECT * FROM push_subscription'), [])
})

t.test('messages of a handheld end with the device, and a badge starts none', async (t) => {
  const viewers = ['piet', 'device:handheld-7']
  const { gateway, service, admin, lose, pass } = await site(t, {
    cameras: [camera(1, { viewers }), camera(2, { viewers })],
  })
  const { body: made } = await admin('POST', '/api/devices', { name: 'handheld-7' })
  const enrolled = async (code: string) => (await gateway.ask('POST', '/api/devices/enrol', { body: { code } })).body
  const device = await enrolled(made.enrolment.code)
  await admin('POST', '/api/operators', { username: 'piet', role: 'supervisor', badge: 'B-4711', pin: '2580' })
  const as = ({ username, secret, instance }: Record<string, string>) => ({
    headers: {
      Authorization: `Bearer ${secret}`,
      'X-Storage-Instance': `${instance}`,
      'X-Storage-Username': `${username}`,
    },
  })
  const subscribe = (who: Record<string, string>) =>
    gateway.ask('POST', '/api/push-subscriptions', { ...as(who), body: service.subscribe().toJSON() })
  const badge = { badge: 'B-4711', pin: '2580' }
  const { body: piet } = await gateway.ask('POST', '/api/devices/sign-in', { ...as(device), body: badge })
  t.match(await subscribe(piet), { status: 403, body: { error: { code: 'PERMISSION_DENIED' } } })
  t.match(await subscribe(device), { status: 200, body: { subscriptions: { length: 1 } } })
  lose(1)
  await pass(2 * minute)
  t.equal(service.received.length, 1)

  const { body: again } = await admin('POST', `/api/devices/${device.deviceId}/enrolment`)
  const found = await enrolled(again.enrolment.code)
  t.strictSame(inFile(gateway, 'SELECT * FROM push_subscription'), [], 'the secret of before is in other hands')
  t.equal((await subscribe(found)).status, 200)
  await admin('POST', `/api/devices/${device.deviceId}/revoke`)
  // The name of the stolen one goes on.
  const { body: next } = await admin('POST', '/api/devices', { name: 'handheld-7' })
  await enrolled(next.enrolment.code)
  lose(2)
  await pass(2 * minute)
  t.equal(service.received.length, 1)
})

t.test('a phone gets nothing more after the account was signed out everywhere', async (t) => {
  const { gateway, service, admin, lose, pass } = await site(t, { cameras: [camera(1, { viewers: ['nora'] })] })
  const { body: nora } = await admin('POST', '/api/accounts', { username: 'nora', role: 'supervisor' })
  const headers = {
    Authorization: `Bearer ${nora.secret}`,
    'X-Storage-Instance': gateway.live.config.site.url,
    'X-Storage-Username': 'nora',
  }
  const body = service.subscribe().toJSON()
  t.equal((await gateway.ask('POST', '/api/push-subscriptions', { headers, body })).status, 200)
  t.equal((await admin('POST', '/api/accounts/nora/reset')).status, 200)
  lose(1)
  await pass(2 * minute)
  t.strictSame(service.received, [])
  t.strictSame(inFile(gateway, 'SELECT * FROM push_subscription'), [])
})
