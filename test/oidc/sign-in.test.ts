import t from 'tap'
import { people } from '../support/gateway.ts'
import { ProviderBrowser } from '../support/provider.ts'
import {
  askByPage,
  beginSignIn,
  callerOf,
  cheapAccount,
  comeBack,
  signInAtProvider,
  siteWithProvider,
} from '../support/provider-site.ts'
import { waitUntil } from '../support/waiting.ts'

t.test('a person of the provider signs in with the role of the groups', async (t) => {
  const site = await siteWithProvider(t)
  const { back, jar } = await signInAtProvider(site, 'u-1', { returnTo: '/cameras?show=all' })
  t.match(back, { status: 303 })
  t.equal(back.headers.get('location'), '/cameras?show=all')
  t.match(await callerOf(site, jar), {
    username: /^nora~[a-z2-7]{12}$/,
    instance: `oidc:${site.provider.issuer}`,
    role: 'operator',
  })
  t.equal((await askByPage(site, jar, 'GET', '/api/whms/slots')).status, 200)
  t.equal((await askByPage(site, jar, 'GET', '/api/webhooks')).status, 403)
})

t.test('the last role of the groups counts, and without one the default', async (t) => {
  const site = await siteWithProvider(t, { auth: { defaultRole: 'auditor' } })
  const [first] = site.provider.people
  if (first) first.groups = ['wh-supervisors', 'wh-operators', '__proto__']
  t.match(await callerOf(site, (await signInAtProvider(site, 'u-1')).jar), { role: 'supervisor' })
  t.match(await callerOf(site, (await signInAtProvider(site, 'u-4')).jar), { role: 'auditor', username: /^u-4~/ })
})

t.test('groups are read where the config says, also below a claim and by a name with dots', async (t) => {
  for (const [groupsClaim, claims] of [
    ['realm_access.roles', { realm_access: { roles: ['wh-admins'] } }],
    ['https://example.com/groups', { 'https://example.com/groups': 'wh-admins' }],
  ] as const) {
    const configuration = {
      claims: { openid: ['sub'], profile: [Object.keys(claims)[0] ?? ''] },
      findAccount: () => ({ accountId: 'u-1', claims: async () => ({ sub: 'u-1', ...claims }) }),
    }
    const site = await siteWithProvider(t, { provider: { configuration }, entry: { groupsClaim } })
    t.match(await callerOf(site, (await signInAtProvider(site, 'u-1')).jar), { role: 'admin' }, groupsClaim)
  }
})

t.test('people of one name are two, and neither is an account, a device or a group of that name', async (t) => {
  const site = await siteWithProvider(t, {
    auth: { users: [cheapAccount('ada', 'admin'), cheapAccount('nora', 'viewer')] },
    gateway: { config: { warehouses: [{ id: 1, viewers: ['nora', 'device:nora'] }] } },
  })
  const { gateway } = site
  await gateway.ask('POST', '/api/whms/warehouses', {
    by: people.ada,
    body: { name: 'Hall', timezone: 'Europe/Berlin' },
  })
  const [one, other] = [await signInAtProvider(site, 'u-1'), await signInAtProvider(site, 'u-3')]
  const [nora, namesake] = [await callerOf(site, one.jar), await callerOf(site, other.jar)]
  t.not(nora.username, namesake.username)
  const seen = async (jar: Map<string, string>) =>
    (await askByPage(site, jar, 'GET', '/api/whms/warehouses')).body.data.length
  t.same([await seen(one.jar), await seen(other.jar)], [0, 0])
  const viewersAre = (viewers: string[]) => {
    gateway.live.config = { ...gateway.live.config, warehouses: [{ id: 1, viewers }] }
  }
  viewersAre([`${nora.username}@oidc:${site.provider.issuer}`])
  t.same([await seen(one.jar), await seen(other.jar)], [1, 0], 'the full form names one of them')
  viewersAre([`group:wh-supervisors@oidc:${site.provider.issuer}`])
  t.same([await seen(one.jar), await seen(other.jar)], [0, 1], 'and a group of the provider')
  viewersAre([`${nora.username}@${site.provider.issuer}`, `group:wh-operators@${site.provider.issuer}`, 'nora'])
  t.same([await seen(one.jar), await seen(other.jar)], [0, 0], 'a storage server at that address is another thing')
  const name = encodeURIComponent(`${nora.username}@${nora.instance}`)
  t.match(await gateway.ask('GET', `/api/sight?name=${name}`, { by: people.ada }), {
    status: 200,
    body: { role: 'operator', groups: ['staff', 'wh-operators'] },
  })
})

t.test('the headers of the document take no token of the provider', async (t) => {
  const site = await siteWithProvider(t)
  await signInAtProvider(site, 'u-1')
  for (const instance of [site.provider.issuer, `oidc:${site.provider.issuer}`]) {
    const headers = { Authorization: 'Bearer any', 'X-Storage-Instance': instance, 'X-Storage-Username': 'nora' }
    t.match(await site.gateway.ask('GET', '/api/whms/slots', { headers }), {
      status: 401,
      body: { error: { code: 'STORAGE_INSTANCE_NOT_ALLOWED' } },
    })
  }
})

t.test('the session is one of the console: it is listed, needs the token of its page, and ends', async (t) => {
  const site = await siteWithProvider(t, { auth: { users: [cheapAccount('ada', 'admin')] } })
  const { jar } = await signInAtProvider(site, 'u-1')
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  t.match(await site.gateway.ask('POST', '/api/whms/events', { headers: { Cookie: cookie }, body: {} }), {
    status: 403,
    body: { error: { code: 'CSRF_TOKEN_WRONG' } },
  })
  const { data } = (await site.gateway.ask('GET', '/api/sessions?all=true', { by: people.ada })).body
  const mine = data.find(({ instance }: { instance: string }) => instance === `oidc:${site.provider.issuer}`)
  t.match(mine, { username: /^nora~/ })
  t.equal((await site.gateway.ask('DELETE', `/api/sessions/${mine.id}`, { by: people.ada })).status, 204)
  t.equal((await askByPage(site, jar, 'GET', '/api/whms/slots')).status, 401)
})

t.test('a second sign-in of a browser ends its first session', async (t) => {
  const site = await siteWithProvider(t)
  const first = await signInAtProvider(site, 'u-1')
  const before = new Map(first.jar)
  await signInAtProvider(site, 'u-2', { jar: first.jar, browser: new ProviderBrowser(site.provider) })
  t.equal(await callerOf(site, before), null)
  t.match(await callerOf(site, first.jar), { role: 'admin' })
})

t.test('a role that needs a second factor needs the word of the provider about one', async (t) => {
  const site = await siteWithProvider(t, { auth: { secondFactor: { admin: 'required' } } })
  t.match(await callerOf(site, (await signInAtProvider(site, 'u-2')).jar), { role: 'admin' })
  const adele = site.provider.people[1]
  if (adele) adele.amr = ['pwd']
  const { back, jar } = await signInAtProvider(site, 'u-2')
  t.equal(back.headers.get('location'), '/sign-in?failed=factor')
  t.equal(await callerOf(site, jar), null)
  t.match(
    await callerOf(site, (await signInAtProvider(site, 'u-1')).jar),
    { role: 'operator' },
    'other roles need none',
  )
})

t.test('before secrets go out, the person signs in at the provider again', async (t) => {
  const site = await siteWithProvider(t)
  const { jar, browser } = await signInAtProvider(site, 'u-2')
  const makeAccount = (username: string) => askByPage(site, jar, 'POST', '/api/accounts', { username, role: 'viewer' })
  t.equal((await makeAccount('first')).status, 201, 'the sign-in was a moment ago')
  site.gateway.clock.advance(11 * 60_000)
  t.match(await makeAccount('second'), { status: 403, body: { error: { code: 'STEP_UP_REQUIRED' } } })
  const begin = () => askByPage(site, jar, 'POST', '/api/session/provider/step-up', { returnTo: '/people' })
  const begun = await begin()
  const asked = new URL(begun.body.location).searchParams
  t.same([asked.get('prompt'), asked.get('max_age')], ['login', '0'])
  const back = await comeBack(site, jar, await browser.open(begun.body.location, 'u-2'))
  t.equal(back.headers.get('location'), '/people')
  t.equal((await makeAccount('second')).status, 201)
  site.gateway.clock.advance(11 * 60_000)
  const again = await begin()
  const elsewhere = new ProviderBrowser(site.provider)
  const other = await comeBack(site, jar, await elsewhere.open(again.body.location, 'u-1'))
  t.equal(other.headers.get('location'), '/sign-in?failed=other-person')
  t.match(await makeAccount('third'), { status: 403, body: { error: { code: 'STEP_UP_REQUIRED' } } })
})

t.test('an account of the gateway has nothing to do at the provider', async (t) => {
  const site = await siteWithProvider(t, { auth: { users: [cheapAccount('ada', 'admin')] } })
  const answer = await site.gateway.ask('POST', '/api/session/provider/step-up', { by: people.ada, body: {} })
  t.match(answer, { status: 400, body: { error: { code: 'INVALID_TRANSITION' } } })
})

t.test('signing out here leads to signing out there', async (t) => {
  const site = await siteWithProvider(t)
  const { jar } = await signInAtProvider(site, 'u-1')
  const { status, body } = await askByPage(site, jar, 'POST', '/api/session/provider/sign-out', {})
  t.equal(status, 200)
  const there = new URL(body.location)
  t.equal(there.origin, site.provider.issuer)
  t.match(there.searchParams.get('id_token_hint'), /^[\w-]+\.[\w-]+\.[\w-]+$/)
  t.equal(there.searchParams.get('post_logout_redirect_uri'), 'http://127.0.0.1:8480/sign-in')
  t.equal(await callerOf(site, jar), null)
})

t.test('a provider that gives refresh tokens for offline_access alone is asked for it once', async (t) => {
  const site = await siteWithProvider(t, { provider: { onlyOffline: true } })
  const first = await signInAtProvider(site, 'u-1')
  t.match(await callerOf(site, first.jar), { role: 'operator' })
  const begun = await beginSignIn(site, new Map())
  t.match(new URL(begun.body.location).searchParams.get('scope'), /\boffline_access\b/, 'the next one asks at once')
})

t.test('a person is erased by the name that the audit trail shows, and signed out', async (t) => {
  const site = await siteWithProvider(t, { auth: { users: [cheapAccount('ada', 'admin')] } })
  const [{ jar }, namesake] = [await signInAtProvider(site, 'u-1'), await signInAtProvider(site, 'u-3')]
  const { username, instance } = await callerOf(site, jar)
  site.gateway.clock.advance(11 * 60_000)
  await waitUntil('the sign-in is in the trail', async () => {
    const { body } = await site.gateway.ask('GET', '/api/governance/audit?action=caller.signed_in', { by: people.ada })
    return body.data.some(({ actor }: { actor: string }) => actor === username)
  })
  const result = await site.gateway.erasePerson({ name: `${username}@${instance}`, texts: false }, 'root')
  t.match(result, { outcome: 'erased' })
  t.equal(await callerOf(site, jar), null)
  t.match(await callerOf(site, namesake.jar), { role: 'supervisor' }, 'the other person of that name stays')
})
