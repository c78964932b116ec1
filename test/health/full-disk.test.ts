import t, { type Test } from 'tap'
import { importer } from '../../src/app/control/import-command.ts'
import { createLogger } from '../../src/platform/index.ts'
import { inFile } from '../support/cloud.ts'
import { type Answer, furnish, heldPhoto, people, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'
import { onSmallDisk, type SmallDisk, smallDisk } from '../support/small-disk.ts'

const by = people.ada
const MiB = 1024 * 1024

type Box = { gateway: TestGateway; disk: SmallDisk; lines: () => { kind?: string; level: string; msg: string }[] }

/** A gateway on its own disk, with a slot and one event. */
async function box(t: Test, config: Record<string, unknown> = {}): Promise<Box> {
  const disk = smallDisk(24)
  const written: string[] = []
  const log = createLogger({ write: (line) => written.push(line) })
  const gateway = await testGateway({ folder: disk.folder, log, config })
  t.teardown(() => {
    gateway.close()
    disk.end()
  })
  await furnish(gateway, ['A-01'])
  t.equal((await remove(gateway, 'P-0')).status, 201)
  await gateway.health.look()
  return { gateway, disk, lines: () => written.map((line) => JSON.parse(line)) }
}

const remove = (gateway: TestGateway, asset_barcode: string): Promise<Answer> =>
  gateway.ask('POST', '/api/whms/events', { by, body: { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode } })

const signIn = (gateway: TestGateway, username: string) =>
  gateway.ask('POST', '/api/session', { body: { username, secret: `${username}-secret` } })

const cookieOf = (answer: Answer) => ({ Cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' })

/** Fills the disk until the ledger takes nothing more; some pages may still have a place. */
async function fillUp({ gateway, disk }: Box): Promise<{ taken: string[]; refused: Answer }> {
  disk.fill()
  const taken: string[] = []
  for (let n = 1; n < 1000; n += 1) {
    const answer = await remove(gateway, `P-${n}`)
    if (answer.status !== 201) return { taken, refused: answer }
    taken.push(`P-${n}`)
  }
  throw new Error('the disk never was full')
}

/** Every path of the description that can be read, with ids that are there. */
async function readable(gateway: TestGateway): Promise<string[]> {
  const { paths } = (await gateway.ask('GET', '/api/openapi', { by })).body
  return Object.keys(paths)
    .filter((path) => 'get' in paths[path])
    .map((path) =>
      path
        .replace('{sha256}', '0'.repeat(64))
        .replace('{barcode}', 'P-0')
        .replaceAll(/\{\w+\}/g, '1'),
    )
}

t.test('with no byte free everybody who could look can still sign in and look', onSmallDisk, async (t) => {
  const all = await box(t)
  const { gateway } = all
  const early = await signIn(gateway, 'vera')
  await gateway.checkpoints.make()
  const { refused } = await fillUp(all)
  t.match(refused, { status: 503, body: { error: { code: 'STORAGE_FULL' } } })
  t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/)
  const late = await signIn(gateway, 'sven')
  t.match(late, { status: 201, body: { caller: { username: 'sven' } } })
  const ways = [
    { by },
    { headers: cookieOf(early) },
    { headers: cookieOf(late) },
    { headers: cookieOf(await signIn(gateway, 'ada')) },
  ]
  for (const path of await readable(gateway)) {
    if (path === '/api/health') continue
    // Nothing can be signed without room, so an event from after the last checkpoint has no proof yet.
    if (path.endsWith('/proof')) continue
    for (const way of ways) {
      const { status } = await gateway.ask('GET', path, way)
      t.ok(status < 500, `GET ${path}: ${status}`)
    }
  }
  t.match(await gateway.ask('GET', '/api/whms/events', { headers: cookieOf(late) }), {
    status: 200,
    body: { data: { length: Number } },
  })
  t.match((await gateway.ask('GET', '/api/session', { headers: cookieOf(late) })).body.caller, { username: 'sven' })
})

t.test('who signs out while the disk is full is out, then and after there is room again', onSmallDisk, async (t) => {
  const all = await box(t)
  const { gateway, disk } = all
  const early = await signIn(gateway, 'vera')
  await fillUp(all)
  const late = await signIn(gateway, 'sven')
  for (const answer of [early, late]) {
    const headers = { ...cookieOf(answer), 'X-CSRF-Token': answer.body.csrfToken }
    t.equal((await gateway.ask('DELETE', '/api/session', { headers })).status, 204)
    t.equal((await gateway.ask('GET', '/api/whms/slots', { headers: cookieOf(answer) })).status, 401)
  }
  disk.empty()
  t.equal((await signIn(gateway, 'olga')).status, 201)
  t.same(
    inFile<{ username: string }>(gateway, 'SELECT username FROM console_session').map(({ username }) => username),
    ['olga'],
    'the row of the one that could not be removed is gone too',
  )
})

t.test(
  'a session that began on a full disk is stored once there is room, and survives a restart',
  onSmallDisk,
  async (t) => {
    const all = await box(t)
    const { gateway, disk } = all
    await fillUp(all)
    const late = { headers: cookieOf(await signIn(gateway, 'sven')) }
    gateway.clock.advance(6 * 60_000)
    t.equal((await gateway.ask('GET', '/api/whms/slots', late)).status, 200, 'still full')
    disk.empty()
    gateway.clock.advance(6 * 60_000)
    t.equal((await gateway.ask('GET', '/api/whms/slots', late)).status, 200)
    const again = await gateway.restart()
    t.equal((await again.ask('GET', '/api/whms/slots', late)).status, 200)
    again.close()
  },
)

t.test(
  'a full disk is said in health, log, alerts and metrics, and events go on when there is room',
  onSmallDisk,
  async (t) => {
    const all = await box(t)
    const { gateway, disk, lines } = all
    t.equal((await gateway.ask('GET', '/api/health', { by: people.ada })).body.status, 'healthy')
    const { taken } = await fillUp(all)
    await gateway.health.look()
    await gateway.health.look()
    t.match(await gateway.ask('GET', '/api/health', { by: people.ada }), {
      status: 503,
      body: {
        status: 'unhealthy',
        checks: { disk: { status: 'unhealthy', reason: /The disk is full/ }, database: { status: 'healthy' } },
      },
    })
    const alerts = async () => (await gateway.ask('GET', '/api/alerts?acknowledged=false', { by })).body
    t.match(await alerts(), {
      data: [{ id: -1, kind: 'disk.full', message: /Reading works\. Free space/ }],
      pagination: { total: 1, hasMore: false },
    })
    t.match(await gateway.ask('GET', '/api/metrics', { by }), {
      text: /^gatehouse_health_status\{component="disk"\} 2$/m,
    })
    t.match(
      lines().filter(({ kind }) => kind === 'disk.full'),
      { length: 1, 0: { level: 'error' } },
      'one log line',
    )

    disk.empty()
    t.equal((await remove(gateway, 'P-back')).status, 201)
    await gateway.health.look()
    t.equal((await gateway.ask('GET', '/api/health', { by: people.ada })).body.status, 'healthy')
    t.match((await alerts()).data, [
      { id: 2, kind: 'disk.recovered' },
      { id: 1, kind: 'disk.full' },
    ])
    const { data } = (await gateway.ask('GET', '/api/whms/events?limit=500', { by })).body
    t.same(
      data.map((event: { asset_barcode: string }) => event.asset_barcode).toSorted(),
      ['P-0', ...taken, 'P-back'].toSorted(),
      'what was acknowledged is there, and nothing else',
    )
  },
)

t.test('a disk that is idle when there is room again is noticed without any request', onSmallDisk, async (t) => {
  const all = await box(t)
  await fillUp(all)
  await all.gateway.health.look()
  all.disk.empty()
  await all.gateway.health.look()
  await all.gateway.health.look()
  t.equal((await all.gateway.ask('GET', '/api/health', { by: people.ada })).body.status, 'healthy')
  t.match((await all.gateway.ask('GET', '/api/alerts', { by })).body.data, [
    { kind: 'disk.recovered' },
    { kind: 'disk.full' },
  ])
})

t.test('photos, lists and reports stop at the reserve, and events go on until it is gone', onSmallDisk, async (t) => {
  const all = await box(t, { retention: { minFreeBytes: '12MiB', ledgerReserveBytes: '8MiB' } })
  const { gateway, disk } = all
  const photo = () =>
    gateway.ask('POST', '/api/whms/evidence/photos', {
      by,
      bytes: Buffer.concat([tinyPng]),
      headers: { 'Content-Type': 'image/png' },
    })
  const report = () =>
    gateway.ask('POST', '/api/governance/reports', {
      by: people.sven,
      body: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' },
    })
  disk.fill(10 * MiB)
  await gateway.health.look()
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body, {
    status: 'degraded',
    checks: { disk: { reason: /nearly full/ } },
  })
  disk.fill(7 * MiB)
  await gateway.health.look()
  t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.disk, {
    reason: /Events are recorded; photos/,
  })
  for (const refused of [await photo(), await report()]) {
    t.match(refused, { status: 503, body: { error: { code: 'STORAGE_FULL', details: /reserved for events/ } } })
    t.ok(refused.headers.get('retry-after'))
  }
  const list = Buffer.from('slot_id,asset_barcode\nA-01,P-9\n')
  const options = { kind: 'opening-stock', dryRun: false, createZones: false } as const
  await t.rejects(importer(gateway)(list, options, 'ada'), { code: 'STORAGE_FULL', message: /no room for the list/ })
  t.equal((await remove(gateway, 'P-1')).status, 201, 'an event has its place')
  await fillUp(all)
  disk.empty()
  t.ok(await heldPhoto(gateway))
})

t.test('one user cannot send photos faster than the rate, and others still can', async (t) => {
  const gateway = await testGateway({
    config: { rateLimit: { requestsPerMinute: 1_000_000, photoBytesPerMinute: `${tinyPng.length * 3}B` } },
  })
  t.teardown(() => gateway.end())
  const send = (person: (typeof people)[keyof typeof people]) =>
    gateway.ask('POST', '/api/whms/evidence/photos', {
      ...{ by: person, bytes: tinyPng },
      headers: { 'Content-Type': 'image/png' },
    })
  for (let n = 0; n < 3; n += 1) t.equal((await send(people.olga)).status, 201)
  gateway.clock.advance(20_000)
  const refused = await send(people.olga)
  t.match(refused, { status: 429, body: { error: { code: 'RATE_LIMITED' } } })
  t.equal(refused.headers.get('retry-after'), '40')
  t.equal((await send(people.sven)).status, 201)
  gateway.clock.advance(40_000)
  t.equal((await send(people.olga)).status, 201)
})
