import t from 'tap'
import {
  answerFrom,
  auditOfCallers,
  basic,
  byCloud,
  type Cloud,
  cloudFor,
  cloudUsers,
  inFile,
  look,
  lookFrom,
  until,
} from '../support/cloud.ts'
import { people, siteUrl } from '../support/gateway.ts'

const minuteMs = 60_000
const freshMs = 5 * minuteMs

async function yard(t: Parameters<typeof cloudFor>[0], options: Parameters<typeof cloudFor>[1] = {}): Promise<Cloud> {
  const cloud = await cloudFor(t, options)
  t.teardown(() => cloud.gateway.end())
  return cloud
}

/** Users whose login is not their id: an e-mail address, and a login of a directory. */
const users = () => [
  ...cloudUsers(),
  {
    id: 'lena',
    groups: [],
    password: 'lena login',
    appPasswords: ['lena-app-password'],
    appPasswordsByEmail: ['lena-mail-app-password'],
    email: 'Lena.Ost@example.com',
  },
  { id: 'c5e1-77', groups: [], password: 'dora login', appPasswords: ['dora-app-password'], logins: ['dora'] },
]

const signIn = ({ gateway, server }: Cloud, username: string, secret: string) =>
  gateway.ask('POST', '/api/session', { body: { username, secret, instance: server.url } })

/** A password of no one, from an address that no one else uses. */
const guess = ({ server }: Cloud, gateway: Cloud['gateway'], n: number) =>
  lookFrom(gateway, `10.0.${n}.1`, byCloud(server, `nobody-${n}`, basic(`nobody-${n}`, `a guess ${n}`)))

t.test('who mistypes and then gets in takes nothing from colleagues behind the same address', async (t) => {
  const { server, gateway } = await yard(t)
  const from = (name: string, secret: string) =>
    lookFrom(gateway, '10.0.0.9', byCloud(server, name, basic(name, secret)))
  for (const round of [1, 2, 3]) {
    for (const name of ['otto', 'selma', 'adele']) {
      for (const typo of ['a', 'b']) t.equal(await from(name, `${name} logim ${round}${typo}`), 401)
      t.equal(await from(name, `${name} login`), 200, `${name} gets in, however often the others mistyped`)
      gateway.clock.advance(freshMs)
    }
  }
  t.notOk(server.isLockedOut)
  t.equal(await from('gast', 'gast login'), 200)
})

t.test('a right account password passes although colleagues behind its address still mistype', async (t) => {
  const { server, gateway } = await yard(t)
  const from = (name: string, secret: string) =>
    lookFrom(gateway, '10.0.0.9', byCloud(server, name, basic(name, secret)))
  for (const name of ['otto', 'selma', 'adele']) {
    for (const typo of ['a', 'b']) t.equal(await from(name, `${name} logim ${typo}`), 401)
  }
  t.equal(await from('gast', 'gast login'), 200, 'six wrong ones behind one address are not hers')
  t.equal(await from('otto', 'otto login'), 200)
})

t.test('once too many passwords were wrong, the answer says so, and what comes in at once', async (t) => {
  const cloud = await yard(t)
  const { server, gateway } = cloud
  for (let n = 0; n < 12; n += 1) await guess(cloud, gateway, n)
  const asGast = (authorization?: string) => byCloud(server, 'gast', authorization)
  const spent = await answerFrom(gateway, '10.0.99.1', asGast(basic('gast', 'gast login')))
  t.match(spent, { status: 503, code: 'SIGN_IN_TRIES_SPENT', details: /application password/ })
  const page = await signIn(cloud, 'adele', 'adele login')
  t.match(page, { status: 503, body: { error: { code: 'SIGN_IN_TRIES_SPENT' } } }, 'the page is told the same')
  t.notOk(server.isLockedOut)
  t.equal(await lookFrom(gateway, '10.0.99.1', asGast()), 200, 'an application password')
  const known = await lookFrom(gateway, '10.0.99.1', asGast(basic('gast', 'gast login')))
  t.equal(known, 200, 'the name is known by now, and some tries are kept for such')
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.storage, { status: 'healthy' })
})

t.test('who has mistyped too often is told that, and not that the server is away', async (t) => {
  const { server, gateway } = await yard(t)
  const from = (secret: string) => answerFrom(gateway, '10.0.0.9', byCloud(server, 'otto', basic('otto', secret)))
  for (let n = 0; n < 5; n += 1) t.match(await from(`a guess ${n}`), { status: 401 })
  t.match(await from('otto login'), { status: 429, code: 'RATE_LIMITED', details: /application password/ })
})

t.test('the tries that the server counts are remembered over a restart', async (t) => {
  const cloud = await cloudFor(t)
  const { server } = cloud
  let { gateway } = cloud
  for (let n = 0; n < 24; n += 1) {
    if (n % 4 === 3) gateway = await gateway.restart()
    await guess(cloud, gateway, n)
  }
  t.teardown(() => gateway.end())
  t.notOk(server.isLockedOut, 'seven runs, one budget')
  t.equal(server.asked('basic'), 7)
  await auditOfCallers(gateway)
  const rows = inFile<{ login_mark: string }>(gateway, 'SELECT * FROM storage_try')
  t.equal(rows.length, 7)
  t.notMatch(JSON.stringify(rows), 'nobody', 'a login may be a secret in the wrong field')
  gateway.clock.advance(31 * minuteMs)
  t.equal(await guess(cloud, gateway, 100), 401, 'and half an hour later they are forgotten on both sides')
  await auditOfCallers(gateway)
  t.equal(inFile(gateway, 'SELECT * FROM storage_try').length, 1)
})

t.test('a clock set back by a reboot has no try forgotten', async (t) => {
  const cloud = await cloudFor(t)
  const { gateway: before } = cloud
  for (let n = 0; n < 7; n += 1) await guess(cloud, before, n)
  before.clock.setWall(before.clock.now() - 24 * 60 * minuteMs)
  const gateway = await before.restart()
  t.teardown(() => gateway.end())
  t.equal(await guess(cloud, gateway, 8), 503)
})

t.test('what got no answer counts, because the server has counted it', async (t) => {
  const cloud = await yard(t)
  const { server, gateway } = cloud
  server.misbehave('hang')
  for (let n = 0; n < 20; n += 1) {
    const asked = server.requests.length
    let isOver = false
    const answer = guess(cloud, gateway, n).finally(() => {
      isOver = true
    })
    await until(() => isOver || server.requests.length > asked)
    // Given up after five seconds; then until the breaker lets one through again.
    gateway.clock.advance(5000)
    t.equal(await answer, 503)
    gateway.clock.advance(minuteMs)
  }
  t.notOk(server.isLockedOut)
  t.equal(server.asked('basic'), 7)
})

t.test('nobody who is known waits for a server that hangs, and the question goes on beside', async (t) => {
  const { server, gateway } = await yard(t)
  const asAdele = byCloud(server, 'adele')
  t.equal((await look(gateway, asAdele)).status, 200)
  gateway.clock.advance(freshMs)
  server.misbehave('hang')
  const timers = gateway.clock.waiting
  const first = look(gateway, asAdele)
  await until(() => server.requests.length === 2 && gateway.clock.waiting === timers + 2)
  gateway.clock.advance(500)
  t.equal((await first).status, 200, 'half a second, and what was said last serves')
  for (let n = 0; n < 3; n += 1) t.equal((await look(gateway, asAdele)).status, 200, 'the next wait no more')
  const withheld = await gateway.ask('GET', '/api/webhooks', asAdele)
  t.match(withheld, { status: 403, body: { error: { details: /try again/ } } }, 'but not as an admin')
  t.equal(server.requests.length, 2, 'still the same question')
  server.release()
  await until(() => gateway.clock.waiting === timers)
  t.equal((await gateway.ask('GET', '/api/webhooks', asAdele)).status, 200, 'it was answered beside')
  t.equal(server.requests.length, 2)
  t.match((await auditOfCallers(gateway)).at(-1), { actor: 'adele', mode: 'offline-cache' })
})

t.test('a credential that was taken away ends with the slow answer, and a stranger waits for it', async (t) => {
  const { server, gateway } = await yard(t)
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
  gateway.clock.advance(freshMs)
  const otto = server.users.find(({ id }) => id === 'otto')
  if (otto) otto.appPasswords = []
  server.misbehave('hang')
  const timers = gateway.clock.waiting
  const known = look(gateway, byCloud(server, 'otto'))
  const stranger = look(gateway, byCloud(server, 'selma'))
  await until(() => server.requests.length === 3 && gateway.clock.waiting === timers + 3)
  gateway.clock.advance(500)
  t.equal((await known).status, 200)
  server.release()
  t.equal((await stranger).status, 200)
  await until(() => gateway.clock.waiting === timers)
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 401)
})

t.test('a server that is slow for a minute is told as slow, and then as well again', async (t) => {
  const { server, gateway } = await yard(t)
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
  const slowly = async () => {
    gateway.clock.advance(freshMs)
    const timers = gateway.clock.waiting
    const asked = server.requests.length
    server.misbehave('hang')
    const answer = look(gateway, byCloud(server, 'otto'))
    await until(() => server.requests.length === asked + 1 && gateway.clock.waiting === timers + 2)
    gateway.clock.advance(2500)
    server.release()
    t.equal((await answer).status, 200)
    await until(() => gateway.clock.waiting === timers)
  }
  await slowly()
  t.match(gateway.storageUsers.status(), { down: 0, slow: 0 }, 'once is nothing')
  await slowly()
  const { slow, down, troubles } = gateway.storageUsers.status()
  t.same([slow, down], [1, 0])
  t.match(troubles, [{ instance: server.url, kind: 'slow', why: 'answered after 2.5 s' }])
  const degraded = { status: 'degraded', checks: { storage: { status: 'degraded' } } }
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body, degraded)
  gateway.clock.advance(freshMs)
  t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
  t.match(gateway.storageUsers.status(), { down: 0, slow: 0, troubles: { length: 0 } })
})

t.test('who signs in by e-mail or by another login is who the server says', async (t) => {
  const { server, gateway } = await yard(t, { server: { users: users() } })
  const mail = 'lena.ost@example.com'
  const ask = async (name: string, authorization: string) =>
    (await look(gateway, byCloud(server, name, authorization))).status
  for (const [name, login, secret] of [
    [mail, mail, 'lena login'],
    ['lena', mail, 'lena login'],
    [mail, 'lena', 'lena login'],
    [mail, mail, 'lena-mail-app-password'],
    [mail, 'lena', 'lena-app-password'],
    ['LENA', 'LENA', 'lena login'],
    ['dora', 'dora', 'dora login'],
    ['dora', 'dora', 'dora-app-password'],
    ['c5e1-77', 'dora', 'dora-app-password'],
  ] as const) {
    t.equal(await ask(name, basic(login, secret)), 200, `${name} as ${login} by ${secret}`)
  }
  t.equal(await ask(mail, 'Bearer lena-app-password'), 200, 'the answer to a token tells the address too')
  await auditOfCallers(gateway)
  t.same(
    inFile(gateway, 'SELECT DISTINCT username FROM known_caller ORDER BY username'),
    [{ username: 'c5e1-77' }, { username: 'lena' }],
    'two people, by their ids',
  )
  t.equal(await ask('adele', basic('lena', 'lena login')), 401, 'but no other name')
})

t.test('a bearer token that comes without a login has to name the id', async (t) => {
  const { server, gateway } = await yard(t, { server: { users: users() } })
  const { status, body } = await look(gateway, byCloud(server, 'dora', 'Bearer dora-app-password'))
  t.match({ status, body }, { status: 401, body: { error: { details: /send X-Storage-Username: c5e1-77/ } } })
  t.equal(server.asked('basic'), 0, 'and is tried as no password')
})

t.test(
  'another name with a right secret learns what to send without an alarm, and the server is asked once',
  async (t) => {
    const { server, gateway } = await yard(t)
    const ask = () => look(gateway, byCloud(server, 'adele', basic('adele', 'otto-app-password')))
    const { status, body } = await ask()
    const calm = { code: 'USER_MISMATCH', message: 'The secret belongs to another user name' }
    t.match({ status, body }, { status: 401, body: { error: calm } })
    t.match(body.error.details, 'send X-Storage-Username: otto')
    const asked = server.requests.length
    for (let n = 0; n < 5; n += 1) t.equal((await ask()).status, 401)
    t.equal(server.requests.length, asked, 'remembered')
    t.equal((await look(gateway, byCloud(server, 'otto'))).status, 200)
    await auditOfCallers(gateway)
    t.same(inFile(gateway, 'SELECT username FROM known_caller'), [{ username: 'otto' }])
  },
)

t.test('two names in one request of a local account are told apart before anybody is asked', async (t) => {
  const { server, gateway } = await yard(t)
  const headers = { ...byCloud(server, 'vera', basic('ada', 'vera-secret')).headers, 'X-Storage-Instance': siteUrl }
  t.match((await look(gateway, { headers })).body.error, {
    code: 'USER_MISMATCH',
    details: /"ada".*"vera".*same name in both/,
  })
  t.equal(server.requests.length, 0)
})

t.test('a session of who signed in by e-mail or by another login goes on like any other', async (t) => {
  const cloud = await yard(t, { server: { users: users() } })
  for (const [typed, secret, id] of [
    [' lena.ost@example.com ', 'lena login', 'lena'],
    ['dora', 'dora login', 'c5e1-77'],
    ['dora ', 'dora-app-password', 'c5e1-77'],
    [' otto', 'otto login', 'otto'],
  ] as const) {
    const { status, body, headers } = await signIn(cloud, typed, secret)
    t.match({ status, body }, { status: 201, body: { caller: { username: id } } }, typed)
    const Cookie = headers.getSetCookie()[0]?.split(';')[0] ?? ''
    cloud.gateway.clock.advance(freshMs)
    t.equal((await look(cloud.gateway, { headers: { Cookie } })).status, 200, 'also when the server is asked again')
  }
})

t.test('who names a wrong instance is told which are right', async (t) => {
  const { server, gateway } = await yard(t)
  const ask = async (instance: string) => {
    const { headers } = byCloud(server, people.vera.username)
    return (await look(gateway, { headers: { ...headers, 'X-Storage-Instance': instance } })).body.error
  }
  t.match(await ask('https://cloud.elsewhere.example'), {
    code: 'STORAGE_INSTANCE_NOT_ALLOWED',
    details: `"https://cloud.elsewhere.example" is none of them: send ${siteUrl} or ${server.url}`,
  })
  const { details } = await ask('https://otto:otto-app-password@cloud.example')
  t.notMatch(details, 'otto-app-password')
})
