import t, { type Test } from 'tap'
import { checkSecret } from '../../src/auth/index.ts'
import { furnish, heldPhoto, people, siteUrl, type TestGateway, testGateway } from '../support/gateway.ts'
import { quietModules } from '../support/qr-quiet-zone.ts'

const minute = 60_000
const hour = 60 * minute

type Credential = { username: string; secret: string }

/** The document's headers, as a device sends them. */
const headersOf = ({ username, secret }: Credential, extra: Record<string, string> = {}) => ({
  Authorization: `Bearer ${secret}`,
  'X-Storage-Instance': siteUrl,
  'X-Storage-Username': username,
  ...extra,
})

async function hall(t: Test, config: Record<string, unknown> = {}) {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01'])
  const admin = (method: string, path: string, body?: unknown) => gateway.ask(method, path, { by: people.ada, body })
  const enrolled = async (more: object = {}): Promise<Credential & { deviceId: number }> => {
    const { body } = await admin('POST', '/api/devices', { name: 'handheld-7', ...more })
    const answer = await gateway.ask('POST', '/api/devices/enrol', { body: { code: body.enrolment.code } })
    if (answer.status !== 200) throw new Error(answer.text)
    return answer.body
  }
  const as = (who: Credential, method: string, path: string, body?: unknown) =>
    gateway.ask(method, path, { headers: headersOf(who), body })
  const badge = (more: object = {}) =>
    admin('POST', '/api/operators', { username: 'piet', badge: 'B-4711', pin: '2580', ...more })
  return { gateway, admin, enrolled, as, badge }
}

t.test('a handheld is enrolled once by the code of a QR, and then sends the document’s headers', async (t) => {
  const { gateway, admin, as } = await hall(t)
  const made = await admin('POST', '/api/devices', { name: 'handheld-7' })
  t.match(made, { status: 201, body: { id: 1, role: 'operator', kind: 'handheld', status: 'waiting' } })
  const { code, text, qr, expiresAt } = made.body.enrolment
  t.strictSame(JSON.parse(text), { url: siteUrl, code })
  t.match(qr, /^<svg [\s\S]*<\/svg>\s*$/)
  t.same(quietModules(qr), { left: 4, top: 4, right: 4, bottom: 4 })
  t.equal(Date.parse(expiresAt), gateway.clock.now() + 15 * minute)
  const enrolled = await gateway.ask('POST', '/api/devices/enrol', { body: { code } })
  t.match(enrolled, {
    status: 200,
    body: { username: 'handheld-7', instance: siteUrl, role: 'operator', siteId: 'test-site' },
  })
  t.match(await gateway.ask('POST', '/api/devices/enrol', { body: { code } }), { status: 401 }, 'a code works once')
  t.match(await as(enrolled.body, 'GET', '/api/whms/slots'), { status: 200 })
  const removed = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-1' }
  t.match(await as(enrolled.body, 'POST', '/api/whms/events', removed), { status: 201, body: { actor: 'handheld-7' } })
  const { body: list } = await admin('GET', '/api/devices')
  t.match(list.data, [{ name: 'handheld-7', status: 'enrolled', enrolledAt: String, seenAt: String }])
  t.notMatch(JSON.stringify(list), enrolled.body.secret)
})

t.test('a wrong secret of a device costs as much as one of nobody’s, so time tells no names', async (t) => {
  const { gateway, enrolled, as } = await hall(t)
  const device = await enrolled()
  const statuses = async (username: string) => {
    const guesses = Array.from({ length: 12 }, (_, n) =>
      as({ username, secret: `guess-${n}` }, 'GET', '/api/whms/slots'),
    )
    return (await Promise.all(guesses)).map(({ status }) => status).sort()
  }
  // One is looked at and eight wait for the slow hash; one that skips it would be refused at once.
  const ofNobody = await statuses('nobody')
  t.strictSame(ofNobody, [...Array(9).fill(401), 503, 503, 503])
  t.strictSame(await statuses(device.username), ofNobody)
  t.equal((await as(device, 'GET', '/api/whms/slots')).status, 200)
  t.match(
    await gateway.ask('GET', '/api/whms/slots', {
      headers: headersOf(device, { Authorization: `Basic ${btoa(`handheld-8:${device.secret}`)}` }),
    }),
    { status: 401, body: { error: { code: 'USER_MISMATCH' } } },
  )
})

t.test('a code that is old or wrong enrols nobody, and guesses are slowed like any other', async (t) => {
  const { gateway, admin } = await hall(t, { rateLimit: { requestsPerMinute: 5 } })
  const { body } = await admin('POST', '/api/devices', { name: 'handheld-7' })
  gateway.clock.advance(15 * minute)
  const enrol = (code: string) => gateway.ask('POST', '/api/devices/enrol', { body: { code } })
  t.match(await enrol(body.enrolment.code), { status: 401, body: { error: { code: 'INVALID_CREDENTIALS' } } })
  for (let n = 0; n < 4; n += 1) t.equal((await enrol(`guess-${n}`)).status, 401)
  t.match(await enrol('guess-9'), { status: 429 })
  gateway.clock.advance(minute)
  const renewed = await admin('POST', '/api/devices/1/enrolment')
  t.equal((await enrol(renewed.body.enrolment.code)).status, 200, 'a new code is asked for')
})

t.test('a revoked handheld is out at once, and so is everybody who is signed in on it', async (t) => {
  const { admin, enrolled, as, badge } = await hall(t)
  const device = await enrolled()
  await badge()
  const { body: piet } = await as(device, 'POST', '/api/devices/sign-in', { badge: 'B-4711', pin: '2580' })
  t.equal((await as(piet, 'GET', '/api/whms/slots')).status, 200)
  t.match(await admin('POST', '/api/devices/1/revoke'), { status: 200, body: { status: 'revoked' } })
  t.equal((await as(device, 'GET', '/api/whms/slots')).status, 401)
  t.equal((await as(piet, 'GET', '/api/whms/slots')).status, 401)
  t.match(await admin('POST', '/api/devices/1/revoke'), { status: 404 })
  t.equal((await enrolled()).deviceId, 2, 'the name is free for the next one')
})

t.test('no device is ever an admin, and nobody may do more with it than its role', async (t) => {
  const { admin, enrolled, as, badge } = await hall(t)
  t.match(await admin('POST', '/api/devices', { name: 'x', role: 'admin' }), { status: 400 })
  t.match(await admin('POST', '/api/operators', { username: 'x', role: 'admin', badge: 'b', pin: '2580' }), {
    status: 400,
  })
  const viewer = await enrolled({ role: 'viewer' })
  await badge({ role: 'supervisor' })
  const { body: piet } = await as(viewer, 'POST', '/api/devices/sign-in', { badge: 'B-4711', pin: '2580' })
  t.equal(piet.role, 'viewer', 'a supervisor with a viewer’s device')
  const removed = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-1' }
  t.match(await as(piet, 'POST', '/api/whms/events', removed), { status: 403 })
  t.match(await as(viewer, 'GET', '/api/devices'), { status: 403 })
})

t.test('an operator signs in by badge and PIN until the shift ends, and acts under the own name', async (t) => {
  const { gateway, enrolled, as, badge } = await hall(t)
  const device = await enrolled()
  t.match(await badge(), { status: 201, body: { username: 'piet', role: 'operator' } })
  const signedIn = await as(device, 'POST', '/api/devices/sign-in', { badge: 'B-4711', pin: '2580' })
  t.match(signedIn, { status: 200, body: { username: 'piet', role: 'operator', instance: siteUrl } })
  const shiftMs = Date.parse(signedIn.body.expiresAt) - gateway.clock.now()
  const piet = signedIn.body
  const removed = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-1' }
  t.match(await as(piet, 'POST', '/api/whms/events', removed), {
    status: 201,
    body: { actor: 'piet', operator: 'piet' },
  })
  const { body: trail } = await gateway.ask('GET', '/api/governance/audit?operator=piet', { by: people.sven })
  t.match(
    trail.data.map((e: { action: string; authMode: string }) => [e.action, e.authMode]).slice(0, 2),
    [['removal.recorded', 'badge@handheld-7']],
    'the trail says on which device',
  )
  t.match(await as({ ...piet, username: 'handheld-7' }, 'GET', '/api/whms/slots'), { status: 401 }, 'not as the device')
  gateway.clock.advance(shiftMs - 1)
  t.equal((await as(piet, 'GET', '/api/whms/slots')).status, 200)
  gateway.clock.advance(1)
  t.match(await as(piet, 'GET', '/api/whms/slots'), { status: 401, body: { error: { code: 'SESSION_ENDED' } } })
  t.equal((await as(device, 'GET', '/api/whms/slots')).status, 200, 'the device itself goes on')
  const again = (await as(device, 'POST', '/api/devices/sign-in', { badge: 'B-4711', pin: '2580' })).body
  t.equal((await as(again, 'POST', '/api/devices/sign-out')).status, 204)
  t.equal((await as(again, 'GET', '/api/whms/slots')).status, 401)
})

t.test('wrong PINs make that badge wait at that handheld, and nobody else', async (t) => {
  const { gateway, admin, enrolled, as, badge } = await hall(t)
  const [first, second] = [await enrolled(), await enrolled({ name: 'handheld-8' })]
  await badge()
  await badge({ username: 'olaf', badge: 'B-4712', pin: '8520' })
  const signIn = (device: Credential, badge: string, pin: string) =>
    as(device, 'POST', '/api/devices/sign-in', { badge, pin })
  for (let n = 0; n < 5; n += 1) {
    t.match(await signIn(first, 'B-4711', '9999'), { status: 401, body: { error: { code: 'INVALID_CREDENTIALS' } } })
  }
  const waiting = await signIn(first, 'B-4711', '2580')
  t.match(waiting, { status: 429, body: { error: { code: 'RATE_LIMITED' } } })
  t.equal(waiting.headers.get('retry-after'), '30')
  t.equal((await signIn(second, 'B-4711', '2580')).status, 200, 'the colleague elsewhere')
  t.equal((await signIn(first, 'B-4712', '8520')).status, 200, 'another colleague here')
  gateway.clock.advance(30_000)
  t.equal((await signIn(first, 'B-4711', '2580')).status, 200)
  const unknown = await signIn(first, 'B-9999', '2580')
  const wrong = await signIn(first, 'B-4711', '9999')
  t.strictSame(
    [unknown.status, unknown.body.error.message],
    [wrong.status, wrong.body.error.message],
    'no badge is told',
  )
  t.match(
    await gateway.ask('POST', '/api/devices/sign-in', { by: people.ada, body: { badge: 'B-4711', pin: '2580' } }),
    {
      status: 403,
    },
  )
  t.match(await admin('POST', '/api/operators/1/revoke'), { status: 200 })
  t.equal((await signIn(second, 'B-4711', '2580')).status, 401, 'a lost badge')
})

t.test('a new PIN signs out, easy ones are refused, and one name is one caller', async (t) => {
  const { admin, enrolled, as, badge } = await hall(t)
  const device = await enrolled()
  for (const pin of ['0000', '1234', '9876', '123', '12345678', '123456789', 'abcd']) {
    t.match(await badge({ pin }), { status: 400, body: { error: { fields: [{ path: 'pin' }] } } }, pin)
  }
  await badge()
  const { body: piet } = await as(device, 'POST', '/api/devices/sign-in', { badge: 'B-4711', pin: '2580' })
  t.equal((await admin('PUT', '/api/operators/1/pin', { pin: '7412' })).status, 200)
  t.equal((await as(piet, 'GET', '/api/whms/slots')).status, 401)
  t.equal((await as(device, 'POST', '/api/devices/sign-in', { badge: 'B-4711', pin: '2580' })).status, 401)
  t.equal((await as(device, 'POST', '/api/devices/sign-in', { badge: 'B-4711', pin: '7412' })).status, 200)
  for (const taken of [
    { username: 'ada', badge: 'x' },
    { username: 'piet', badge: 'x' },
    { username: 'handheld-7', badge: 'x' },
    { username: 'new' },
  ]) {
    t.match(await badge(taken), { status: 400, body: { error: { code: 'ALREADY_EXISTS' } } }, JSON.stringify(taken))
  }
  t.match(await admin('POST', '/api/devices', { name: 'ada' }), {
    status: 400,
    body: { error: { code: 'ALREADY_EXISTS' } },
  })
})

t.test('whoever tries badge after badge at one handheld waits there, and the file tells no PIN', async (t) => {
  const { gateway, enrolled, as, badge } = await hall(t)
  const device = await enrolled()
  await badge()
  const signIn = (tried: string) => as(device, 'POST', '/api/devices/sign-in', { badge: tried, pin: '9999' })
  for (let n = 0; n < 20; n += 1) t.equal((await signIn(`B-${n}`)).status, 401)
  t.match(await signIn('B-20'), { status: 429 })
  gateway.clock.advance(10 * 60_000)
  await gateway.audit('flushed', {})
  const { default: Database } = await import('better-sqlite3')
  const db = new Database(`${gateway.live.config.dataDir}/gatehouse.db`, { readonly: true })
  const { pin_hash } = db.prepare('SELECT pin_hash FROM badge_operator').get() as { pin_hash: string }
  const refused = db.prepare(`SELECT count(*) AS n FROM audit_entry WHERE action LIKE '%refused%'`).get()
  db.close()
  t.notOk(await checkSecret('2580', pin_hash, { address: 'test' }), 'without the key of the box no PIN is right')
  t.match(refused, { n: 1 }, 'one row tells of all of them')
})

t.test('a signed address of somebody with a badge ends with the shift', async (t) => {
  const { gateway, enrolled, as, badge } = await hall(t)
  const device = await enrolled()
  await badge()
  const { body: piet } = await as(device, 'POST', '/api/devices/sign-in', { badge: 'B-4711', pin: '2580' })
  const { body } = await as(piet, 'POST', '/api/signed-urls', { path: '/api/whms/slots/A-01/label' })
  t.equal((await gateway.ask('GET', body.url)).status, 200)
  await as(piet, 'POST', '/api/devices/sign-out')
  t.equal((await gateway.ask('GET', body.url)).status, 401)
})

t.test('a wall screen only looks, at its own hall alone, and may open the console', async (t) => {
  const { gateway, admin, enrolled, as } = await hall(t)
  await admin('POST', '/api/whms/warehouses', { name: 'Cold', timezone: 'Europe/Berlin' })
  t.match(await admin('POST', '/api/devices', { name: 'x', kind: 'kiosk', role: 'operator' }), { status: 400 })
  t.match(await admin('POST', '/api/devices', { name: 'x', warehouseIds: [9] }), { status: 400 })
  const screen = await enrolled({ name: 'wall-1', kind: 'kiosk', warehouseIds: [2] })
  const { body } = await as(screen, 'GET', '/api/whms/warehouses')
  t.strictSame(
    body.data.map((w: { id: number }) => w.id),
    [2],
  )
  t.strictSame((await as(screen, 'GET', '/api/whms/slots')).body.data, [], 'the slot is in the other hall')
  t.equal((await as(screen, 'GET', '/api/whms/slots/A-01')).status, 404)
  const removed = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-1' }
  t.match(await as(screen, 'POST', '/api/whms/events', removed), { status: 403 })
  t.match(await as(screen, 'POST', '/api/devices/sign-in', { badge: 'b', pin: '2580' }), { status: 403 })
  const begun = await gateway.ask('POST', '/api/session', { body: { username: 'wall-1', secret: screen.secret } })
  t.equal(begun.status, 201)
  const Cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
  t.equal((await gateway.ask('GET', '/api/whms/zones', { headers: { Cookie } })).status, 200)
  await admin('POST', '/api/devices/1/revoke')
  t.equal((await gateway.ask('GET', '/api/whms/zones', { headers: { Cookie } })).status, 401)
})

t.test('neither badges nor secrets stand in the file, and a restart signs nobody out', async (t) => {
  const { gateway, enrolled, as, badge } = await hall(t)
  const device = await enrolled()
  await badge()
  const { body: piet } = await as(device, 'POST', '/api/devices/sign-in', { badge: 'B-4711', pin: '2580' })
  const { default: Database } = await import('better-sqlite3')
  const db = new Database(`${gateway.live.config.dataDir}/gatehouse.db`, { readonly: true })
  const rows = ['device', 'badge_operator', 'shift_session', 'audit_entry', 'idempotency'].map((table) =>
    JSON.stringify(db.prepare(`SELECT * FROM ${table}`).all(), (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
    ),
  )
  db.close()
  for (const secret of ['B-4711', '2580"', device.secret, piet.secret])
    t.notOk(
      rows.some((row) => row.includes(secret)),
      'no secret',
    )
  const again = await gateway.restart()
  t.teardown(() => again.close())
  for (const who of [device, piet]) {
    t.equal((await again.ask('GET', '/api/whms/slots', { headers: headersOf(who) })).status, 200)
  }
})

async function signed(
  gateway: TestGateway,
  path: string,
  seconds?: number,
  by = people.ada as (typeof people)[keyof typeof people],
) {
  const answer = await gateway.ask('POST', '/api/signed-urls', { by, body: { path, ...(seconds && { seconds }) } })
  return answer.body.url as string
}

t.test('a signed address shows one thing to whoever has it, and only that, and only for a while', async (t) => {
  const { gateway } = await hall(t)
  const photo = new URL(await heldPhoto(gateway)).pathname
  const url = await signed(gateway, photo)
  t.equal((await gateway.ask('GET', url)).status, 200)
  t.equal((await gateway.ask('HEAD', url)).status, 200)
  t.equal((await gateway.ask('GET', url)).headers.get('cache-control'), 'private, no-store', 'no browser keeps it')
  t.equal((await gateway.ask('GET', photo)).status, 401, 'not without it')
  const token = url.slice(url.indexOf('signed='))
  const tampered = {
    'another path': `/api/whms/slots?${token}`,
    'another photo': `${photo.slice(0, -1)}0?${token}`,
    'another query': `${photo}?size=1&${token}`,
    'something behind it': `${url}x`,
    'the path in another spelling': `${photo.replace('/photos/', '/photos/../photos/')}x?${token}`,
    'a token of nothing': `${photo}?signed=AAAA`,
  }
  for (const [what, path] of Object.entries(tampered)) t.equal((await gateway.ask('GET', path)).status, 401, what)
  t.equal((await gateway.ask('POST', url, { body: {} })).status, 401, 'another method')
  gateway.clock.advance(5 * minute)
  t.match(await gateway.ask('GET', url), { status: 401, body: { error: { code: 'INVALID_CREDENTIALS' } } })
  const label = await signed(gateway, '/api/whms/slots/A-01/label?format=svg', 3600)
  gateway.clock.advance(hour - 1)
  t.match(await gateway.ask('GET', label), { status: 200, text: /<svg/ })
})

t.test('only what a page shows is signed, and never for longer than an hour', async (t) => {
  const { gateway } = await hall(t)
  const sign = (path: string, seconds?: number) =>
    gateway.ask('POST', '/api/signed-urls', { by: people.vera, body: { path, seconds } })
  for (const path of [
    '/api/whms/events',
    '/api/whms/evidence/photos',
    '/api/iot/detection-events/1/../../../whms/events',
    '//evil.example/api/iot/detection-events/1/clip',
    'https://evil.example/api/iot/detection-events/1/clip',
    '/api/iot/detection-events/1/clip?signed=x',
    '/api/iot/detection-events/1/clip#x',
  ]) {
    t.match(await sign(path), { status: 400, body: { error: { fields: [{ path: 'path' }] } } }, path)
  }
  t.match(await sign('/api/iot/detection-events/1/clip', 3601), { status: 400 })
})

t.test('a signed address ends with its maker, and never shows more than the maker may see', async (t) => {
  const { gateway, enrolled, admin } = await hall(t)
  const photo = new URL(await heldPhoto(gateway)).pathname
  t.equal((await gateway.ask('GET', await signed(gateway, photo, 300, people.vera))).status, 404, 'not hers to see')
  const url = await signed(gateway, photo, 300)
  const { config } = gateway.live
  gateway.live.config = {
    ...config,
    auth: { ...config.auth, users: config.auth.users.filter((u) => u.username !== 'ada') },
  }
  t.equal((await gateway.ask('GET', url)).status, 401, 'the account is gone')
  const users = config.auth.users.map((u) => (u.username === 'ada' ? { ...u, secretHash: `${u.secretHash}x` } : u))
  gateway.live.config = { ...config, auth: { ...config.auth, users } }
  t.equal((await gateway.ask('GET', url)).status, 401, 'its secret is another one')
  gateway.live.config = config
  const screen = await enrolled({ name: 'wall-1', kind: 'kiosk' })
  const made = await gateway.ask('POST', '/api/signed-urls', {
    headers: headersOf(screen),
    body: { path: '/api/whms/slots/A-01/label' },
  })
  t.equal((await gateway.ask('GET', made.body.url)).status, 200)
  await admin('POST', '/api/devices/1/revoke')
  t.equal((await gateway.ask('GET', made.body.url)).status, 401)
})
