import t, { type Test } from 'tap'
import { byCloud, cloudFor, look } from '../support/cloud.ts'
import { cheapHash, furnish, people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'

const label = '/api/whms/slots/A/label'
const page = { 'Sec-Fetch-Site': 'same-origin' }

type Credential = { readonly username: string; readonly secret: string }

const headersOf = ({ username, secret }: Credential) => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': siteUrl,
  'X-Storage-Username': username,
})

async function hall(t: Test): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  return gateway
}

/** Signs in at the console. Returns the headers of its later requests. */
async function consoleOf(gateway: TestGateway, body: object): Promise<Record<string, string>> {
  const begun = await gateway.ask('POST', '/api/session', { body, headers: page })
  if (begun.status !== 201) throw new Error(begun.text)
  const Cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
  return { ...page, Cookie, 'X-CSRF-Token': begun.body.csrfToken }
}

async function signed(gateway: TestGateway, headers: Record<string, string>, path = label): Promise<string> {
  const made = await gateway.ask('POST', '/api/signed-urls', { headers, body: { path } })
  if (made.status !== 200) throw new Error(made.text)
  return made.body.url
}

const opens = async (gateway: TestGateway, url: string) => (await gateway.ask('GET', url)).status

t.test('a signed address ends with the session that made it, and no other session', async (t) => {
  const gateway = await hall(t)
  const olga = { username: 'olga', secret: 'olga-secret' }
  const [first, second] = [await consoleOf(gateway, olga), await consoleOf(gateway, olga)]
  const [ofFirst, ofSecond] = [await signed(gateway, first), await signed(gateway, second)]
  t.same([await opens(gateway, ofFirst), await opens(gateway, ofSecond)], [200, 200])
  t.equal((await gateway.ask('DELETE', '/api/session', { headers: first })).status, 204)
  t.same([await opens(gateway, ofFirst), await opens(gateway, ofSecond)], [401, 200])
  const again = await gateway.restart()
  t.teardown(() => again.close())
  t.same([await opens(again, ofFirst), await opens(again, ofSecond)], [401, 200], 'also after a restart')
})

t.test('a signed address ends with the shift that made it, also when the person signs in again', async (t) => {
  const gateway = await hall(t)
  const admin = (path: string, body?: object) => gateway.ask('POST', path, { by: people.ada, body })
  const { body: made } = await admin('/api/devices', { name: 'handheld-7' })
  const { body: device } = await gateway.ask('POST', '/api/devices/enrol', { body: { code: made.enrolment.code } })
  await admin('/api/operators', { username: 'piet', badge: 'B-4711', pin: '2580' })
  const shift = async () =>
    headersOf(
      (
        await gateway.ask('POST', '/api/devices/sign-in', {
          headers: headersOf(device),
          body: { badge: 'B-4711', pin: '2580' },
        })
      ).body,
    )
  const first = await shift()
  const url = await signed(gateway, first)
  t.equal(await opens(gateway, url), 200)
  await gateway.ask('POST', '/api/devices/sign-out', { headers: first })
  const second = await shift()
  t.equal(await opens(gateway, url), 401)
  const other = await signed(gateway, second)
  t.equal(await opens(gateway, other), 200)
  await admin('/api/devices/1/revoke')
  t.equal(await opens(gateway, other), 401, 'the device was revoked')
})

t.test('a signed address has the rights that an account has now', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['sven'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const headers = await consoleOf(gateway, { username: 'ada', secret: 'ada-secret' })
  const url = await signed(gateway, headers)
  t.equal(await opens(gateway, url), 200)
  const { config } = gateway.live
  const users = config.auth.users.map((u) => (u.username === 'ada' ? { ...u, role: 'viewer' as const } : u))
  gateway.live.config = { ...config, auth: { ...config.auth, users } }
  t.equal(await opens(gateway, url), 404, 'a viewer does not see that warehouse')
})

t.test('a signed address of a storage user ends with the session, the credential and the groups', async (t) => {
  const { server, gateway } = await cloudFor(t, {
    gateway: { config: { warehouses: [{ id: 1, viewers: ['sven'] }] } },
    auth: { freshFor: '1m', users: [{ username: 'ada', role: 'admin', secretHash: cheapHash('ada-secret') }] },
  })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const adele = byCloud(server, 'adele').headers as Record<string, string>
  const signIn = { username: 'adele', secret: 'adele-app-password', instance: server.url }
  const session = await consoleOf(gateway, signIn)
  const bySession = await signed(gateway, session)
  t.equal(await opens(gateway, bySession), 200)
  await gateway.ask('DELETE', '/api/session', { headers: session })
  t.equal(await opens(gateway, bySession), 401, 'signed out')

  const asAdmin = await signed(gateway, adele)
  t.equal(await opens(gateway, asAdmin), 200)
  const user = server.users.find(({ id }) => id === 'adele')
  if (user) user.groups = []
  gateway.clock.advance(2 * 60_000)
  await look(gateway, { headers: adele })
  t.equal(await opens(gateway, asAdmin), 404, 'the server named other groups since: a viewer does not see it')
  if (user) user.groups = ['wh-admins']
  gateway.clock.advance(2 * 60_000)
  await look(gateway, { headers: adele })
  const last = await signed(gateway, adele)
  t.equal(await opens(gateway, last), 200)
  if (user) user.appPasswords = []
  gateway.clock.advance(2 * 60_000)
  t.equal((await look(gateway, { headers: adele })).status, 401)
  t.equal(await opens(gateway, last), 401, 'the server refused the credential')
})
