import t, { type Test } from 'tap'
import { createLogger } from '../../src/platform/index.ts'
import { siteUrl } from '../support/gateway.ts'
import { clientId, ProviderBrowser, startProvider } from '../support/provider.ts'
import {
  askByPage,
  beginSignIn,
  callerOf,
  comeBack,
  companyPeople,
  groupRoles,
  type Jar,
  type ProviderSite,
  signInAtProvider,
  siteWithProvider,
} from '../support/provider-site.ts'

const minute = 60
const nowSeconds = () => Math.floor(Date.now() / 1000)

/** Comes back with a right answer; the provider then gives this ID token. */
async function forged(
  site: ProviderSite,
  change: (claims: Record<string, unknown>) => object,
  header: object = {},
  begin = beginSignIn,
) {
  const { provider } = site
  const jar: Jar = new Map()
  const { location } = (await begin(site, jar)).body
  const back = await new ProviderBrowser(provider).open(location, 'u-1')
  const nonce = new URL(location).searchParams.get('nonce')
  const [iat, exp] = [nowSeconds(), nowSeconds() + 5 * minute]
  const claims = { iss: provider.issuer, aud: clientId, sub: 'u-1', nonce, iat, exp, groups: ['wh-admins'] }
  const id_token = provider.sign(change({ ...claims, preferred_username: 'nora' }), header)
  provider.answerInstead = (path) =>
    path === '/token'
      ? Response.json({ access_token: 'any', refresh_token: 'any', token_type: 'Bearer', id_token })
      : undefined
  const answer = await comeBack(site, jar, back)
  provider.answerInstead = undefined
  return { answer, caller: await callerOf(site, jar) }
}

t.test('a token that is not for this sign-in signs nobody in', async (t) => {
  const site = await siteWithProvider(t)
  const right = await forged(site, (claims) => claims)
  t.match(right.caller, { role: 'admin' }, 'the same token unchanged does')
  const hour = 60 * minute
  const cases = {
    'another audience': [() => ({ aud: 'another-program' }), 'token'],
    'audiences without us as the party': [() => ({ aud: [clientId, 'another'], azp: 'another' }), 'token'],
    'another issuer': [() => ({ iss: `${site.provider.issuer}/` }), 'token'],
    'another nonce': [() => ({ nonce: 'of an earlier sign-in' }), 'token'],
    'no nonce': [() => ({ nonce: undefined }), 'token'],
    'no subject': [() => ({ sub: undefined }), 'token'],
    expired: [() => ({ iat: nowSeconds() - hour, exp: nowSeconds() - 2 * minute }), 'clocks'],
    'not yet valid': [() => ({ nbf: nowSeconds() + 2 * minute }), 'clocks'],
    'groups left out, because there are too many': [
      () => ({ groups: undefined, _claim_names: { groups: 'src1' } }),
      'groups',
    ],
  } as const
  for (const [name, [change, reason]] of Object.entries(cases)) {
    const { answer, caller } = await forged(site, (claims) => ({ ...claims, ...change() }))
    t.equal(answer.headers.get('location'), `/sign-in?failed=${reason}`, name)
    t.equal(caller, null, name)
  }
  for (const header of [{ alg: 'none' }, { alg: 'HS256' }, { alg: 'RS256', kid: 'an unknown key' }]) {
    const { answer, caller } = await forged(site, (claims) => claims, header)
    t.equal(answer.headers.get('location'), '/sign-in?failed=token', JSON.stringify(header))
    t.equal(caller, null)
  }
})

t.test('clocks may differ by a minute', async (t) => {
  const site = await siteWithProvider(t)
  const late = { iat: nowSeconds() - 6 * minute, exp: nowSeconds() - 30 }
  t.match((await forged(site, (claims) => ({ ...claims, ...late }))).caller, { role: 'admin' })
})

t.test('a step-up needs a sign-in of now, whatever the browser was sent to', async (t) => {
  const site = await siteWithProvider(t)
  const { jar } = await signInAtProvider(site, 'u-1')
  const stepUp = (auth_time: number | undefined) =>
    forged(
      site,
      (claims) => ({ ...claims, auth_time }),
      {},
      async (_, fresh) => {
        for (const [name, value] of jar) fresh.set(name, value)
        return askByPage(site, fresh, 'POST', '/api/session/provider/step-up', {})
      },
    )
  const reasonOf = async (auth_time: number | undefined) => (await stepUp(auth_time)).answer.headers.get('location')
  t.equal(await reasonOf(nowSeconds() - 5 * minute), '/sign-in?failed=not-fresh')
  t.equal(await reasonOf(undefined), '/sign-in?failed=not-fresh', 'a provider that does not say when')
  t.equal(await reasonOf(nowSeconds()), '/')
})

t.test('an answer works once, in the browser that asked, in time', async (t) => {
  const site = await siteWithProvider(t)
  const { provider, gateway } = site
  const begun = async () => {
    const jar: Jar = new Map()
    const { location } = (await beginSignIn(site, jar)).body
    return { jar, back: await new ProviderBrowser(provider).open(location, 'u-1') }
  }
  const again = '/sign-in?failed=again'
  const whereTo = async (jar: Jar, back: string) => (await comeBack(site, jar, back)).headers.get('location')
  const used = await begun()
  const copy = new Map(used.jar)
  t.equal(await whereTo(used.jar, used.back), '/')
  t.equal(await whereTo(copy, used.back), again, 'replayed with its cookie')
  const restarted = await gateway.restart()
  t.teardown(() => restarted.end())
  const replayed = await comeBack({ gateway: restarted }, new Map(copy), used.back)
  t.equal(replayed.headers.get('location'), again, 'and after a restart, which the provider refuses')
  const [one, other] = [await begun(), await begun()]
  t.equal(await whereTo(new Map(), one.back), again, 'without a cookie')
  t.equal(await whereTo(other.jar, one.back), again, 'in another browser')
  t.equal(await whereTo(new Map([['gatehouse-provider', 'AAAA']]), one.back), again, 'a cookie of somebody else')
  t.equal(await whereTo((await begun()).jar, `${one.back.split('?')[0]}?code=x`), again, 'without state')
  const old = await begun()
  gateway.clock.advance(16 * 60_000)
  const late = new Map(old.jar)
  t.equal(await whereTo(old.jar, old.back), again, 'after a quarter of an hour')
  await gateway.clockBook.look()
  gateway.clock.setWall(gateway.clock.now() - 16 * 60_000)
  t.equal(await whereTo(late, old.back), again, 'also when the clock goes back')
})

t.test('who gives up at the provider is told so, and a program gets the documented error', async (t) => {
  const site = await siteWithProvider(t)
  const jar: Jar = new Map()
  const { location } = (await beginSignIn(site, jar)).body
  const back = await new ProviderBrowser(site.provider).open(location, 'nobody')
  const copy = new Map(jar)
  t.equal((await comeBack(site, jar, back)).headers.get('location'), '/sign-in?failed=denied')
  const { status, body } = await comeBack(site, copy, back, 'application/json')
  t.equal(status, 401)
  t.match(body, { success: false, error: { code: 'PROVIDER_SIGN_IN_FAILED', details: /begin it again/ } })
})

t.test('one provider cannot pass on the answer of another', async (t) => {
  const second = await startProvider(t, { people: companyPeople(), siteUrl })
  const site = await siteWithProvider(t, { auth: {} })
  const { gateway, provider } = site
  const oidc = [...gateway.live.config.auth.oidc, { ...second.entry, groupsClaim: 'groups', groupRoles }] as never
  gateway.live.config = { ...gateway.live.config, auth: { ...gateway.live.config.auth, oidc } }
  const begun = async (at: typeof second) => {
    const jar: Jar = new Map()
    const { location } = (await beginSignIn({ gateway, provider: at }, jar)).body
    return { jar, back: await new ProviderBrowser(at).open(location, 'u-1') }
  }
  const fine = await begun(second)
  t.equal((await comeBack(site, fine.jar, fine.back)).headers.get('location'), '/', 'both work')
  const before = second.requests.length
  const [ours, theirs] = [await begun(provider), await begun(second)]
  const query = (url: string) => new URL(url).search
  const stateOf = (url: string) => new URL(url).searchParams.get('state') ?? ''
  const mixed = new URL(`${second.redirectUri}${query(ours.back)}`)
  mixed.searchParams.set('state', stateOf(theirs.back))
  const failed = '/sign-in?failed=other-provider'
  const copy = new Map(theirs.jar)
  t.equal((await comeBack(site, theirs.jar, mixed.href)).headers.get('location'), failed, 'iss names the first')
  mixed.searchParams.delete('iss')
  t.equal((await comeBack(site, copy, mixed.href)).headers.get('location'), '/sign-in?failed=again')
  const own = await begun(second)
  const elsewhere = `${provider.redirectUri}${query(own.back)}`
  t.equal((await comeBack(site, own.jar, elsewhere)).headers.get('location'), failed, 'the address of the first')
  const asked = second.requests.slice(before).filter((one) => one.startsWith('POST /token'))
  t.same(asked, [], 'no code reached the wrong provider')
})

t.test('a provider without bounds or with redirects is one that does not answer', async (t) => {
  const filler = JSON.stringify({ filler: 'x'.repeat(300 * 1024) })
  const json = { 'content-type': 'application/json' }
  const answers = {
    'a redirect': () => new Response('', { status: 302, headers: { location: 'https://127.0.0.1:9/' } }),
    'more than its limit': () => new Response(filler, { headers: json }),
    'elements in elements': () => new Response(`{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`, { headers: json }),
    'no JSON': () => new Response('<html>maintenance</html>', { headers: { 'content-type': 'text/html' } }),
    'an error': () => new Response('no', { status: 500 }),
  }
  for (const [name, answer] of Object.entries(answers)) {
    const site = await siteWithProvider(t)
    site.provider.answerInstead = answer
    t.match(
      await beginSignIn(site, new Map()),
      { status: 503, body: { error: { code: 'AUTH_BACKEND_UNREACHABLE' } } },
      name,
    )
    site.provider.answerInstead = undefined
    t.match((await signInAtProvider(site, 'u-1')).back, { status: 303 }, `after ${name} it works again`)
  }
})

t.test('a wrong entry of the config is reported without blame of the person', async (t) => {
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line) })
  const site = await siteWithProvider(t, { entry: { clientId: 'unknown' }, gateway: { log } })
  const { location } = (await beginSignIn(site, new Map())).body
  await t.rejects(new ProviderBrowser(site.provider).open(location, 'u-1'), 'the provider shows its page')
  const other = await siteWithProvider(t, { gateway: { log } })
  const jar: Jar = new Map()
  const begun = await beginSignIn(other, jar)
  const back = await new ProviderBrowser(other.provider).open(begun.body.location, 'u-1')
  other.provider.answerInstead = (path) =>
    path === '/token' ? Response.json({ error: 'invalid_client' }, { status: 401 }) : undefined
  t.equal((await comeBack(other, jar, back)).headers.get('location'), '/sign-in?failed=setup')
  t.match(lines.join(''), /invalid_client/, 'the log says why')
})

t.test('nobody is sent to another site after the sign-in', async (t) => {
  const site = await siteWithProvider(t)
  const elsewhere = [
    ...['https://evil.example/', '//evil.example/', '/\\evil.example/', '\\\\evil.example', 'javascript:alert(1)'],
    ...[
      '/api/governance/audit',
      '/assets/x',
      'cameras',
      '/..//evil.example',
      '/\tx',
      'http://127.0.0.1:8480/cameras',
      '',
    ],
  ]
  for (const returnTo of elsewhere) {
    const { status, body } = await beginSignIn(site, new Map(), { returnTo })
    t.equal(status, 400, JSON.stringify(returnTo))
    t.equal(body.error.code, 'VALIDATION_ERROR')
  }
  t.match(await beginSignIn(site, new Map(), { issuer: 'https://evil.example' }), {
    status: 400,
    body: { error: { fields: [{ path: 'issuer' }] } },
  })
})

t.test('the sign-in begins at site.url alone, where its cookie comes back', async (t) => {
  const site = await siteWithProvider(t)
  const { status, body } = await site.gateway.ask('POST', '/api/session/provider', {
    headers: { Host: 'localhost:8480' },
    body: { issuer: site.provider.issuer },
  })
  t.match({ status, details: body.error.details }, { status: 400, details: `open ${siteUrl} and sign in there` })
})

t.test('nothing secret is in the log or the audit trail', async (t: Test) => {
  const lines: string[] = []
  const log = createLogger({ write: (line) => lines.push(line), level: 'trace' })
  const site = await siteWithProvider(t, { gateway: { log } })
  const { jar } = await signInAtProvider(site, 'u-1')
  await forged(site, (claims) => ({ ...claims, aud: 'another' }))
  const begun: Jar = new Map()
  const { location } = (await beginSignIn(site, begun)).body
  const back = await new ProviderBrowser(site.provider).open(location, 'u-1')
  site.provider.answerInstead = (path) => (path === '/token' ? new Response('no', { status: 500 }) : undefined)
  t.match((await comeBack(site, begun, back)).headers.get('location'), /unreachable/)
  site.gateway.clock.advance(5 * 60_000)
  await callerOf(site, jar)
  const text = lines.join('\n')
  t.match(text, /provider/)
  const { searchParams } = new URL(back)
  for (const secret of [searchParams.get('code'), searchParams.get('state'), ...jar.values(), 'eyJ', 'the secret of']) {
    t.notOk(text.includes(secret ?? ''), `${secret}`)
  }
})
