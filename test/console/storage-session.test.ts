import t from 'tap'
import { auditOfCallers, type Cloud, cloudFor, inFile } from '../support/cloud.ts'
import { people, siteUrl } from '../support/gateway.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** The credentials that a browser has after a sign-in. */
type Browser = { readonly cookie: string; readonly csrfToken: string }

async function signIn({ gateway, server }: Cloud, username: string, secret = `${username.toLowerCase()}-app-password`) {
  const answer = await gateway.ask('POST', '/api/session', { body: { username, secret, instance: server.url } })
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return { answer, browser: { cookie, csrfToken: answer.body.csrfToken } as Browser }
}

const fromThePage = ({ cookie, csrfToken }: Browser) => ({ headers: { Cookie: cookie, 'X-CSRF-Token': csrfToken } })
const statusOf = async ({ gateway }: Cloud, browser: Browser, path = '/api/whms/slots') =>
  (await gateway.ask('GET', path, fromThePage(browser))).status

t.test('a user of the storage server signs in at the console with the role of the groups', async (t) => {
  const cloud = await cloudFor(t)
  t.teardown(() => cloud.gateway.end())
  t.match((await cloud.gateway.ask('GET', '/api/session')).body, {
    instance: siteUrl,
    storageInstances: [cloud.server.url],
  })
  const { answer, browser } = await signIn(cloud, 'adele')
  t.match(answer, { status: 201, body: { caller: { username: 'adele', role: 'admin', instance: cloud.server.url } } })
  t.equal(await statusOf(cloud, browser, '/api/webhooks'), 200)
  t.equal(cloud.server.requests.length, 1, 'the secret was asked for once')
  cloud.gateway.clock.advance(10 * 60_000)
  t.match(await auditOfCallers(cloud.gateway), [{ action: 'caller.signed_in', actor: 'adele', mode: 'session' }])
})

t.test('a name typed with a capital is the name that the server knows', async (t) => {
  const cloud = await cloudFor(t)
  t.teardown(() => cloud.gateway.end())
  const { answer, browser } = await signIn(cloud, 'Otto')
  t.match(answer, { status: 201, body: { caller: { username: 'otto', role: 'operator' } } })
  t.equal(await statusOf(cloud, browser), 200)
  const others = await signIn(cloud, 'Otto', 'selma-app-password')
  t.match(others.answer, { status: 401, body: { error: { code: 'USER_MISMATCH' } } })
})

t.test('a session follows the groups of its user, and ends with the credential', async (t) => {
  const cloud = await cloudFor(t)
  t.teardown(() => cloud.gateway.end())
  const { browser } = await signIn(cloud, 'adele')
  const adele = cloud.server.users.find(({ id }) => id === 'adele')
  if (adele) adele.groups = ['wh-operators']
  cloud.gateway.clock.advance(5 * minuteMs)
  t.equal(await statusOf(cloud, browser, '/api/webhooks'), 403, 'no admin any more')
  t.equal(await statusOf(cloud, browser), 200)
  if (adele) adele.appPasswords = []
  cloud.gateway.clock.advance(5 * minuteMs)
  t.match(await cloud.gateway.ask('GET', '/api/whms/slots', fromThePage(browser)), {
    status: 401,
    body: { error: { code: 'SESSION_ENDED' } },
  })
  if (adele) adele.appPasswords = ['adele-app-password']
  t.equal(await statusOf(cloud, browser), 401, 'and it does not come back')
  t.same(inFile(cloud.gateway, 'SELECT * FROM console_session_secret'), [])
})

t.test('an outage ends no session, and makes no admin', async (t) => {
  const cloud = await cloudFor(t)
  t.teardown(() => cloud.gateway.end())
  const { browser } = await signIn(cloud, 'adele')
  cloud.server.misbehave('maintenance')
  cloud.gateway.clock.advance(5 * minuteMs)
  t.equal(await statusOf(cloud, browser), 200)
  t.equal(await statusOf(cloud, browser, '/api/webhooks'), 403)
  t.match((await cloud.gateway.ask('GET', '/api/session', fromThePage(browser))).body.caller, {
    role: 'supervisor',
    withheld: /^acts of an admin wait/,
  })
  t.match((await auditOfCallers(cloud.gateway)).at(-1), { actor: 'adele', mode: 'offline-cache' })
  cloud.gateway.clock.advance(8 * hourMs)
  t.equal(await statusOf(cloud, browser), 200)
  cloud.gateway.clock.advance(4 * hourMs)
  t.match(
    await cloud.gateway.ask('GET', '/api/whms/slots', fromThePage(browser)),
    { status: 503, body: { error: { code: 'AUTH_BACKEND_UNREACHABLE' } } },
    'nobody can tell any more',
  )
  cloud.server.misbehave(undefined)
  cloud.gateway.clock.advance(minuteMs)
  t.equal(await statusOf(cloud, browser, '/api/webhooks'), 200, 'and goes on when somebody can')
  const { caller } = (await cloud.gateway.ask('GET', '/api/session', fromThePage(browser))).body
  t.equal(caller.role, 'admin')
  t.notOk('withheld' in caller)
})

t.test('a restart signs nobody out, and the file opens no credential without the cookie', async (t) => {
  const before = await cloudFor(t)
  const { browser } = await signIn(before, 'otto')
  const gateway = await before.gateway.restart()
  t.teardown(() => gateway.end())
  const cloud = { server: before.server, gateway }
  t.equal(await statusOf(cloud, browser), 200)
  const rows = inFile<Record<string, unknown>>(gateway, 'SELECT * FROM console_session_secret')
  t.equal(rows.length, 1)
  const token = browser.cookie.slice('gatehouse='.length)
  for (const value of rows.flatMap((row) => Object.values(row))) {
    t.notOk((value as Buffer).includes('otto-app-password') || (value as Buffer).includes(token))
  }
  t.equal((await gateway.ask('DELETE', '/api/session', fromThePage(browser))).status, 204)
  t.same(inFile(gateway, 'SELECT * FROM console_session_secret'), [], 'signing out takes it along')
})

t.test('an instance that nobody configured is none at the console either', async (t) => {
  const cloud = await cloudFor(t)
  t.teardown(() => cloud.gateway.end())
  for (const instance of ['https://evil.example', `${cloud.server.url}/x`]) {
    const body = { username: 'otto', secret: 'otto-app-password', instance }
    t.match(await cloud.gateway.ask('POST', '/api/session', { body }), {
      status: 401,
      body: { error: { code: 'STORAGE_INSTANCE_NOT_ALLOWED' } },
    })
  }
  t.equal(cloud.server.requests.length, 0)
  const { server, gateway } = cloud
  const local = { username: people.ada.username, secret: 'otto-app-password', instance: server.url }
  t.equal((await gateway.ask('POST', '/api/session', { body: local })).status, 401, 'nor somebody else’s credential')
})
