import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { auditOfCallers, basic, byCloud, cloudFor, inFile, look, lookFrom, until } from '../support/cloud.ts'
import { people } from '../support/gateway.ts'
import { type Misbehaviour, StorageServer } from '../support/storage-server.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

t.test(
  'an application password lets its user in, as bearer or as Basic, with the role of the highest group',
  async (t) => {
    const { server, gateway } = await cloudFor(t)
    t.teardown(() => gateway.end())
    const photoBy = async (ask: object) =>
      (await gateway.ask('POST', '/api/whms/evidence/photos', { bytes: 'x', ...ask })).status
    t.equal((await look(gateway, byCloud(server, 'gast'))).status, 200, 'no group: the default role')
    t.equal(await photoBy(byCloud(server, 'gast')), 403)
    t.equal(await photoBy(byCloud(server, 'otto', basic('otto', 'otto-app-password'))), 415, 'an operator may send one')
    t.equal(
      (await gateway.ask('GET', '/api/webhooks', byCloud(server, 'selma'))).status,
      403,
      'the highest is supervisor',
    )
    t.equal((await gateway.ask('GET', '/api/webhooks', byCloud(server, 'adele'))).status, 200)
    t.equal(
      (await look(gateway, byCloud(server, 'gast', basic('gast', 'gast login')))).status,
      200,
      'as the server says',
    )
    const [first] = server.requests
    t.match(first, { method: 'GET', path: '/ocs/v2.php/cloud/user', scheme: 'bearer' })
    t.match(first?.headers, { 'ocs-apirequest': 'true', accept: 'application/json' })
    t.same(
      server.requests.filter(({ scheme }) => scheme === 'basic').length,
      1,
      'only what is no bearer token is asked as Basic',
    )
  },
)

t.test('whatever scheme was presented, the secret is asked as bearer first and then once as Basic', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  server.users.push({ id: 'lena', groups: [], password: 'a-login-password', tokens: ['an-oauth-token'] })
  t.equal((await look(gateway, byCloud(server, 'lena', 'Bearer a-login-password'))).status, 200)
  t.same(
    server.requests.map(({ scheme }) => scheme),
    ['bearer', 'basic'],
  )
  t.equal((await look(gateway, byCloud(server, 'lena', basic('lena', 'an-oauth-token')))).status, 200)
  t.same(
    server.requests.map(({ scheme }) => scheme),
    ['bearer', 'basic', 'bearer'],
  )
})

t.test('only a configured server is ever asked, whatever a caller names', async (t) => {
  const other = await StorageServer.start({
    users: [{ id: 'adele', groups: ['wh-admins'], tokens: ['adele-app-password'] }],
  })
  t.teardown(() => other.stop())
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  const status = async (instance: string) => {
    const { headers } = byCloud(server, 'adele')
    const answer = await look(gateway, { headers: { ...headers, 'X-Storage-Instance': instance } })
    return answer.status === 200 ? 200 : answer.body.error.code
  }
  for (const same of [server.url, `${server.url}/`, server.url.toUpperCase().replace('HTTP', 'http')])
    t.equal(await status(same), 200, same)
  for (const instance of [
    other.url,
    `${server.url}.evil.example`,
    `${server.url}@${new URL(other.url).host}`,
    `${server.url}/sub`,
    `${server.url}?a=b`,
    `${server.url}#a`,
    `${server.url}\\@${new URL(other.url).host}`,
    server.url.replace('http:', 'https:'),
    server.url.replace('127.0.0.1', 'localhost'),
    server.url.replace(/\d$/, ''),
    `${other.url}/?x=${server.url}`,
    'file:///etc/passwd',
    'null',
  ]) {
    t.equal(await status(instance), 'STORAGE_INSTANCE_NOT_ALLOWED', instance)
  }
  t.equal(other.requests.length, 0)
})

t.test('an answer that leads elsewhere is not followed', async (t) => {
  const elsewhere = await StorageServer.start({
    users: [{ id: 'adele', groups: ['wh-admins'], tokens: ['adele-app-password'] }],
  })
  t.teardown(() => elsewhere.stop())
  const { server, gateway } = await cloudFor(t, {
    server: { redirectTo: `${elsewhere.url}/ocs/v2.php/cloud/user?format=json` },
  })
  t.teardown(() => gateway.end())
  server.misbehave('redirect')
  t.match(await look(gateway, byCloud(server, 'adele')), {
    status: 503,
    body: { error: { code: 'AUTH_BACKEND_UNREACHABLE' } },
  })
  t.equal(elsewhere.requests.length, 0)
})

t.test('a credential is asked for once in five minutes, however many requests come at once', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  const burst = async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => look(gateway, byCloud(server, 'otto'))))
    t.ok(answers.every(({ status }) => status === 200))
  }
  await burst()
  t.equal(server.requests.length, 1)
  gateway.clock.advance(5 * minuteMs - 1)
  await burst()
  t.equal(server.requests.length, 1, 'fresh for five minutes')
  gateway.clock.advance(1)
  await burst()
  t.equal(server.requests.length, 2)
})

t.test('a wrong secret is asked for once in ten minutes, and hides no right one', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  const wrong = () => look(gateway, byCloud(server, 'otto', 'Bearer guess'))
  const refused = { status: 401, body: { error: { code: 'INVALID_CREDENTIALS' } } }
  for (let n = 0; n < 5; n += 1) t.match(await wrong(), refused)
  t.equal(server.requests.length, 2, 'as bearer and as Basic')
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200, 'his own secret is another matter')
  gateway.clock.advance(10 * minuteMs)
  t.match(await wrong(), refused)
  t.equal(server.asked('basic'), 2, 'asked again')
})

t.test('somebody else’s credential is nobody’s but that one’s', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  const mismatch = { status: 401, body: { error: { code: 'USER_MISMATCH' } } }
  for (let n = 0; n < 2; n += 1) {
    t.match(await look(gateway, byCloud(server, 'adele', 'Bearer otto-app-password')), mismatch, 'also from memory')
  }
  t.match(await look(gateway, byCloud(server, 'adele', basic('otto', 'otto-app-password'))), mismatch)
  t.match(await look(gateway, byCloud(server, 'adele', basic('otto', 'otto login'))), mismatch)
  t.equal((await look(gateway, byCloud(server, 'otto', basic('OTTO', 'otto login')))).status, 200)
})

const misbehaviours: Misbehaviour[] = [
  'maintenance',
  'untrusted host',
  'html',
  'no json',
  'wrong shape',
  'redirect',
  'reset',
  'huge',
  { status: 429 },
  { status: 412 },
  { status: 403 },
  { status: 404 },
  { status: 500, body: 'oops' },
  { status: 502 },
  { status: 503, headers: { 'Retry-After': '7' } },
  { status: 200, body: '[]' },
  { status: 204 },
]

for (const how of misbehaviours) {
  t.test(`a server that cannot tell says nobody is wrong: ${JSON.stringify(how)}`, async (t) => {
    const { server, gateway } = await cloudFor(t)
    t.teardown(() => gateway.end())
    t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
    server.misbehave(how)
    gateway.clock.advance(5 * minuteMs)
    const stranger = await look(gateway, byCloud(server, 'selma'))
    t.match(stranger, { status: 503, body: { error: { code: 'AUTH_BACKEND_UNREACHABLE' } } }, 'nothing is known of her')
    t.ok(Number(stranger.headers.get('retry-after')) >= 1)
    t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200, 'he was verified before')
    server.misbehave(undefined)
    gateway.clock.advance(minuteMs)
    t.equal((await look(gateway, byCloud(server, 'selma'))).status, 200, 'and nobody was remembered as wrong')
  })
}

for (const how of ['hang', 'hang-body'] as const) {
  t.test(`a server that does not finish is given up after five seconds: ${how}`, async (t) => {
    const { server, gateway } = await cloudFor(t)
    t.teardown(() => gateway.end())
    server.misbehave(how)
    const asked = look(gateway, byCloud(server, 'otto'))
    await until(() => server.requests.length === 1)
    gateway.clock.advance(5000)
    t.match(await asked, { status: 503, body: { error: { code: 'AUTH_BACKEND_UNREACHABLE' } } })
  })
}

t.test('health waits half a second for who asks, and then answers as to a stranger', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  server.misbehave('hang')
  const asked = gateway.ask('GET', '/api/health', byCloud(server, 'otto'))
  await until(() => server.requests.length === 1)
  gateway.clock.advance(500)
  const { status, body } = await asked
  t.strictSame([status, 'logKey' in body], [200, false])
})

t.test('an outage: who was verified goes on for twelve hours, told as such, and never as an admin', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  const admin = () => gateway.ask('GET', '/api/webhooks', byCloud(server, 'adele'))
  t.equal((await admin()).status, 200)
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
  await server.stop()
  gateway.clock.advance(5 * minuteMs)
  const withheld = await admin()
  t.match(withheld, { status: 403, body: { error: { code: 'PERMISSION_DENIED', details: /storage server/ } } })
  t.equal((await look(gateway, byCloud(server, 'adele'))).status, 200, 'but the rest she may')
  const warehouse = { name: 'Hall', timezone: 'UTC' }
  t.match(
    await gateway.ask('POST', '/api/whms/warehouses', { body: warehouse, ...byCloud(server, 'adele') }),
    { status: 403 },
    'nor anything else that only an admin may',
  )
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
  const entries = await auditOfCallers(gateway)
  t.match(entries, [
    { action: 'caller.verified', actor: 'adele', mode: 'storage', changes: { role: 'admin' } },
    { action: 'caller.verified', actor: 'otto', mode: 'storage' },
    { action: 'caller.verified', actor: 'adele', mode: 'offline-cache', changes: { role: 'supervisor' } },
    { action: 'caller.verified', actor: 'otto', mode: 'offline-cache' },
  ])
  gateway.clock.advance(12 * hourMs - 5 * minuteMs)
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200, 'to the minute')
  gateway.clock.advance(1)
  t.match(await look(gateway, byCloud(server, 'otto')), {
    status: 503,
    body: { error: { code: 'AUTH_BACKEND_UNREACHABLE' } },
  })
  t.equal((await look(gateway, { by: people.vera })).status, 401, 'this site has no local accounts')
})

t.test('the box reboots while the server is down, and the floor goes on', async (t) => {
  const { server, gateway: before } = await cloudFor(t)
  for (const name of ['otto', 'adele']) await look(before, byCloud(server, name))
  await auditOfCallers(before)
  await server.stop()
  before.clock.advance(hourMs)
  const gateway = await before.restart()
  t.teardown(() => gateway.end())
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
  t.equal(
    (await gateway.ask('POST', '/api/whms/evidence/photos', { bytes: 'x', ...byCloud(server, 'otto') })).status,
    415,
  )
  t.equal((await gateway.ask('GET', '/api/webhooks', byCloud(server, 'adele'))).status, 403, 'no admin')
  t.equal(
    (await look(gateway, byCloud(server, 'otto', 'Bearer guess'))).status,
    503,
    'a guess is not told from an outage',
  )
  const stored = JSON.stringify(
    inFile<Record<string, unknown>>(gateway, 'SELECT hex(id) AS id, * FROM known_credential').map((row) =>
      Object.values(row).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : value)),
    ),
  )
  t.notMatch(stored, 'app-password', 'the file holds no secret')
  gateway.clock.advance(11 * hourMs + 1)
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 503, 'twelve hours, not twelve hours from the reboot')
})

t.test('what an earlier run has learned of a caller is asked again before anything only an admin may do', async (t) => {
  const { server, gateway: before } = await cloudFor(t)
  await look(before, byCloud(server, 'adele'))
  await auditOfCallers(before)
  const gateway = await before.restart()
  t.teardown(() => gateway.end())
  t.equal((await gateway.ask('GET', '/api/webhooks', byCloud(server, 'adele'))).status, 200)
  t.equal(server.requests.length, 2)
})

t.test('a credential that got too old in an outage stays so when the clock is back after a restart', async (t) => {
  const { server, gateway: before } = await cloudFor(t)
  await before.clockBook.start()
  t.equal((await look(before, byCloud(server, 'otto'))).status, 200)
  await auditOfCallers(before)
  t.equal(inFile(before, 'SELECT * FROM known_credential').length, 1)
  const startMs = before.clock.now()
  await server.stop()
  before.clock.advance(13 * hourMs)
  await before.clockBook.look()
  t.equal((await look(before, byCloud(server, 'otto'))).status, 503)
  await before.clockBook.stop()
  before.clock.setWall(startMs)
  const gateway = await before.restart()
  t.teardown(() => gateway.end())
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 503)
})

t.test('a clock that has lost its time makes nobody’s credential old or young', async (t) => {
  const { server, gateway: before } = await cloudFor(t)
  await look(before, byCloud(server, 'otto'))
  await auditOfCallers(before)
  await server.stop()
  before.clock.setWall(before.clock.now() - 24 * hourMs)
  const gateway = await before.restart()
  t.teardown(() => gateway.end())
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 503)
})

t.test(
  'a credential that was revoked ends at once when the server says so, and no outage brings it back',
  async (t) => {
    const { server, gateway: before } = await cloudFor(t)
    await look(before, byCloud(server, 'otto'))
    const otto = server.users.find(({ id }) => id === 'otto')
    if (otto) otto.appPasswords = []
    before.clock.advance(5 * minuteMs)
    t.equal((await look(before, byCloud(server, 'otto'))).status, 401)
    t.equal(
      server.asked('basic'),
      0,
      'a token that the server took is no password: nothing counts against its lock-out',
    )
    before.clock.advance(10 * minuteMs)
    t.match((await auditOfCallers(before)).at(-1), { action: 'caller.refused' })
    t.ok(
      (await auditOfCallers(before)).some(
        ({ action, operator }) => action === 'caller.credential_ended' && operator === 'otto',
      ),
    )
    t.same(inFile(before, 'SELECT * FROM known_credential'), [])
    await server.stop()
    const gateway = await before.restart()
    t.teardown(() => gateway.end())
    t.equal((await look(gateway, byCloud(server, 'otto'))).status, 503)
  },
)

t.test('a user whom the server has switched off is out', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  await look(gateway, byCloud(server, 'otto'))
  const otto = server.users.find(({ id }) => id === 'otto')
  if (otto) otto.disabled = true
  gateway.clock.advance(5 * minuteMs)
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 401)
})

t.test('strangers’ guesses never bring the server to lock a colleague out', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  for (let n = 0; n < 40; n += 1) {
    const guess = byCloud(server, 'otto', basic('otto', `guess ${n}`))
    t.ok([401, 429, 503].includes(await lookFrom(gateway, `10.0.${n % 4}.9`, guess)), 'no, or not now')
  }
  t.ok(server.asked('basic') <= 8, `${server.asked('basic')} of ten`)
  t.equal(await lookFrom(gateway, '10.0.0.9', byCloud(server, 'otto')), 200, 'from the stranger’s own address')
  t.equal(await lookFrom(gateway, '10.0.7.1', byCloud(server, 'selma', basic('selma', 'selma-app-password'))), 200)
})

t.test('a server that fails is left alone, asked by one request now and then, and health says so', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  await look(gateway, byCloud(server, 'otto'))
  server.misbehave({ status: 500 })
  gateway.clock.advance(5 * minuteMs)
  const before = server.requests.length
  for (let n = 0; n < 10; n += 1) t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
  t.equal(server.requests.length, before + 3, 'three failures are enough')
  t.equal(
    (await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.storage.status,
    'healthy',
    'not at once',
  )
  gateway.clock.advance(5000)
  await Promise.all(Array.from({ length: 10 }, () => look(gateway, byCloud(server, 'otto'))))
  t.equal(server.requests.length, before + 4, 'one finds out for all')
  gateway.clock.advance(55_000)
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body, {
    status: 'degraded',
    checks: { storage: { status: 'degraded' } },
  })
  const local = gateway.live.config
  gateway.live.config = { ...local, auth: { ...local.auth, defaultRole: 'admin' } }
  server.misbehave(undefined)
  t.equal((await look(gateway, byCloud(server, 'gast'))).status, 200)
  t.equal((await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.storage.status, 'healthy')
  const metrics = (await gateway.ask('GET', '/api/metrics', byCloud(server, 'gast'))).text
  t.match(metrics, /^gatehouse_storage_verifications_total\{outcome="verified"\} 2$/m)
  t.match(metrics, /^gatehouse_storage_verifications_total\{outcome="stale"\} \d+$/m)
  t.match(metrics, /^gatehouse_storage_breakers_open 0$/m)
})

t.test('an outage is known before somebody meets it', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  t.teardown(() => gateway.storageUsers.stop())
  server.misbehave('maintenance')
  const idle = gateway.clock.waiting + 1
  gateway.storageUsers.start()
  for (let n = 1; n <= 3; n += 1) {
    gateway.clock.advance(n === 1 ? 0 : 30_000)
    await until(() => server.requests.length === n && gateway.clock.waiting === idle)
  }
  t.match(gateway.storageUsers.status(), { down: 1 })
  t.ok(
    server.requests.every(({ scheme }) => scheme === 'none'),
    'without anybody’s credential',
  )
})

t.test('a group given or taken counts at the next verification, and is told in the audit trail', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  await look(gateway, byCloud(server, 'gast'))
  const gast = server.users.find(({ id }) => id === 'gast')
  if (gast) gast.groups = ['wh-admins']
  t.equal((await gateway.ask('GET', '/api/webhooks', byCloud(server, 'gast'))).status, 403)
  gateway.clock.advance(5 * minuteMs)
  t.equal((await gateway.ask('GET', '/api/webhooks', byCloud(server, 'gast'))).status, 200)
  t.match(
    (await auditOfCallers(gateway)).filter(({ action }) => action === 'caller.role_changed'),
    [{ operator: 'gast', changes: { from: 'viewer', to: 'admin' } }],
  )
  const { config } = gateway.live
  gateway.live.config = { ...config, auth: { ...config.auth, groupRoles: {} } }
  t.equal((await gateway.ask('GET', '/api/webhooks', byCloud(server, 'gast'))).status, 403, 'a reload counts at once')
  gateway.live.config = { ...config, storage: { ...config.storage, instances: [] } }
  t.match(await look(gateway, byCloud(server, 'gast')), {
    status: 401,
    body: { error: { code: 'STORAGE_INSTANCE_NOT_ALLOWED' } },
  })
})

t.test('groups of the server open a camera and a warehouse at every door', async (t) => {
  const { server, gateway } = await cloudFor(t, {
    gateway: {
      config: {
        cameras: [
          { id: 1, name: 'Dock', url: 'rtsp://127.0.0.1:1/a', viewers: ['wh-operators'], enabled: false },
          { id: 2, name: 'Cage', url: 'rtsp://127.0.0.1:1/b', viewers: ['selma'], enabled: false },
          { id: 3, name: 'Gate', url: 'rtsp://127.0.0.1:1/c', owner: 'gast', enabled: false },
        ],
        warehouses: [{ id: 1, viewers: ['wh-supervisors'] }],
      },
    },
  })
  t.teardown(() => gateway.end())
  const hall = { name: 'Hall', timezone: 'UTC' }
  t.equal((await gateway.ask('POST', '/api/whms/warehouses', { body: hall, ...byCloud(server, 'adele') })).status, 201)
  const seen = async (name: string) => {
    const ask = byCloud(server, name)
    const list = await gateway.ask('GET', '/api/iot/cctv', ask)
    const ids = list.body.data.map(({ id }: { id: number }) => id)
    for (const id of [1, 2, 3]) {
      const status = (path: string) => gateway.ask('GET', path, ask).then((answer) => answer.status)
      t.equal(
        await status(`/api/iot/detection/motion-stream?cctvId=${id}`),
        ids.includes(id) ? 200 : 404,
        `${name} ${id}`,
      )
      t.equal(await status(`/api/iot/detection-events?cctvId=${id}`), ids.includes(id) ? 200 : 404, `${name} ${id}`)
    }
    return ids
  }
  t.same(await seen('otto'), [1])
  t.same(await seen('selma'), [1, 2])
  t.same(await seen('gast'), [3])
  t.same(await seen('adele'), [1, 2, 3])
  const halls = async (name: string) =>
    (await gateway.ask('GET', '/api/whms/warehouses', byCloud(server, name))).body.data.length
  t.same([await halls('otto'), await halls('selma'), await halls('adele')], [0, 1, 1])
})

t.test('a server with a certificate of the company is trusted by its own authority only', async (t) => {
  const ca = join(tmpdir(), `gatehouse-ca-${process.pid}.pem`)
  const { server, gateway } = await cloudFor(t, { server: { tls: true }, ca })
  t.teardown(() => gateway.end())
  writeFileSync(ca, server.caPem)
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
  const stranger = await StorageServer.start({ users: server.users, tls: true })
  t.teardown(() => stranger.stop())
  const { config } = gateway.live
  gateway.live.config = { ...config, storage: { ...config.storage, instances: [{ url: stranger.url, caFile: ca }] } }
  t.equal((await look(gateway, byCloud(stranger, 'otto'))).status, 503, 'another certificate')
  gateway.live.config = { ...config, storage: { ...config.storage, instances: [{ url: stranger.url, caFile: null }] } }
  gateway.clock.advance(minuteMs)
  t.equal((await look(gateway, byCloud(stranger, 'otto'))).status, 503, 'no public authority knows it')
  t.equal(stranger.requests.length, 0, 'and it has heard no secret')
})

t.test('who came in, how and from where stands in the audit trail once a shift', async (t) => {
  const { server, gateway } = await cloudFor(t)
  t.teardown(() => gateway.end())
  for (let n = 0; n < 3; n += 1) await lookFrom(gateway, '10.0.0.7', byCloud(server, 'otto'))
  await lookFrom(gateway, '10.0.0.8', byCloud(server, 'otto'))
  gateway.clock.advance(12 * hourMs)
  await lookFrom(gateway, '10.0.0.8', byCloud(server, 'otto'))
  const verified = (address: string) => ({ action: 'caller.verified', actor: 'otto', mode: 'storage', address })
  t.match(await auditOfCallers(gateway), [verified('10.0.0.7'), verified('10.0.0.8'), verified('10.0.0.8')])
})
