import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import t, { type Test } from 'tap'
import { basic, byCloud, cloudFor } from '../support/cloud.ts'
import { type Answer, type Ask, cheapHash, people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'

/** How often a secret was hashed at length. */
let slowHashes = 0
const { scrypt } = crypto
crypto.scrypt = ((...args: Parameters<typeof scrypt>) => {
  slowHashes += 1
  return scrypt(...args)
}) as typeof scrypt
syncBuiltinESMExports()

/** Returns the answer as an unknown caller sees it, and the number of slow hashes it took. */
async function costOf(asked: Promise<Answer>) {
  const before = slowHashes
  const { status, body } = await asked
  const { code, message, details } = body?.error ?? {}
  return { status, code, message, details, slowHashes: slowHashes - before }
}

const headers = (username: string, secret: string, instance = siteUrl) => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': instance,
  'X-Storage-Username': username,
})

async function hall(t: Test) {
  const users = [
    { username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') },
    { username: 'cut-off', role: 'operator', secretHash: 'scrypt:16384:8:1:c2FsdHNhbHQ' },
    { username: 'odd-cost', role: 'operator', secretHash: `scrypt:3:8:1:c2FsdHNhbHQ:${'A'.repeat(43)}` },
  ]
  const gateway = await testGateway({ config: { auth: { users } } })
  t.teardown(() => gateway.end())
  const admin = (method: string, path: string, body?: unknown) => gateway.ask(method, path, { by: people.ada, body })
  const enrolled = async (name: string) => {
    const made = await admin('POST', '/api/devices', { name })
    const { body } = await gateway.ask('POST', '/api/devices/enrol', { body: { code: made.body.enrolment.code } })
    return { id: made.body.id, secret: body.secret as string }
  }
  const device = await enrolled('handheld-7')
  const revoked = await enrolled('handheld-8')
  await admin('POST', `/api/devices/${revoked.id}/revoke`)
  await admin('POST', '/api/devices', { name: 'handheld-9' })
  for (const [username, badge] of [
    ['piet', 'B-1'],
    ['paul', 'B-2'],
  ])
    await admin('POST', '/api/operators', { username, badge, pin: '2580' })
  await admin('POST', '/api/operators/2/revoke')
  return { gateway, device }
}

/** Every name that the gateway knows, in whatever way, and one that it does not. */
const names = ['nobody', 'ada', 'cut-off', 'odd-cost', 'handheld-7', 'handheld-8', 'handheld-9', 'piet', 'paul']

const ways: Record<string, (gateway: TestGateway, username: string, secret: string) => Promise<Answer>> = {
  'a bearer token': (gateway, username, secret) =>
    gateway.ask('GET', '/api/whms/slots', { headers: headers(username, secret) }),
  'a password': (gateway, username, secret) =>
    gateway.ask('GET', '/api/whms/slots', {
      headers: { ...headers(username, secret), Authorization: basic(username, secret) },
    }),
  'the console': (gateway, username, secret) => gateway.ask('POST', '/api/session', { body: { username, secret } }),
}

for (const [way, ask] of Object.entries(ways)) {
  t.test(`a wrong secret costs one slow hash, whoever has the name: ${way}`, async (t) => {
    const { gateway } = await hall(t)
    const cost = (username: string, secret: string) => costOf(ask(gateway, username, secret))
    for (const username of names) {
      t.match(await cost(username, 'a-guess'), { status: 401, code: 'INVALID_CREDENTIALS', slowHashes: 1 }, username)
      t.match(await cost(username, 'a-guess'), { status: 401, slowHashes: 0 }, `${username}, the same again`)
      t.same(await cost(username, 'b-guess'), await cost('somebody-else', `b-${username}`), `${username}: same words`)
    }
  })
}

t.test('a wrong PIN costs one slow hash, whoever has the badge', async (t) => {
  const { gateway, device } = await hall(t)
  for (const badge of ['nobody', 'B-1', 'B-2']) {
    const ask: Ask = { headers: headers('handheld-7', device.secret), body: { badge, pin: '0000' } }
    const cost = await costOf(gateway.ask('POST', '/api/devices/sign-in', ask))
    t.match(cost, { status: 401, code: 'INVALID_CREDENTIALS', slowHashes: 1 }, badge)
  }
})

t.test('what is refused before any secret is looked at costs no slow hash, whoever has the name', async (t) => {
  const { gateway } = await hall(t)
  for (const username of names) {
    const of = (path: string, more: Record<string, string>) => costOf(gateway.ask('GET', path, { headers: more }))
    const elsewhere = await of('/api/whms/slots', headers(username, 'a-guess', 'https://other.example'))
    t.match(elsewhere, { code: 'STORAGE_INSTANCE_NOT_ALLOWED', slowHashes: 0 }, username)
    const session = { username, secret: 'a-guess', instance: 'https://other.example' }
    t.same(
      await costOf(gateway.ask('POST', '/api/session', { body: session })),
      await costOf(gateway.ask('POST', '/api/session', { body: { ...session, username: 'nobody' } })),
      username,
    )
    const twoNames = { ...headers(username, ''), Authorization: basic('another', 'a-guess') }
    t.match(await of('/api/whms/slots', twoNames), { code: 'USER_MISMATCH', slowHashes: 0 }, username)
  }
  for (const asked of [
    gateway.ask('GET', '/api/whms/slots?signed=AAAA'),
    gateway.ask('GET', '/api/whms/slots', { headers: { Cookie: 'gatehouse_session=AAAA' } }),
    gateway.ask('POST', '/api/devices/enrol', { body: { code: 'a-guess' } }),
  ])
    t.match(await costOf(asked), { status: 401, slowHashes: 0 })
})

t.test('a storage server is asked as often for a name that signed in before as for one of nobody', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  t.equal((await gateway.ask('GET', '/api/whms/slots', byCloud(server, 'adele'))).status, 200)
  const cost = async (username: string, way: string) => {
    const before = server.requests.length
    const spent = await costOf(gateway.ask('GET', '/api/whms/slots', byCloud(server, username, way)))
    return { ...spent, asked: server.requests.slice(before).map(({ scheme }) => scheme) }
  }
  const ofAdele = await cost('adele', 'Bearer a-guess')
  t.match(ofAdele, { status: 401, slowHashes: 0, asked: ['bearer', 'basic'] })
  t.same(await cost('nobody', 'Bearer a-guess'), ofAdele)
  t.same(await cost('nobody', basic('nobody', 'b guess')), await cost('adele', basic('adele', 'b guess')))
})
