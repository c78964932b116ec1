import type { Role } from '../../src/config/index.ts'
import { type Answer, cheapHash, siteUrl, type TestGateway, type TestGatewayOptions, testGateway } from './gateway.ts'
import { ProviderBrowser, type ProviderPerson, type RunningProvider, startProvider } from './provider.ts'
import { SimulatedClock } from './simulated-clock.ts'

type Test = { teardown(work: () => unknown): void }

/** People of the company, as its provider knows them. */
export const companyPeople = (): ProviderPerson[] => [
  { sub: 'u-1', preferred_username: 'nora', groups: ['staff', 'wh-operators'] },
  { sub: 'u-2', preferred_username: 'adele', groups: ['wh-admins'], amr: ['pwd', 'otp'] },
  { sub: 'u-3', preferred_username: 'nora', groups: ['wh-supervisors'] },
  { sub: 'u-4' },
]

export const groupRoles = { 'wh-operators': 'operator', 'wh-supervisors': 'supervisor', 'wh-admins': 'admin' }

export type ProviderSite = { readonly provider: RunningProvider; readonly gateway: TestGateway }

/** A gateway with a provider of its people. Its clock begins with the time of now, which the provider has too. */
export async function siteWithProvider(
  t: Test,
  options: {
    provider?: Partial<Parameters<typeof startProvider>[1]>
    entry?: object
    auth?: object
    gateway?: TestGatewayOptions
  } = {},
): Promise<ProviderSite> {
  const provider = await startProvider(t, { people: companyPeople(), siteUrl, ...options.provider })
  const { config, ...rest } = options.gateway ?? {}
  const gateway = await testGateway({
    clock: new SimulatedClock(Date.now()),
    ...rest,
    config: { auth: { oidc: [{ ...provider.entry, groupRoles, ...options.entry }], ...options.auth }, ...config },
  })
  t.teardown(() => gateway.end())
  return { provider, gateway }
}

/** The cookies that a browser has of the gateway. */
export type Jar = Map<string, string>

const cookieOf = (jar: Jar): string => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')

function take(jar: Jar, { headers }: Answer): void {
  for (const cookie of headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    if (value === '') jar.delete(name)
    else jar.set(name, value)
  }
}

/** Asks as the page in the browser with these cookies. */
export async function askByPage(
  { gateway }: Pick<ProviderSite, 'gateway'>,
  jar: Jar,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const session = await gateway.ask('GET', '/api/session', { headers: { Cookie: cookieOf(jar) } })
  const headers = { Cookie: cookieOf(jar), 'X-CSRF-Token': session.body.csrfToken ?? '' }
  const answer = await gateway.ask(method, path, { headers, ...(body && { body }) })
  take(jar, answer)
  return answer
}

/** Begins a sign-in. Returns the answer with the address of the provider. */
export const beginSignIn = (site: ProviderSite, jar: Jar, body: object = {}): Promise<Answer> =>
  askByPage(site, jar, 'POST', '/api/session/provider', { issuer: site.provider.issuer, ...body })

/** Brings the answer of the provider back. The session cookie is Strict, so the browser leaves it out. */
export async function comeBack(site: Pick<ProviderSite, 'gateway'>, jar: Jar, url: string, accept = 'text/html') {
  const { pathname, search } = new URL(url)
  const sent = new Map([...jar].filter(([name]) => name === 'gatehouse-provider'))
  const answer = await site.gateway.ask('GET', `${pathname}${search}`, {
    headers: { Cookie: cookieOf(sent), Accept: accept },
  })
  take(jar, answer)
  return answer
}

/** Signs a person in, from the button to the page. */
export async function signInAtProvider(
  site: ProviderSite,
  login: string,
  { jar = new Map<string, string>(), browser = new ProviderBrowser(site.provider), returnTo = '/' } = {},
) {
  const begun = await beginSignIn(site, jar, { returnTo })
  if (begun.status !== 200) throw new Error(begun.text)
  let back = await comeBack(site, jar, await browser.open(begun.body.location, login))
  // Where the provider needs another question, it is asked at once.
  const to = back.headers.get('location') ?? ''
  if (to.startsWith(site.provider.issuer)) back = await comeBack(site, jar, await browser.open(to, login))
  return { back, jar, browser }
}

/** Signs a person in. Returns the headers of the page's requests. */
export async function headersOfPerson(site: ProviderSite, login: string): Promise<Record<string, string>> {
  const { jar } = await signInAtProvider(site, login)
  const { body } = await askByPage(site, jar, 'GET', '/api/session')
  if (body.caller === null) throw new Error(`${login} is not signed in`)
  return { Cookie: cookieOf(jar), 'X-CSRF-Token': body.csrfToken }
}

/** Returns the caller of the session; null: not signed in. */
export const callerOf = async (site: Pick<ProviderSite, 'gateway'>, jar: Jar) =>
  (await askByPage(site, jar, 'GET', '/api/session')).body.caller

/** An account of the config with the secret `NAME-secret`. */
export const cheapAccount = (username: string, role: Role) => ({
  ...{ username, role, secretHash: cheapHash(`${username}-secret`) },
})
