import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import canonicalize from 'canonicalize'
import t from 'tap'
import { migrations, newestSchemaHash } from '../../src/database/migrations/index.ts'
import { freshSchema, hashOfSchema } from '../../src/database/schema-check.ts'
import { verifyLedger } from '../../src/evidence/index.ts'
import { receivedCheckpoints } from '../../src/webhooks/index.ts'
import { loseBoxKey } from '../support/box-key.ts'
import { people, siteUrl, testGateway } from '../support/gateway.ts'
import { allOf } from '../support/plain-sql.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

const fixtures = new URL('../fixtures/db/', import.meta.url)

t.test('the first schema and the newest have their frozen databases', async (t) => {
  const frozen = readdirSync(fixtures).filter((name) => /^v\d+$/.test(name))
  t.ok(frozen.includes('v1'))
  t.ok(frozen.includes(`v${migrations.at(-1)?.version}`), `a new schema is frozen when it is done: ${frozen}`)
})

t.test('the hash by which an unchanged schema is known is that of a fresh database', async (t) => {
  t.equal(newestSchemaHash, hashOfSchema(freshSchema()))
})

t.test('the ledger of the first schema is opened, and says what it has always said', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v1/', fixtures), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
    config: { site: { id: 'dc-7', url: siteUrl } },
  })
  t.teardown(() => gateway.end())
  const { ok, size, root, openings, media, mismatches } = verifyLedger(gateway.live.config.dataDir)
  t.strictSame({ ok, size, openings, media, mismatches }, { ok: true, size: 6, openings: 5, media: 1, mismatches: [] })
  t.equal(root, 'e5bfa5381eda9fc69ec08e77ca3cc963e35425939283f16de8fadb3c7e9da91b', 'the root that it had then')
  const get = async (path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by: people.vera })).body
  const states = (await get('slots')).data.map((s: Record<string, unknown>) => [
    s['slot_id'],
    s['assetBarcode'],
    s['isVerified'],
    s['isDisputed'],
  ])
  t.strictSame(states, [
    ['A-01', 'P-1', true, false],
    ['A-02', ']C100106141412345678908', false, false],
    ['A-03', 'P-9', false, true],
  ])
  t.match(await get('events/1'), {
    operator: 'olga',
    verification_notes: 'Ecke eingedrückt',
    scale_weight_kg: 412.5,
    photoEvidence: 'held',
  })
  t.match(await get('events/4'), {
    timestamp: '2026-03-02T08:00:30.000Z',
    work_order_ref: 'WO-7',
    warnings: [{ code: 'SLOT_EMPTY' }],
  })
  t.match(await get('events/5'), { time_quality: 'synced', photoEvidence: 'claimed', clock_offset_ms: -30_000 })
  const body = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-1' }
  t.match(await gateway.ask('POST', '/api/whms/events', { by: people.olga, body }), {
    status: 201,
    body: { id: 7, seq: 7, effect: 'applied' },
  })
  const known = { event_type: 'REMOVED', slot_code: 'A-02', asset_barcode: 'P-1', client_event_id: 'c-1' }
  t.match(
    await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: known }),
    { status: 400, body: { error: { fields: [{ path: 'client_event_id', message: /event 3/ }] } } },
    'ids of scanners from then are still taken',
  )
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, size: 7 })
})

t.test('the ledger of schema 4, with a detection and a session, says what it has always said', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v4/', fixtures), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
    config: { site: { id: 'dc-7', url: siteUrl }, cameras: [{ id: 7, url: 'rtsp://192.0.2.7/main', owner: 'vera' }] },
  })
  t.teardown(() => gateway.end())
  const { ok, size, root, events, detections, mismatches } = verifyLedger(gateway.live.config.dataDir)
  t.strictSame(
    { ok, size, events, detections, mismatches },
    { ok: true, size: 3, events: 2, detections: 1, mismatches: [] },
  )
  t.equal(root, '21c4985994974b2826ae92842474a9ee39bd3bb9921f8b659b7b70f4f7232822', 'the root that it had then')
  const clip = await gateway.ask('GET', '/api/iot/detection-events/1/clip', { by: people.vera })
  t.match(clip, { status: 200, text: 'stands for a clip' })
  const photo_url = `${siteUrl}/api/whms/evidence/photos/c47dd9465c00e9a0c8b85e9ea58d3034a0d23b9cf926113602f3460752a4eb96`
  const event = { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1', photo_url }
  const body = { ...event, client_event_id: 'c-1', verification_notes: 'Ecke eingedrückt' }
  const repeat = await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })
  t.match(repeat, { status: 200, body: { id: 1 } }, 'a client’s own event id is still known')
})

t.test('the ledger of schema 5 still says which event corrects which', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v5/', fixtures), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
    config: { site: { id: 'dc-7', url: siteUrl } },
  })
  t.teardown(() => gateway.end())
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, size: 2, events: 2, mismatches: { length: 0 } })
  const event = await gateway.ask('GET', '/api/whms/events/2', { by: people.vera })
  t.match(event, { status: 200, body: { corrects_event_id: 1, verification_notes: 'es war A-02' } })
})

t.test(
  'the ledger of schema 15, with a unit, an incident, a count and devices, says what it has always said',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
    cpSync(new URL('v15/', fixtures), join(folder, 'state'), { recursive: true })
    const gateway = await testGateway({
      folder,
      clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
      config: { site: { id: 'dc-7', url: siteUrl } },
    })
    t.teardown(() => gateway.end())
    const { ok, events, unitSteps, incidentChanges, mismatches } = verifyLedger(gateway.live.config.dataDir)
    t.strictSame(
      { ok, events, unitSteps, incidentChanges, mismatches },
      { ok: true, events: 3, unitSteps: 3, incidentChanges: 1, mismatches: [] },
    )
    const get = async (path: string) => (await gateway.ask('GET', path, { by: people.sven })).body
    t.match(await get('/api/whms/assets/P-1/location'), { slot: { slot_id: 'A-02' } })
    t.match((await get('/api/whms/assets?lot=L-7')).data, [{ asset_id: 'P-2', bestBefore: '2026-12-31' }])
    const [unit] = (await get('/api/whms/transport-units')).data
    t.match(await get(`/api/whms/transport-units/${unit.id}`), {
      stage: 'receiving',
      vehicle: 'B-XY 123',
      evidence: { photos: 1, scaleReading: 412.5 },
      history: [{}, { note: 'Folie gerissen' }, { action: 'weighed' }],
    })
    t.match((await get('/api/governance/incidents')).data, [{ title: 'Ecke ab', status: 'open', severity: 'high' }])
    t.match((await get('/api/whms/counts')).data, [{ state: 'counting' }])
    const admin = async (path: string) => (await gateway.ask('GET', path, { by: people.ada })).body
    t.match((await admin('/api/devices')).data, [{ name: 'handheld-7', status: 'waiting' }])
    t.match((await admin('/api/operators')).data, [{ username: 'piet', role: 'operator' }])
  },
)

t.test('the ledger of schema 16 holds rows of both versions, what scans proved, and an erased person', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v16/', fixtures), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
    config: { site: { id: 'dc-7', url: siteUrl } },
  })
  t.teardown(() => gateway.end())
  const { ok, events, reports, mismatches } = verifyLedger(gateway.live.config.dataDir)
  t.strictSame({ ok, events, reports, mismatches }, { ok: true, events: 6, reports: 1, mismatches: [] })
  const get = async (path: string) => (await gateway.ask('GET', path, { by: people.sven })).body
  const shown = (await get('/api/whms/events')).data.map((e: Record<string, unknown>) => [
    e['id'],
    e['operator'],
    e['actor'],
    e['scanEvidence'],
  ])
  t.strictSame(shown, [
    [6, 'sven', 'sven', 'claimed'],
    [5, 'erased', 'sven', 'mismatched'],
    [4, 'olga', 'olga', 'matched'],
    [3, 'olga', 'olga', 'claimed'],
    [2, 'olga', 'olga', 'claimed'],
    [1, 'olga', 'olga', 'claimed'],
  ])
  const ids = async (query: string) => (await get(`/api/whms/events?${query}`)).data.map((e: { id: number }) => e.id)
  t.strictSame(await ids('operator=olga'), [4, 3, 2, 1], 'one person in rows of both versions')
  t.strictSame(await ids('operator=nina'), [])
  const warned = (await get('/api/whms/events/5')).warnings.map(({ code }: { code: string }) => code)
  t.strictSame(warned, ['UNKNOWN_ASSET', 'SCAN_MISMATCH', 'OPERATOR_DIFFERS'])
  t.match(await get('/api/governance/reports/1'), { counts: { events: { total: 3 } } })
})

t.test(
  'a webhook of schema 16 with six failed attempts in a row is shown as slowed since its last change',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
    cpSync(new URL('v16/', fixtures), join(folder, 'state'), { recursive: true })
    const old = new Database(join(folder, 'state', 'gatehouse.db'))
    const changedAt = Date.UTC(2026, 4, 1)
    for (const [id, failures] of [
      ['0197-slow', 6],
      ['0197-well', 5],
    ])
      old
        .prepare(
          `INSERT INTO webhook (id, url, events, secret, active, status, consecutive_failures, fanned_out_seq, created_at_ms, updated_at_ms)
        VALUES (?, 'https://erp.example/', '["whms.removal"]', x'00', 1, 'active', ?, 22, ?, ?)`,
        )
        .run(id, failures, changedAt, changedAt)
    old.close()
    loseBoxKey(join(folder, 'state'))
    const gateway = await testGateway({
      folder,
      clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
      config: { site: { id: 'dc-7', url: siteUrl } },
    })
    t.teardown(() => gateway.end())
    const pacingOf = async (id: string) =>
      (await gateway.ask('GET', `/api/webhooks/${id}`, { by: people.ada })).body.pacing
    t.match(await pacingOf('0197-slow'), { slowedSince: '2026-05-01T00:00:00.000Z' })
    t.equal(await pacingOf('0197-well'), null)
  },
)

/** Adds what schema 16 wrote: notifications with a checkpoint in most bodies, and their deliveries to two receivers. */
function addWitnesses(file: string): void {
  const old = new Database(file)
  const logId = old.prepare('SELECT log_id FROM log_identity').pluck().get()
  const at = Date.UTC(2026, 4, 20)
  const hook =
    old.prepare(`INSERT INTO webhook (id, url, events, secret, active, status, consecutive_failures, fanned_out_seq,
    created_at_ms, updated_at_ms) VALUES (?, 'https://erp.example/', '["whms.removal"]', x'00', 0, 'active', 0, 400, ?, ?)`)
  for (const id of ['0197-erp', '0197-rare']) hook.run(id, at, at)
  const publish = old.prepare('INSERT INTO outbox (seq, event_id, type, timestamp_ms, body) VALUES (?, ?, ?, ?, ?)')
  const deliver =
    old.prepare(`INSERT INTO delivery (id, webhook_id, outbox_seq, state, next_attempt_at_ms, last_status, created_at_ms,
    delivered_at_ms) VALUES (?, ?, ?, ?, 0, ?, ?, ?)`)
  const sizes = [undefined, ...Array.from({ length: 300 }, (_, n) => 1 + Math.floor(n / 60))]
  for (const [n, size] of sizes.entries()) {
    const seq = 100 + n
    const metadata = {
      ...{ warehouseId: 1, siteId: 'dc-7', version: '1.0' },
      ...(size && { checkpoint: { logId, size, root: 'ab'.repeat(32), note: 'a note' } }),
    }
    const type = n === 290 ? 'webhook.test' : 'whms.removal'
    const envelope = { id: `e-${n}`, type, timestamp: '2026-05-20T00:00:00.000Z', data: {}, metadata }
    publish.run(seq, envelope.id, type, at + n, Buffer.from(JSON.stringify(envelope)))
    // The first delivery with each size was refused.
    const isRefused = n % 60 === 1 || (n > 240 && n < 290)
    const [state, status, ended] = isRefused ? ['exhausted', 500, null] : ['delivered', 204, at + n]
    deliver.run(`d-${n}`, '0197-erp', seq, state, status, at, ended)
  }
  deliver.run('d-rare', '0197-rare', 100 + 270, 'delivered', 200, at, at + 270)
  old.close()
}

t.test('receivers of schema 16 stay witnesses of what the bodies of their deliveries cover', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v16/', fixtures), join(folder, 'state'), { recursive: true })
  addWitnesses(join(folder, 'state', 'gatehouse.db'))
  loseBoxKey(join(folder, 'state'))
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
    config: { site: { id: 'dc-7', url: siteUrl } },
  })
  t.teardown(() => gateway.end())
  const witnesses = (seq: number) =>
    gateway.work
      .read((tx) => receivedCheckpoints(tx, gateway.logIdentity.number, seq))
      .map(({ deliveryId }) => deliveryId)
  // The first delivery that arrived with a checkpoint of at least so many leaves.
  t.strictSame([1, 2, 3, 4, 5, 6].map(witnesses), [
    ['d-2', 'd-rare'],
    ['d-62', 'd-rare'],
    ['d-122', 'd-rare'],
    ['d-182', 'd-rare'],
    ['d-rare', 'd-290'],
    [],
  ])
  const { anchors } = (await gateway.ask('GET', '/api/whms/events/1/proof', { by: people.vera })).body
  t.match(anchors, [{ kind: 'webhook', host: 'erp.example', deliveryId: /d-/, statusCode: 204 }, {}])

  const choice = { hold: true, checkpoint: true }
  t.match(await gateway.ask('PATCH', '/api/webhooks/0197-erp', { by: people.ada, body: choice }), { status: 200 })
  const body = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-1' }
  t.match(await gateway.ask('POST', '/api/whms/events', { by: people.olga, body }), { status: 201 })
  gateway.webhooks.worker.start()
  await gateway.webhooks.worker.settled()
  await gateway.webhooks.worker.stop()
  const { data } = (await gateway.ask('GET', '/api/webhooks/0197-erp/deliveries?limit=1', { by: people.ada })).body
  t.match(data, [{ type: 'whms.removal', state: 'pending', held: 'held_disabled' }], 'the next notification follows')
})

t.test('the database of schema 17 holds a delivery with its checkpoint, and when copies were compared', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v17/', fixtures), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 1)),
    config: { site: { id: 'dc-7', url: siteUrl } },
  })
  t.teardown(() => gateway.end())
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, events: 7, mismatches: { length: 0 } })
  const get = async (path: string) => (await gateway.ask('GET', path, { by: people.ada })).body
  const webhooks = (await get('/api/webhooks')).data
  t.match(webhooks, [{ active: false, hold: true, checkpoint: true, status: 'disabled', pacing: null }])
  t.match((await get(`/api/webhooks/${webhooks[0].id}/deliveries`)).data, [{ held: 'held_disabled', attemptCount: 0 }])
  const carried = gateway.work.read((tx) =>
    allOf(tx, `SELECT size, json_extract(checkpoint, '$.size') AS carried FROM webhook_checkpoint`),
  )
  t.strictSame(carried, [{ size: 11, carried: 11 }])
  const { body } = await gateway.ask('GET', '/api/uploads', { by: people.ada })
  const rows = body.data.map((one: Record<string, unknown>) => [one['kind'], one['status'], one['comparedAt']])
  t.strictSame(rows.toSorted(), [
    ['photo', 'uploaded', '2026-06-01T00:00:00.000Z'],
    ['photo', 'uploaded', '2026-06-01T00:00:00.000Z'],
    ['report', 'uploaded', '2026-06-01T00:00:00.000Z'],
  ])
})

t.test('the ledger of schema 18, with a resolved dispute, says what it has always said', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v18/', fixtures), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 5, 3)),
    config: { site: { id: 'dc-7', url: siteUrl } },
  })
  t.teardown(() => gateway.end())
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, events: 8, mismatches: { length: 0 } })
  const { body } = await gateway.ask('GET', '/api/whms/discrepancies?resolved=true', { by: people.ada })
  const resolution = {
    note: 'mit der Hand gezählt',
    resolvedBy: 'sven',
    resolvedAt: '2026-06-02T00:00:00.000Z',
    seq: 14,
  }
  t.match(body.data, [{ id: 'disputed-7-8', resolution }])
})

t.test('the accounts of schema 19 sign in with their second factor, or not at all', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v19/', fixtures), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 8, 2)),
    config: { site: { id: 'dc-7', url: siteUrl } },
  })
  t.teardown(() => gateway.end())
  t.match((await gateway.ask('GET', '/api/accounts', { by: people.ada })).body.data.slice(-2), [
    { username: 'leon', role: 'operator', status: 'disabled' },
    { username: 'nora', role: 'supervisor', groups: ['leads'], status: 'active', factors: 1 },
  ])
  const body = { username: 'nora', secret: 'lRRqobomVPpRVfg3I1ZllILRdLQBpOvB' }
  const without = await gateway.ask('POST', '/api/session', { body })
  t.match(without, { status: 401, body: { error: { code: 'SECOND_FACTOR_REQUIRED' } } })
  const wrong = await gateway.ask('POST', '/api/session', { body: { ...body, code: '000000' } })
  t.match(wrong, { status: 401, body: { error: { code: 'SECOND_FACTOR_WRONG' } } }, 'its sealed secret is read')
})

t.test('the alerts of schema 20 keep their ends, messages, subscriptions and silences', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v20/', fixtures), join(folder, 'state'), { recursive: true })
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 8, 3)),
    config: { site: { id: 'dc-7', url: siteUrl }, alerts: { channels: [{ name: 'phones', webPush: {} }] } },
  })
  t.teardown(() => gateway.end())
  const get = async (path: string) => (await gateway.ask('GET', path, { by: people.ada })).body
  t.match((await get('/api/alerts')).data, [
    { kind: 'backup.failed', resolvedAt: null },
    { kind: 'disk.low', resolvedAt: '2026-09-02T00:01:00.000Z' },
  ])
  t.match((await get('/api/alert-messages')).data, [{ channel: 'ops', status: 'pending', kinds: ['backup.failed'] }])
  t.match((await get('/api/alert-silences')).data, [{ reason: 'new switch', kinds: ['storage.*'], isActive: true }])
  t.match((await get('/api/push-subscriptions')).subscriptions, { length: 1 })
})

const repeated = { event_type: 'REMOVED', slot_code: 'A-01', asset_barcode: 'P-1' }

t.test('the replies of schema 19 are still found, though their table is another one since', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v19/', fixtures), join(folder, 'state'), { recursive: true })
  const nowMs = Date.UTC(2026, 8, 2)
  const old = new Database(join(folder, 'state', 'gatehouse.db'))
  const reply =
    old.prepare(`INSERT INTO idempotency (caller, method, path, key, request_sha256, status, location, body, created_at_ms,
    visible_warehouses) VALUES (?, 'POST', '/api/whms/events', ?, ?, 201, '/api/whms/events/7', ?, ?, '[1]')`)
  const asked = createHash('sha256')
    .update(canonicalize(repeated) ?? '')
    .digest('hex')
  reply.run(`olga@${siteUrl}`, 'k-old', asked, '{"success":true,"id":7,"effect":"applied"}', nowMs - 1000)
  reply.run(`olga@${siteUrl}`, 'k-expired', asked, '{"success":true,"id":6}', nowMs - 8 * 86_400_000)
  old.close()
  const config = { site: { id: 'dc-7', url: siteUrl } }
  const gateway = await testGateway({ folder, clock: new SimulatedClock(nowMs), config })
  t.teardown(() => gateway.end())
  const post = (key: string) =>
    gateway.ask('POST', '/api/whms/events', { by: people.olga, body: repeated, headers: { 'Idempotency-Key': key } })
  const again = await post('k-old')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(again.text, '{"success":true,"id":7,"effect":"applied"}')
  t.match(await post('k-expired'), { status: 201, body: { id: 9 } })
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, events: 9, mismatches: { length: 0 } })
})

t.test('a repeat finds the reply of schema 21', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v21/', fixtures), join(folder, 'state'), { recursive: true })
  const clock = new SimulatedClock(Date.UTC(2026, 8, 4))
  const gateway = await testGateway({ folder, clock, config: { site: { id: 'dc-7', url: siteUrl } } })
  t.teardown(() => gateway.end())
  const headers = { 'Idempotency-Key': 'k-1' }
  const again = await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: repeated, headers })
  t.match(again, {
    status: 201,
    body: { id: 9, seq: 15, operator: 'olga', effect: 'applied', slot: { isOccupied: false } },
  })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.match(verifyLedger(gateway.live.config.dataDir), { ok: true, events: 9, mismatches: { length: 0 } })
})

t.test('the detection of schema 22 still says what the analytics of the camera named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  cpSync(new URL('v22/', fixtures), join(folder, 'state'), { recursive: true })
  const cameras = [{ id: 7, url: 'rtsp://192.0.2.7/main', enabled: false }]
  const gateway = await testGateway({
    folder,
    clock: new SimulatedClock(Date.UTC(2026, 8, 2)),
    config: { site: { id: 'dc-7', url: siteUrl }, cameras },
  })
  t.teardown(() => gateway.end())
  const { ok, mismatches, root } = verifyLedger(gateway.live.config.dataDir)
  t.strictSame({ ok, mismatches }, { ok: true, mismatches: [] })
  t.equal(root, 'c6d32f81da031b9c3b85b497b46239909caa74821a7f819792a511876fe175fc', 'the root that it had then')
  const { body } = await gateway.ask('GET', '/api/iot/detection-events?kind=vehicle&trigger=camera', { by: people.ada })
  t.match(body.data, [{ id: 9, trigger: 'camera', kind: 'person', kinds: ['person', 'vehicle'], clipStatus: 'lost' }])
})
