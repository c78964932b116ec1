import { readFileSync } from 'node:fs'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { people } from '../support/gateway.ts'
import { askByPage, callerOf, cheapAccount, signInAtProvider, siteWithProvider } from '../support/provider-site.ts'
import { waitUntil } from '../support/waiting.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const down = () => new Response('no', { status: 503 })

t.test('who is disabled or signed out at the provider is signed out here within freshFor', async (t) => {
  for (const [how, options] of [
    ['with refresh tokens', {}],
    // No refresh token, whatever is asked for: the access token asks again.
    [
      'without',
      { configuration: { issueRefreshToken: async () => false }, client: { grant_types: ['authorization_code'] } },
    ],
  ] as const) {
    const site = await siteWithProvider(t, { provider: options })
    const { provider, gateway } = site
    const [one, other] = [await signInAtProvider(site, 'u-1'), await signInAtProvider(site, 'u-2')]
    gateway.clock.advance(5 * minuteMs)
    t.match(await callerOf(site, one.jar), { role: 'operator' }, `${how}: still there`)
    const nora = provider.people[0]
    if (nora) nora.isDisabled = true
    t.match(await callerOf(site, one.jar), { role: 'operator' }, 'an answer is fresh for five minutes')
    gateway.clock.advance(5 * minuteMs)
    t.match(await askByPage(site, one.jar, 'GET', '/api/whms/slots'), { status: 401 }, `${how}: disabled`)
    if (nora) nora.isDisabled = false
    t.equal(await callerOf(site, one.jar), null, 'and it does not come back')
    t.match(await callerOf(site, other.jar), { role: 'admin' })
    provider.endSignIns()
    gateway.clock.advance(5 * minuteMs)
    t.equal(await callerOf(site, other.jar), null, `${how}: signed out`)
  }
})

t.test('the role follows the groups of the provider', async (t) => {
  const site = await siteWithProvider(t)
  const { jar } = await signInAtProvider(site, 'u-2')
  const adele = site.provider.people[1]
  if (adele) adele.groups = ['wh-admins-renamed']
  site.gateway.clock.advance(5 * minuteMs)
  t.match(await callerOf(site, jar), { role: 'viewer' })
})

t.test('a refresh token is used once, by requests at once and one after the other', async (t) => {
  const site = await siteWithProvider(t)
  const { provider, gateway } = site
  const { jar } = await signInAtProvider(site, 'u-1')
  for (let round = 1; round <= 3; round += 1) {
    gateway.clock.advance(5 * minuteMs)
    const before = provider.requests.length
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => askByPage(site, new Map(jar), 'GET', '/api/whms/slots')),
    )
    t.same([...new Set(answers.map(({ status }) => status))], [200])
    t.same(
      provider.requests.slice(before).filter((one) => one.includes('/token')),
      ['POST /token'],
    )
  }
})

t.test('an outage of the provider ends no session and makes no admin', async (t) => {
  const site = await siteWithProvider(t, { auth: { users: [cheapAccount('ada', 'admin')] } })
  const { provider, gateway } = site
  const { jar } = await signInAtProvider(site, 'u-2')
  provider.answerInstead = down
  gateway.clock.advance(5 * minuteMs)
  t.match(await callerOf(site, jar), { role: 'supervisor', withheld: /^acts of an admin wait/ })
  t.equal((await askByPage(site, jar, 'GET', '/api/webhooks')).status, 403)
  gateway.clock.advance(11 * hourMs)
  t.equal((await askByPage(site, jar, 'GET', '/api/whms/slots')).status, 200)
  const { data } = (await gateway.ask('GET', '/api/governance/audit?action=caller.verified', { by: people.ada })).body
  t.ok(
    data.some(
      (row: { actor: string; authMode: string }) => /^adele~/.test(row.actor) && row.authMode === 'offline-cache',
    ),
  )
  gateway.clock.advance(2 * hourMs)
  const Cookie = [...jar].map((one) => one.join('=')).join('; ')
  t.match(await gateway.ask('GET', '/api/whms/slots', { headers: { Cookie } }), {
    status: 503,
    body: { error: { code: 'AUTH_BACKEND_UNREACHABLE' } },
  })
  const before = provider.requests.length
  await askByPage(site, jar, 'GET', '/api/whms/slots')
  t.equal(provider.requests.length, before, 'a silent provider is left alone for a while')
  provider.answerInstead = undefined
  gateway.clock.advance(minuteMs)
  t.match(await callerOf(site, jar), { role: 'admin' })
})

t.test('a sign-in during an outage says so, and a known provider is not discovered again', async (t) => {
  const site = await siteWithProvider(t)
  const { provider, gateway } = site
  await signInAtProvider(site, 'u-1')
  const discoveries = () => provider.requests.filter((one) => one.includes('.well-known')).length
  t.equal(discoveries(), 1)
  await signInAtProvider(site, 'u-2')
  t.equal(discoveries(), 1, 'discovery is remembered')
  const keys = provider.requests.filter((one) => one.includes('jwks')).length
  t.equal(keys, 1, 'and so are the keys')
  await provider.stop()
  gateway.clock.advance(2 * hourMs)
  const body = { issuer: provider.issuer }
  t.equal((await gateway.ask('POST', '/api/session/provider', { body })).status, 200, 'the old answer serves')
  const restarted = await gateway.restart()
  t.teardown(() => restarted.end())
  t.match(await restarted.ask('POST', '/api/session/provider', { body }), {
    status: 503,
    body: { error: { code: 'AUTH_BACKEND_UNREACHABLE' } },
  })
})

t.test('a restart signs nobody out, and the file has no token', async (t) => {
  const site = await siteWithProvider(t)
  const { provider } = site
  const { jar } = await signInAtProvider(site, 'u-1')
  const gateway = await site.gateway.restart()
  t.teardown(() => gateway.end())
  gateway.clock.advance(5 * minuteMs)
  t.match(await callerOf({ gateway }, jar), { role: 'operator' })
  const file = readFileSync(databaseFile(gateway.live.config.dataDir))
  for (const word of ['refreshToken', 'idToken', 'eyJ']) t.notOk(file.includes(word), word)
  gateway.live.config = { ...gateway.live.config, auth: { ...gateway.live.config.auth, oidc: [] } }
  t.equal(await callerOf({ gateway }, jar), null, 'a provider that is taken out of the config vouches for nobody')
  t.ok(provider.requests.length > 0)
})

t.test('an outage is in health after a minute, and its end without a sign-in', async (t) => {
  const site = await siteWithProvider(t, { auth: { users: [cheapAccount('ada', 'admin')] } })
  const { provider, gateway } = site
  const { jar } = await signInAtProvider(site, 'u-1')
  provider.answerInstead = down
  gateway.clock.advance(5 * minuteMs)
  await callerOf(site, jar)
  gateway.clock.advance(minuteMs)
  await gateway.health.look()
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body, {
    status: 'degraded',
    checks: { storage: { status: 'degraded', reason: /OpenID provider has not answered/ } },
  })
  provider.answerInstead = undefined
  gateway.providerPeople.start()
  t.teardown(() => gateway.providerPeople.stop())
  gateway.clock.advance(30_000)
  await waitUntil('the provider is well', () => gateway.providerPeople.wellness()[0]?.answers === true)
  await gateway.health.look()
  t.equal((await gateway.ask('GET', '/api/health', { by: people.ada })).body.status, 'healthy')
})
