import t from 'tap'
import { Pairings } from '../../src/devices/pairings.ts'
import { people, testGateway } from '../support/gateway.ts'
import { quietModules } from '../support/qr-quiet-zone.ts'

const path = '/api/device-pairings'

t.test('a screen shows a code, a supervisor confirms it, and the screen enrols once', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const { sven, olga, ada } = people
  await gateway.ask('POST', '/api/whms/warehouses', { by: ada, body: { name: 'Hall', timezone: 'Europe/Berlin' } })
  const collect = (token: string) => gateway.ask('POST', `${path}/collect`, { body: { token } })
  const begun = await gateway.ask('POST', path)
  t.match(begun, { status: 201, body: { code: /^[B-Z2-9]{8}$/, url: `http://127.0.0.1:8480/pair/${begun.body.code}` } })
  const { code, token } = begun.body
  t.match(begun.body.qr, /^<svg/)
  t.same(quietModules(begun.body.qr), { left: 4, top: 4, right: 4, bottom: 4 }, 'what ISO/IEC 18004 asks for')
  t.match(await collect(token), { status: 200, body: { enrolmentCode: null } })
  t.match(await gateway.ask('GET', `${path}/${code}`, { by: olga }), { status: 403 })
  const spelled = `${code.slice(0, 4)}-${code.slice(4)}`.toLowerCase()
  const seen = await gateway.ask('GET', `${path}/${spelled}`, { by: sven })
  t.match(seen, { status: 200, body: { code, confirmed: false } })
  t.notMatch(seen.text, token)
  const confirm = (body: object, by: (typeof people)[keyof typeof people] = sven) =>
    gateway.ask('POST', `${path}/${code}/confirm`, { by, body })
  t.match(await confirm({ name: 'wall-1' }, olga), { status: 403 })
  t.match(await confirm({ name: 'wall 1' }), { status: 400, body: { error: { fields: [{ path: 'name' }] } } })
  t.match(await confirm({ name: 'ada' }), { status: 400, body: { error: { code: 'ALREADY_EXISTS' } } })
  t.match(await confirm({ name: 'wall-1', warehouseIds: [9] }), { body: { error: { code: 'REFERENCE_NOT_FOUND' } } })
  const made = await confirm({ name: 'wall-1', warehouseIds: [1] })
  t.match(made, { status: 201, body: { name: 'wall-1', kind: 'kiosk', role: 'viewer', status: 'waiting' } })
  t.notMatch(made.text, /enrolment/)
  t.match(await confirm({ name: 'wall-2' }), { status: 400, body: { error: { code: 'ALREADY_EXISTS' } } })
  t.match((await gateway.ask('GET', `${path}/${code}`, { by: ada })).body, { confirmed: true })
  const { enrolmentCode } = (await collect(token)).body
  t.match(await collect(token), { status: 200, body: { enrolmentCode: null } }, 'given once')
  t.match(await gateway.ask('POST', '/api/devices/enrol', { body: { code: enrolmentCode } }), {
    status: 200,
    body: { username: 'wall-1', role: 'viewer' },
  })
  const list = (await gateway.ask('GET', '/api/devices', { by: ada })).body.data
  t.match(list, [{ name: 'wall-1', status: 'enrolled', warehouseIds: [1] }])
  const { body } = await gateway.ask('GET', '/api/governance/audit?action=device.created', { by: ada })
  t.match(body.data, [{ operator: 'sven', changes: { kind: 'kiosk' } }])
})

t.test('who sees one hall only makes wall screens of that hall only', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const { ada } = people
  for (const name of ['Hall', 'Cold store'])
    await gateway.ask('POST', '/api/whms/warehouses', { by: ada, body: { name, timezone: 'Europe/Berlin' } })
  const tablet = { name: 'tablet-1', role: 'supervisor', warehouseIds: [1] }
  const { enrolment } = (await gateway.ask('POST', '/api/devices', { by: ada, body: tablet })).body
  const { body: given } = await gateway.ask('POST', '/api/devices/enrol', { body: { code: enrolment.code } })
  const headers = {
    Authorization: `Bearer ${given.secret}`,
    'X-Storage-Instance': given.instance,
    'X-Storage-Username': given.username,
  }
  const confirm = async (body: object) => {
    const { code } = (await gateway.ask('POST', path)).body
    return gateway.ask('POST', `${path}/${code}/confirm`, { headers, body })
  }
  t.match(await confirm({ name: 'wall-1' }), { status: 201, body: { warehouseIds: [1] } })
  t.match(await confirm({ name: 'wall-2', warehouseIds: [2] }), { body: { error: { code: 'REFERENCE_NOT_FOUND' } } })
})

t.test('a code on a screen ends after ten minutes, and a screen that is loaded again and again has few', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const begin = async () => (await gateway.ask('POST', path)).body as { code: string; token: string }
  const status = async ({ code }: { code: string }) =>
    (await gateway.ask('GET', `${path}/${code}`, { by: people.ada })).status
  const first = await begin()
  for (let n = 0; n < 7; n += 1) await begin()
  t.equal(await status(first), 200)
  const last = await begin()
  t.equal(await status(first), 404, 'eight of an address')
  gateway.clock.advance(10 * 60_000 - 1)
  t.equal(await status(last), 200)
  gateway.clock.advance(1)
  t.equal(await status(last), 404)
  const body = { token: last.token }
  t.equal((await gateway.ask('POST', `${path}/collect`, { body })).status, 404)
  t.equal((await gateway.ask('POST', `${path}/collect`, { body: { token: 'none' } })).status, 404)
})

t.test('a network that asks for codes without end ends its own codes alone', (t) => {
  const pairings = new Pairings({
    clock: { now: () => 0 },
    random: (bytes) => crypto.getRandomValues(Buffer.alloc(bytes)),
    siteUrl: () => 'https://dc7.example',
    makeDevice: () => Promise.reject(new Error('nobody confirms')),
  })
  const screens = ['192.168.5.9', '192.168.5.10', '10.0.1.7', '2001:db8::7'].map((address) => pairings.begin(address))
  for (let n = 0; n < 400; n += 1) pairings.begin(`10.0.0.${n % 250}`)
  // A screen that is loaded again has more codes than each of many addresses of one network.
  const again = Array.from({ length: 5 }, () => pairings.begin('192.168.5.11'))
  for (let n = 0; n < 400; n += 1) pairings.begin(`2001:db8:1:2::${n.toString(16)}`)
  for (const { code } of [...screens, ...again]) t.ok(pairings.describe(code), code)
  t.end()
})

t.test('screens of the whole site have few codes together: the oldest ends', (t) => {
  const pairings = new Pairings({
    clock: { now: () => 0 },
    random: (bytes) => crypto.getRandomValues(Buffer.alloc(bytes)),
    siteUrl: () => 'https://dc7.example',
    makeDevice: () => Promise.reject(new Error('nobody confirms')),
  })
  const first = pairings.begin('10.0.0.0')
  for (let n = 1; n < 400; n += 1) pairings.begin(`10.0.${n >> 8}.${n & 255}`)
  t.match(pairings.describe(first.code), { address: '10.0.0.0' })
  const last = pairings.begin('10.1.0.0')
  t.match(pairings.describe(last.code), { address: '10.1.0.0' })
  t.throws(() => pairings.describe(first.code), { code: 'NOT_FOUND' }, '400 of all addresses')
  t.end()
})
