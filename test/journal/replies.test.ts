import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { inFile } from '../support/cloud.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../support/gateway.ts'

t.test('a repeat tells nobody again what is hidden from them by now, and does not happen twice', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const body = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url: await heldPhoto(gateway) }
  const post = (by = people.olga) =>
    gateway.ask('POST', '/api/whms/events', { by, body, headers: { 'Idempotency-Key': 'scan-1' } })
  t.equal((await post()).status, 201)
  const open = gateway.live.config
  gateway.live.config = { ...open, warehouses: [{ id: 1, viewers: ['vera'] }] }
  const refused = await post()
  t.match(refused, { status: 403, body: { error: { code: 'PERMISSION_DENIED', message: /hidden from you now/ } } })
  t.notMatch(refused.text, 'P-1')
  gateway.live.config = { ...open, warehouses: [{ id: 1, viewers: ['olga'] }] }
  const replayed = await post()
  t.match(replayed, { status: 201, body: { id: 1 } })
  t.equal(replayed.headers.get('idempotency-replayed'), 'true')
  const { body: events } = await gateway.ask('GET', '/api/whms/events', { by: people.ada })
  t.equal(events.data.length, 1)
})

t.test('a hall that is new and hidden does not spoil the repeats of before', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 2, viewers: ['vera'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  const post = () =>
    gateway.ask('POST', '/api/whms/events', { by: people.olga, body, headers: { 'Idempotency-Key': 'scan-1' } })
  t.equal((await post()).status, 201)
  const hall = { name: 'Hall 2', timezone: 'Europe/Berlin' }
  t.match(await gateway.ask('POST', '/api/whms/warehouses', { by: people.ada, body: hall }), { body: { id: 2 } })
  t.equal((await post()).headers.get('idempotency-replayed'), 'true')
})

const removal = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }

function postsOf(gateway: TestGateway) {
  return (key: string) =>
    gateway.ask('POST', '/api/whms/events', { by: people.olga, body: removal, headers: { 'Idempotency-Key': key } })
}

/** Keeps copies of a reply under other keys, as if they had been answered before the gateway started, or by another program. */
function copyReply(dataDir: string, key: string, copies: readonly string[]): void {
  const db = new BetterSqlite3(join(dataDir, 'gatehouse.db'))
  const copy =
    db.prepare(`INSERT INTO idempotency (key, caller, method, path, request_sha256, status, location, visible_warehouses, body, created_at_ms)
    SELECT ?, caller, method, path, request_sha256, status, location, visible_warehouses, body, created_at_ms FROM idempotency WHERE key = ?`)
  db.transaction(() => {
    for (const one of copies) copy.run(one, key)
  })()
  db.close()
}

const eventsOf = async (gateway: TestGateway) =>
  (await gateway.ask('GET', '/api/whms/events', { by: people.ada })).body.data.length

t.test('after a restart every key is known from the first request on, however many there are', async (t) => {
  const before = await testGateway()
  await furnish(before, ['A'])
  await postsOf(before)('scan-0')
  const keys = Array.from({ length: 350 }, (_, n) => `scan-${n + 1}`)
  copyReply(before.live.config.dataDir, 'scan-0', keys)
  const gateway = await before.restart()
  t.teardown(() => gateway.end())
  const post = postsOf(gateway)
  for (const key of [keys.at(-1) ?? '', ...keys.slice(0, 20), 'scan-0']) {
    const repeated = await post(key)
    t.equal(repeated.headers.get('idempotency-replayed'), 'true', key)
  }
  t.equal(await eventsOf(gateway), 1)
  t.match(await post('scan-new'), { status: 201, body: { id: 2 } }, 'what is new is recorded')
  t.equal((await post('scan-new')).headers.get('idempotency-replayed'), 'true')
})

t.test('a key that another program has kept meanwhile is never recorded a second time', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const post = postsOf(gateway)
  t.match(await post('scan-1'), { status: 201, body: { id: 1 } })
  copyReply(gateway.live.config.dataDir, 'scan-1', ['scan-2'])
  const again = await post('scan-2')
  t.match(again, { status: 201, body: { id: 1 } })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(await eventsOf(gateway), 1)
  t.match(await post('scan-3'), { status: 201, body: { id: 2 } })
})

t.test('a key of a refused request is new again, and an expired one as well', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const post = postsOf(gateway)
  t.match(await post('scan-1'), { status: 400 })
  await furnish(gateway, ['A'])
  t.match(await post('scan-1'), { status: 201, body: { id: 1 } })
  gateway.clock.advance(7 * 24 * 60 * 60 * 1000 + 1)
  t.match(await post('scan-1'), { status: 201, body: { id: 2 } })
})

/** Events with each optional field, each warning that needs no config, and each effect. */
function bookings(photo_url: string) {
  const hash = 'ab'.repeat(32)
  const scan = { slot: 'A', asset: 'P-1', symbology: 'gs1-128' }
  const place = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url }
  const fields = { scale_weight_kg: 412.5, work_order_ref: 'WO-7', verification_notes: 'Ecke „eingedrückt“\n' }
  return [
    place,
    { ...place, scan, ...fields, evidence_hash: hash },
    { ...place, scan: { ...scan, slot: 'B' }, operator: 'nina', client_event_id: 'c-1' },
    { ...place, slot_code: 'B', asset_barcode: ']C100340000000000000005', cctv_clip_url: 'https://nvr.example/7.mp4' },
    { event_type: 'VERIFIED', slot_code: 'B', asset_barcode: ']C100340000000000000005', operator: 'nina', ...fields },
    { event_type: 'DISPUTED', slot_code: 'A', asset_barcode: 'P-1', verification_notes: 'fehlt' },
    { event_type: 'VERIFIED', slot_code: 'A', asset_barcode: 'P-9', scale_weight_kg: 0.1 },
    { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1', timestamp: '2026-01-05T08:00:00.000Z' },
    { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' },
    { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1', corrects_event_id: 1, scale_weight_kg: 1e-7 },
  ]
}

t.test(
  'a repeat gets the bytes of the first reply, whatever has happened since, and no copy of the event is stored',
  async (t) => {
    const gateway = await testGateway()
    t.teardown(() => gateway.end())
    await furnish(gateway, ['A', 'B'])
    const bodies: readonly Record<string, unknown>[] = bookings(await heldPhoto(gateway))
    const post = (n: number) => {
      const headers = {
        'Idempotency-Key': `scan-${n}`,
        ...(n % 3 === 0 && { 'X-Device-Time': '2026-01-05T08:00:07.000Z' }),
      }
      const { client_event_id, ...body } = { client_event_id: undefined, ...bodies[n % bodies.length] }
      const sent = client_event_id === undefined ? body : { ...body, client_event_id: `c-${n}` }
      return gateway.ask('POST', '/api/whms/events', { by: people.sven, body: sent, headers })
    }
    const first: string[] = []
    for (let n = 0; n < 120; n += 1) {
      gateway.clock.advance(1234)
      const { status, text } = await post(n)
      t.equal(status, 201, text)
      first.push(text)
    }
    for (const [n, text] of first.entries()) {
      const again = await post(n)
      t.equal(again.headers.get('idempotency-replayed'), 'true')
      t.equal(again.text, text)
    }
    const longest = inFile<{ bytes: number; n: number }>(
      gateway,
      "SELECT max(length(body)) AS bytes, count(*) AS n FROM idempotency WHERE key LIKE 'scan-%'",
    )
    t.match(longest, [{ n: 120 }])
    t.ok(Number(longest[0]?.bytes) < 250, JSON.stringify(longest))
  },
)
