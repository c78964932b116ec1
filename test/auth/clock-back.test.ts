import t, { type Test } from 'tap'
import { furnish, people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'

const hour = 3_600_000
const label = '/api/whms/slots/A/label'

type Credential = { readonly username: string; readonly secret: string }

const headersOf = ({ username, secret }: Credential) => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': siteUrl,
  'X-Storage-Username': username,
})

/** A credential of each kind that ends by time, and what its use answers. */
type Held = Record<string, (gateway: TestGateway) => Promise<number>>

const status = async (answer: Promise<{ status: number }>) => (await answer).status

async function held(gateway: TestGateway): Promise<Held> {
  const by = people.ada
  await furnish(gateway, ['A'])
  const make = async (path: string, body?: object, headers?: Record<string, string>) =>
    gateway.ask('POST', path, headers ? { headers, body } : { by, body })
  const { body: made } = await make('/api/devices', { name: 'handheld-7' })
  const { body: device } = await gateway.ask('POST', '/api/devices/enrol', { body: { code: made.enrolment.code } })
  await make('/api/operators', { username: 'piet', badge: 'B-4711', pin: '2580' })
  const { body: piet } = await make('/api/devices/sign-in', { badge: 'B-4711', pin: '2580' }, headersOf(device))
  const { body: waiting } = await make('/api/devices', { name: 'handheld-8' })
  const session = await gateway.ask('POST', '/api/session', { body: { username: 'olga', secret: 'olga-secret' } })
  const Cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { body: address } = await make('/api/signed-urls', { path: label, seconds: 3600 })
  const { body: pairing } = await gateway.ask('POST', '/api/device-pairings')
  return {
    'a session': (g) => status(g.ask('GET', '/api/whms/slots', { headers: { Cookie } })),
    'a shift': (g) => status(g.ask('GET', '/api/whms/slots', { headers: headersOf(piet) })),
    'a signed address': (g) => status(g.ask('GET', address.url)),
    'an enrolment code': (g) => status(g.ask('POST', '/api/devices/enrol', { body: { code: waiting.enrolment.code } })),
    'a pairing code': (g) => status(g.ask('GET', `/api/device-pairings/${pairing.code}`, { by: people.sven })),
  }
}

/** All of them have ended; neither is removed by a use in between. */
async function ended(t: Test, gateway: TestGateway, uses: Held, when: string): Promise<void> {
  for (const [what, use] of Object.entries(uses)) t.ok([401, 404].includes(await use(gateway)), `${what}, ${when}`)
}

t.test('what has expired stays expired when the clock goes back', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const uses = await held(gateway)
  const startMs = gateway.clock.now()
  gateway.clock.advance(25 * hour)
  await gateway.clockBook.look()
  gateway.clock.setWall(startMs)
  await ended(t, gateway, uses, 'after the step')
})

t.test('what has expired stays expired when the clock is back after a restart or a crash', async (t) => {
  for (const isCrash of [false, true]) {
    const before = await testGateway()
    const uses = await held(before)
    const startMs = before.clock.now()
    await before.clockBook.start()
    before.clock.advance(25 * hour)
    await before.clockBook.look()
    if (!isCrash) await before.clockBook.stop()
    before.clock.setWall(startMs)
    const gateway = await before.restart()
    t.teardown(() => gateway.end())
    const { 'a pairing code': _, ...stored } = uses
    await ended(t, gateway, stored, isCrash ? 'after a crash' : 'after a restart')
  }
})

t.test('a credential made after the clock went back lasts as long as ever, also over a restart', async (t) => {
  const first = await testGateway()
  await first.clockBook.start()
  const startMs = first.clock.now()
  first.clock.advance(48 * hour)
  await first.clockBook.look()
  first.clock.setWall(startMs)
  const uses = await held(first)
  t.equal(await uses['a signed address']?.(first), 200)
  first.clock.advance(hour - 1000)
  t.equal(await uses['a signed address']?.(first), 200, 'its hour is not over')
  t.equal(await uses['a session']?.(first), 200)
  await first.clockBook.look()
  await first.clockBook.stop()
  const gateway = await first.restart()
  t.teardown(() => gateway.end())
  t.equal(await uses['a session']?.(gateway), 200)
  gateway.clock.advance(2000 + 60_000)
  t.equal(await uses['a signed address']?.(gateway), 401)
  gateway.clock.advance(25 * hour)
  t.equal(await uses['a session']?.(gateway), 401)
})
