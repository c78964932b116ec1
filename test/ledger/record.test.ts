import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { databaseFile } from '../../src/database/index.ts'
import { sha256 } from '../../src/log/index.ts'
import { furnish, heldPhoto, people, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'

const by = people.olga
const placed = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url: 'https://photos.example/1.jpg' }
const post = (
  gateway: TestGateway,
  body: unknown,
  headers: Record<string, string> = {},
  person: typeof people.olga | typeof people.sven = by,
) => gateway.ask('POST', '/api/whms/events', { by: person, body, headers })

async function yard(t: { teardown(end: () => void): void }, config = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  return gateway
}

/** Looks into the file as an auditor would, beside the daemon. */
function inFile<Row>(gateway: TestGateway, sql: string): Row[] {
  const db = new BetterSqlite3(databaseFile(gateway.live.config.dataDir), { readonly: true })
  try {
    return db.prepare<[], Row>(sql).all()
  } finally {
    db.close()
  }
}

t.test('a verdict or a removal that names its placement lands on no other one', async (t) => {
  const gateway = await yard(t)
  const put = async (asset_barcode: string) => (await post(gateway, { ...placed, asset_barcode })).body.id
  const first = await put('P-1')
  const about = { slot_code: 'A', asset_barcode: 'P-1', placement_event_id: first }
  const second = await put('P-2')
  const refused = {
    status: 400,
    body: { error: { code: 'PLACEMENT_MISMATCH', fields: [{ path: 'placement_event_id' }] } },
  }
  for (const event_type of ['VERIFIED', 'DISPUTED', 'REMOVED']) {
    const answer = await post(gateway, { ...about, event_type }, {}, people.sven)
    t.match(answer, refused, event_type)
    t.equal(answer.body.error.message, `The slot holds placement ${second}, not placement ${first}`, event_type)
    t.match(answer.body.error.details, 'slot A holds P-2 since 2026-03-02T08:00:00.001Z', event_type)
  }
  const anew = await put('P-1')
  t.match(await post(gateway, { ...about, event_type: 'VERIFIED' }, {}, people.sven), refused, 'the same pallet, anew')
  const state = async () => (await gateway.ask('GET', '/api/whms/slots/A', { by })).body
  t.match(await state(), { assetBarcode: 'P-1', isVerified: false, isDisputed: false }, 'nothing is recorded')
  const now = { ...about, placement_event_id: anew }
  t.match(await post(gateway, { ...now, event_type: 'VERIFIED' }, {}, people.sven), { status: 201 })
  t.match(await state(), { isVerified: true })
  t.match(await post(gateway, { ...now, event_type: 'REMOVED' }), { status: 201 })
  const empty = await post(gateway, { ...now, event_type: 'REMOVED' })
  t.match(empty, refused)
  t.equal(empty.body.error.message, `The slot is empty and does not hold placement ${anew}`)
  t.match(await post(gateway, { ...placed, placement_event_id: first }), {
    ...{ status: 400, body: { error: { code: 'VALIDATION_ERROR', fields: [{ path: 'placement_event_id' }] } } },
  })
  t.equal((await gateway.ask('GET', '/api/whms/events', { by })).body.data.length, 5)
})

t.test('a verdict that is older than the placement in the slot is refused and says so', async (t) => {
  const gateway = await yard(t)
  const put = async (asset_barcode: string) => {
    gateway.clock.advance(60_000)
    return (await post(gateway, { ...placed, asset_barcode })).body
  }
  const first = await put('P-1')
  const second = await put('P-2')
  const judge = (placement_event_id: number, timestamp: string, asset_barcode = 'P-2') => {
    const body = { event_type: 'VERIFIED', slot_code: 'A', asset_barcode, placement_event_id, timestamp }
    return post(gateway, body, {}, people.sven)
  }
  const refused = { status: 400, body: { error: { code: 'PLACEMENT_MISMATCH' } } }
  const early = await judge(second.id, first.timestamp)
  t.match(early, refused)
  t.equal(early.body.error.message, `The slot holds placement ${second.id}, but the timestamp of the event is older`)
  t.match(early.body.error.details, second.timestamp)
  t.match(early.body.error.details, first.timestamp)
  const third = await put('P-3')
  const both = await judge(second.id, first.timestamp)
  t.match(both, refused)
  t.equal(
    both.body.error.message,
    `The slot holds placement ${third.id}, not placement ${second.id}, and the timestamp of the event is older`,
  )
  t.match(await judge(first.id, first.timestamp, 'P-1'), { status: 201 }, 'it was in the slot at that time')
  const offset = { 'X-Device-Time': new Date(gateway.clock.now() - 3_600_000).toISOString() }
  const body = { event_type: 'VERIFIED', slot_code: 'A', asset_barcode: 'P-3', placement_event_id: third.id }
  const slow = { ...body, timestamp: offset['X-Device-Time'] }
  t.match(await post(gateway, slow, offset, people.sven), { status: 201 }, 'the clock of the device is corrected first')
  t.equal((await gateway.ask('GET', '/api/whms/events?event_type=VERIFIED', { by })).body.data.length, 2)
})

t.test('an event is answered with all that was recorded, and found again under its address', async (t) => {
  const gateway = await yard(t)
  const photo_url = await heldPhoto(gateway)
  const sent = {
    ...placed,
    photo_url,
    operator: 'olga',
    scale_weight_kg: 412.5,
    work_order_ref: 'WO-7',
    verification_notes: 'corner dented',
    cctv_clip_url: 'https://cctv.example/9',
    scan: { slot: 'A', asset: 'P-1', symbology: 'QR' },
    evidence_hash: 'ab'.repeat(32),
    something_unknown: true,
  }
  const { status, body, headers } = await post(gateway, sent)
  const event = {
    id: 1,
    seq: 1,
    event_type: 'PLACED',
    slot_id: 1,
    slot_code: 'A',
    asset_barcode: 'P-1',
    operator: 'olga',
    actor: 'olga',
    timestamp: '2026-03-02T08:00:00.000Z',
    received_at: '2026-03-02T08:00:00.000Z',
    time_quality: 'synced',
    photo_url,
    photoEvidence: 'held',
    scale_weight_kg: 412.5,
    work_order_ref: 'WO-7',
    verification_notes: 'corner dented',
    cctv_clip_url: 'https://cctv.example/9',
    scan: { slot: 'A', asset: 'P-1', symbology: 'QR' },
    client_evidence_hash: 'ab'.repeat(32),
    warnings: { length: 0 },
  }
  t.match(
    { status, body },
    {
      status: 201,
      body: {
        success: true,
        ...event,
        effect: 'applied',
        slot: { id: 1, slot_id: 'A', isOccupied: true, assetBarcode: 'P-1', isVerified: false },
      },
    },
  )
  t.match(body.eventId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'a UUIDv7')
  t.notOk('something_unknown' in body)
  const again = await gateway.ask('GET', headers.get('location') ?? '', { by: people.vera })
  t.match(again, { status: 200, body: { ...event, evidence_hash: body.evidence_hash } })
})

t.test('event, leaf, notification, audit entry and kept reply are there together', async (t) => {
  const gateway = await yard(t)
  const before =
    inFile<{ n: number }>(gateway, "SELECT count(*) AS n FROM audit_entry WHERE entity <> 'caller'")[0]?.n ?? 0
  const { body } = await post(
    gateway,
    { ...placed, operator: 'oskar', verification_notes: 'secret words' },
    { 'Idempotency-Key': 'k1' },
  )
  const [row] = inFile<{ evidence_hash: string; leaf_seq: number; asset_barcode: string }>(
    gateway,
    'SELECT * FROM placement_event',
  )
  const [leaf] = inFile<{ bytes: Buffer; kind: string; ref: string }>(gateway, 'SELECT * FROM log_leaf')
  t.match(row, { evidence_hash: body.evidence_hash, leaf_seq: 1, asset_barcode: 'P-1' })
  t.equal(sha256(leaf?.bytes ?? '').toString('hex'), body.evidence_hash, 'the evidence hash is that of the leaf')
  t.match(JSON.parse(String(leaf?.bytes)), {
    v: 2,
    kind: 'placement',
    siteId: 'test-site',
    seq: 1,
    id: 1,
    eventId: body.eventId,
    slotCode: 'A',
  })
  t.notMatch(String(leaf?.bytes), /olga|oskar|secret words/, 'people and free text stand in it as commitments only')
  t.same(
    inFile(gateway, 'SELECT type, event_id = (SELECT event_id FROM placement_event) AS own FROM outbox ORDER BY seq'),
    [
      { type: 'whms.placement', own: 1 },
      { type: 'event.created', own: 0 },
    ],
  )
  const [notification] = inFile<{ body: Buffer }>(gateway, 'SELECT body FROM outbox ORDER BY seq')
  const { success: _, evidence, ...data } = body
  t.equal(evidence.state, 'recorded')
  t.same(JSON.parse(String(notification?.body)), {
    id: body.eventId,
    type: 'whms.placement',
    timestamp: body.received_at,
    data,
    metadata: { warehouseId: 1, siteId: 'test-site', version: '1.0' },
  })
  const audit = inFile<Record<string, unknown>>(
    gateway,
    "SELECT * FROM audit_entry WHERE entity <> 'caller' ORDER BY id",
  ).slice(before)
  t.match(audit, [
    { action: 'placement.recorded', entity: 'event', entity_id: '1', auth_mode: 'local', request_id: String },
  ])
  t.match(inFile(gateway, 'SELECT key, status FROM idempotency'), [{ key: 'k1', status: 201 }])
})

t.test('the same scan sent again is answered as before and recorded once, also after a restart', async (t) => {
  let gateway = await yard(t)
  const keyed = { 'Idempotency-Key': 'scan-1' }
  const first = await post(gateway, placed, keyed)
  gateway = await gateway.restart()
  t.teardown(() => gateway.close())
  const second = await post(gateway, placed, keyed)
  t.match(second, { status: 201, text: first.text })
  t.equal(second.headers.get('idempotency-replayed'), 'true')
  t.equal(first.headers.get('idempotency-replayed'), null)
  t.match(await post(gateway, { ...placed, slot_code: 'B' }, keyed), {
    status: 422,
    body: { error: { code: 'IDEMPOTENCY_MISMATCH' } },
  })
  t.match(await post(gateway, placed, { 'Idempotency-Key': 'with space' }), { status: 400 })
  t.match(
    await post(gateway, placed, keyed, people.sven),
    { status: 201, body: { id: 2 } },
    "another caller's key is another key",
  )
  gateway.clock.advance(7 * 24 * 3600 * 1000 + 1)
  t.match(await post(gateway, placed, keyed), { status: 201, body: { id: 3 } }, 'after seven days it is new')
})

t.test('a client’s own event id is good for ever: a repeat is answered, another body is refused', async (t) => {
  const gateway = await yard(t)
  const event = { ...placed, client_event_id: 'c-1' }
  t.match(await post(gateway, event), { status: 201, body: { id: 1, effect: 'applied' } })
  await post(gateway, { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' })
  gateway.clock.advance(400 * 24 * 3600 * 1000)
  const repeat = await post(gateway, { client_event_id: 'c-1', ...placed })
  t.match(
    repeat,
    { status: 200, body: { id: 1, effect: 'superseded', slot: { isOccupied: false } } },
    'with the floor as it is now',
  )
  t.equal(repeat.headers.get('idempotency-replayed'), null, 'no key was sent')
  t.match(await post(gateway, { ...event, asset_barcode: 'P-2' }), {
    status: 400,
    body: { error: { fields: [{ path: 'client_event_id' }] } },
  })
  t.match(await post(gateway, event, {}, people.sven), { status: 201, body: { id: 3 } }, 'another caller may use it')
})

t.test(
  'a key and a client’s own id together: the key answers as before, the id guards what the key does not',
  async (t) => {
    const gateway = await yard(t)
    const event = { ...placed, client_event_id: 'c-1' }
    const first = await post(gateway, event, { 'Idempotency-Key': 'k-1' })
    await post(gateway, { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' })
    t.match(await post(gateway, event, { 'Idempotency-Key': 'k-1' }), { status: 201, text: first.text })
    t.match(await post(gateway, { ...event, slot_code: 'B' }, { 'Idempotency-Key': 'k-1' }), { status: 422 })
    t.match(await post(gateway, event, { 'Idempotency-Key': 'k-2' }), {
      status: 200,
      body: { id: 1, effect: 'superseded' },
    })
    t.match(await post(gateway, { ...event, slot_code: 'B' }, { 'Idempotency-Key': 'k-3' }), { status: 400 })
  },
)

t.test('a scan of somebody who was erased is still known when it is sent again', async (t) => {
  const gateway = await yard(t)
  const event = { ...placed, client_event_id: 'c-1' }
  t.match(await post(gateway, event), { status: 201, body: { id: 1, actor: 'olga' } })
  t.match(await gateway.erasePerson({ name: 'olga', texts: false }, 'root'), { outcome: 'erased' })
  t.same(inFile(gateway, `SELECT count(*) AS n FROM client_event WHERE caller LIKE '%olga%'`), [{ n: 0 }])
  t.match(await post(gateway, event), { status: 200, body: { id: 1, actor: 'erased' } })
  await post(gateway, { ...placed, client_event_id: 'c-2' })
  t.match(
    await post(gateway, event),
    { status: 200, body: { id: 1, actor: 'erased' } },
    'also after the same one came back',
  )
  t.same(inFile(gateway, 'SELECT count(*) AS n FROM placement_event'), [{ n: 2 }])
})

t.test('a photo that is sent twice under one key is answered as before', async (t) => {
  const gateway = await yard(t)
  const upload = (bytes: Uint8Array, key: string) =>
    gateway.ask('POST', '/api/whms/evidence/photos', { by, bytes, headers: { 'Idempotency-Key': key } })
  const first = await upload(tinyPng, 'p-1')
  t.match(first, { status: 201, body: { success: true, mediaType: 'image/png', sizeBytes: tinyPng.length } })
  const again = await upload(tinyPng, 'p-1')
  t.match(again, { status: 201, text: first.text })
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(again.headers.get('location'), `/api/whms/evidence/photos/${first.body.sha256}`)
  const other = Buffer.concat([tinyPng, Buffer.of(0)])
  t.match(await upload(other, 'p-1'), { status: 422, body: { error: { code: 'IDEMPOTENCY_MISMATCH' } } })
  t.match(await upload(other, 'with space'), { status: 400 })
  const both = await Promise.all([upload(other, 'p-2'), upload(other, 'p-3')])
  t.match(both, [{ status: 201 }, { status: 201 }], 'two at once')
  const folder = join(gateway.live.config.dataDir, 'photos')
  const files = readdirSync(folder, { recursive: true }).map(String)
  t.equal(files.filter((name) => name.includes('.part')).length, 0, 'no part of a file is left')
})

t.test('a photo whose file was lost is taken again, and until then it is not there', async (t) => {
  const gateway = await yard(t)
  const path = new URL(await heldPhoto(gateway)).pathname
  rmSync(join(gateway.live.config.dataDir, 'photos'), { recursive: true })
  t.match(await gateway.ask('GET', path, { by: people.ada }), { status: 404, body: { error: { code: 'NOT_FOUND' } } })
  await heldPhoto(gateway)
  t.equal((await gateway.ask('GET', path, { by: people.ada })).status, 200)
})

t.test('twenty scanners that send the same scan at the same moment make one event', async (t) => {
  const gateway = await yard(t)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => post(gateway, placed, { 'Idempotency-Key': 'burst' })),
  )
  t.same([...new Set(answers.map((a) => `${a.status} ${a.text}`))].length, 1, 'all get the same answer')
  t.equal(answers.filter((a) => a.headers.get('idempotency-replayed') === null).length, 1)
  t.same(inFile(gateway, 'SELECT count(*) AS n FROM placement_event'), [{ n: 1 }])
})

t.test('a refused event leaves nothing behind: no row, no leaf, no notification, no asset, no name', async (t) => {
  const gateway = await yard(t, { ledger: { enforce: ['UNKNOWN_ASSET'] } })
  const counts = () =>
    inFile(
      gateway,
      `SELECT (SELECT count(*) FROM placement_event) e, (SELECT count(*) FROM log_leaf) l, (SELECT count(*) FROM outbox) o,
      (SELECT count(*) FROM asset) a, (SELECT count(*) FROM opening) p, (SELECT count(*) FROM idempotency) i, (SELECT count(*) FROM audit_entry) u`,
    )
  await post(gateway, {})
  await gateway.audit('her first request of the shift is told', {})
  const before = counts()
  const refused: [unknown, string][] = [
    [{ ...placed, operator: 'never-seen', verification_notes: 'x' }, 'CONSTRAINT_VIOLATED'],
    [{ ...placed, photo_url: undefined }, 'EVIDENCE_REQUIRED'],
    [{ ...placed, slot_code: 'Z' }, 'REFERENCE_NOT_FOUND'],
    [{ ...placed, slot_id: 2 }, 'VALIDATION_ERROR'],
    [{ ...placed, corrects_event_id: 5 }, 'REFERENCE_NOT_FOUND'],
    [{ ...placed, timestamp: '2026-03-02T08:05:00.001Z' }, 'TIMESTAMP_IN_FUTURE'],
    [{ ...placed, event_type: 'VERIFIED' }, 'PERMISSION_DENIED'],
  ]
  for (const [body, code] of refused)
    t.match((await post(gateway, body, { 'Idempotency-Key': code })).body.error, { code }, code)
  t.match((await post(gateway, placed, { 'X-Device-Time': 'yesterday' })).body.error.fields, [
    { path: 'X-Device-Time' },
  ])
  t.same(counts(), before)
})

t.test('the history pages from the newest, filters, and can be followed without a gap', async (t) => {
  const gateway = await yard(t)
  for (let i = 1; i <= 7; i += 1) {
    gateway.clock.advance(1000)
    await post(gateway, {
      event_type: i % 2 ? 'PLACED' : 'REMOVED',
      slot_id: (i % 2) + 1,
      asset_barcode: `P-${i % 3}`,
      photo_url: placed.photo_url,
    })
  }
  const get = async (query: string) => (await gateway.ask('GET', `/api/whms/events?${query}`, { by })).body
  const ids = (page: { data: { id: number }[] }) => page.data.map((e) => e.id)
  t.same(ids(await get('')), [7, 6, 5, 4, 3, 2, 1])
  t.match(await get('limit=2&offset=1'), {
    data: [{ id: 6 }, { id: 5 }],
    pagination: { limit: 2, offset: 1, total: 7, hasMore: true },
  })
  const seen: number[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await get(`limit=3${cursor && `&cursor=${cursor}`}`)
    seen.push(...ids(page))
    cursor = page.pagination.nextCursor
  }
  t.same(seen, [7, 6, 5, 4, 3, 2, 1], 'by cursor')
  t.same(ids(await get('after_seq=4')), [5, 6, 7], 'ascending behind a leaf')
  t.same(ids(await get('slot_id=2&event_type=PLACED')), [7, 5, 3, 1])
  t.same(ids(await get('asset_barcode=]C0P-1')), [7, 4, 1], 'by what the barcode means')
  t.match((await get('limit=9999')).pagination, { limit: 500 }, 'clamped')
  for (const query of [
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'offset=-1',
    'cursor=zzz',
    'event_type=NO',
    'slot_id=a',
    'limit=1&limit=2',
  ]) {
    t.match(
      await gateway.ask('GET', `/api/whms/events?${query}`, { by }),
      { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } },
      query,
    )
  }
})
