import { Agent, request } from 'node:http'
import t, { type Test } from 'tap'
import { HttpListener } from '../../src/http/index.ts'
import { basic, byCloud, cloudFor } from '../support/cloud.ts'
import { cheapHash, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

type Sent = Record<string, string>

/** Asks over one connection that stays open. Returns the status, or the code of the refusal. */
async function oneConnection(t: Test, gateway: TestGateway) {
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  const port = await listener.start()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const sockets = new Set<unknown>()
  t.teardown(async () => {
    agent.destroy()
    await listener.stop()
    gateway.end()
  })
  const ask = (headers: Sent, path = '/api/whms/zones', method = 'GET') =>
    new Promise<number | string>((resolve, reject) => {
      const asked = request({ agent, port, path, method, headers }, async (answer) => {
        sockets.add(answer.socket)
        const { error } = JSON.parse(Buffer.concat(await answer.toArray()).toString('utf8'))
        resolve(error?.code ?? answer.statusCode)
      })
      asked.once('error', reject).end()
    })
  return { ask, sockets }
}

t.test('each request of a connection is its own sender\u2019s, whoever sent the one before', async (t) => {
  const { ask, sockets } = await oneConnection(t, await testGateway())
  const olga = signedIn(people.olga)
  const asOlga = { 'X-Storage-Username': 'olga' }
  t.equal(await ask(olga), 200)
  t.equal(await ask(olga, '/api/webhooks'), 'PERMISSION_DENIED')
  t.equal(await ask(signedIn(people.ada), '/api/webhooks'), 200)
  t.equal(await ask(olga, '/api/webhooks'), 'PERMISSION_DENIED')
  t.equal(await ask({}), 'AUTH_REQUIRED')
  t.equal(await ask(signedIn(people.ada, asOlga)), 'INVALID_CREDENTIALS', 'another name with the same secret')
  t.equal(await ask({ ...olga, Authorization: 'Bearer a-guess' }), 'INVALID_CREDENTIALS')
  t.equal(
    await ask(signedIn(people.ada, { 'X-Storage-Instance': 'https://other.example' })),
    'STORAGE_INSTANCE_NOT_ALLOWED',
  )
  t.equal(await ask({ ...olga, Authorization: basic('olga', 'olga-secret') }), 200)
  t.equal(await ask({ ...signedIn(people.ada), Authorization: basic('olga', 'olga-secret') }), 'USER_MISMATCH')
  t.equal(await ask(olga), 200)
  t.equal(sockets.size, 1)
})

t.test(
  'a changed secret, a lesser role and a removed account count at the next request of an open connection',
  async (t) => {
    const gateway = await testGateway()
    const { ask, sockets } = await oneConnection(t, gateway)
    const { ada } = people
    const reload = (users: readonly object[]) => {
      const { config } = gateway.live
      gateway.live.config = { ...config, auth: { ...config.auth, users } } as typeof config
    }
    const account = { username: 'ada', secretHash: cheapHash('ada-secret') }
    t.equal(await ask(signedIn(ada), '/api/webhooks'), 200)
    reload([{ ...account, role: 'viewer' }])
    t.equal(await ask(signedIn(ada), '/api/webhooks'), 'PERMISSION_DENIED')
    reload([{ ...account, role: 'admin', secretHash: cheapHash('another secret') }])
    t.equal(await ask(signedIn(ada), '/api/webhooks'), 'INVALID_CREDENTIALS')
    reload([{ ...account, role: 'admin' }])
    t.equal(await ask(signedIn(ada), '/api/webhooks'), 200)
    reload([])
    t.equal(await ask(signedIn(ada), '/api/webhooks'), 'INVALID_CREDENTIALS')
    t.equal(sockets.size, 1)
  },
)

t.test(
  'a storage user on an open connection has the role of the groups and of the config as they are now',
  async (t) => {
    const { server, gateway } = await cloudFor(t)
    const { ask, sockets } = await oneConnection(t, gateway)
    const { headers } = byCloud(server, 'adele')
    const webhooks = () => ask(headers, '/api/webhooks')
    t.same([await webhooks(), await webhooks()], [200, 200])
    const { config } = gateway.live
    gateway.live.config = { ...config, auth: { ...config.auth, groupRoles: {} } }
    t.equal(await webhooks(), 'PERMISSION_DENIED', 'a reload')
    gateway.live.config = config
    t.equal(await webhooks(), 200)
    const [adele] = server.users.filter(({ id }) => id === 'adele')
    if (adele) adele.groups = []
    gateway.clock.advance(config.auth.freshFor + 1)
    t.equal(await webhooks(), 'PERMISSION_DENIED', 'the group was taken')
    server.users.splice(0)
    gateway.clock.advance(config.auth.freshFor + 1)
    t.equal(await webhooks(), 'INVALID_CREDENTIALS', 'the credential was taken')
    t.equal(sockets.size, 1)
  },
)

t.test('a handheld that is revoked is out at the next request of its open connection', async (t) => {
  const gateway = await testGateway()
  const { ask, sockets } = await oneConnection(t, gateway)
  const by = people.ada
  const made = await gateway.ask('POST', '/api/devices', { by, body: { name: 'handheld-7' } })
  const { code } = made.body.enrolment
  const { body } = await gateway.ask('POST', '/api/devices/enrol', { body: { code } })
  const handheld = signedIn({ username: 'handheld-7', role: 'operator' }, { Authorization: `Bearer ${body.secret}` })
  t.same([await ask(handheld), await ask(handheld)], [200, 200])
  t.equal(await ask({ ...handheld, Authorization: 'Bearer a-guess' }), 'INVALID_CREDENTIALS')
  t.equal(await ask(handheld), 200)
  await gateway.ask('POST', `/api/devices/${made.body.id}/revoke`, { by })
  t.equal(await ask(handheld), 'INVALID_CREDENTIALS')
  t.equal(sockets.size, 1)
})
