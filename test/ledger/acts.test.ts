import t from 'tap'
import { furnish, heldPhoto, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { wrongTimes } from '../support/json-schema.ts'

const photo_url = 'https://photos.example/1.jpg'
const start = '2026-03-02T08:00:00.000Z'

async function yard(t: { teardown(end: () => void): void }, config = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B', 'C'])
  return gateway
}

const post = (gateway: TestGateway, path: string, body: unknown, by: Person = people.olga, headers = {}) =>
  gateway.ask('POST', `/api/whms/${path}`, { by, body, headers })
const get = async (gateway: TestGateway, path: string) =>
  (await gateway.ask('GET', `/api/whms/${path}`, { by: people.vera })).body
const placed = (slot_code: string, asset_barcode: string, more = {}) => ({
  event_type: 'PLACED',
  slot_code,
  asset_barcode,
  photo_url,
  ...more,
})
const total = async (gateway: TestGateway) => (await get(gateway, 'events')).pagination.total
const codes = (event: { warnings: { code: string }[] }) => event.warnings.map((w) => w.code)

t.test('a batch is recorded as a whole, in its order, and counts as one request', async (t) => {
  const gateway = await yard(t, { rateLimit: { requestsPerMinute: 1_000_000, users: { olga: 1 } } })
  const events = [placed('A', 'P-1'), { ...placed('A', 'P-1'), event_type: 'REMOVED' }, placed('B', 'P-1')]
  const { status, body } = await post(gateway, 'events/batch', { events })
  t.equal(status, 201)
  t.match(body, {
    success: true,
    results: [
      { index: 0, status: 201, event: { id: 1, slot_code: 'A', effect: 'applied', slot: { assetBarcode: 'P-1' } } },
      { index: 1, status: 201, event: { id: 2, event_type: 'REMOVED', slot: { isOccupied: false } } },
      { index: 2, status: 201, event: { id: 3, slot_code: 'B', timestamp: '2026-03-02T08:00:00.002Z' } },
    ],
  })
  t.notOk('success' in body.results[0].event)
  t.match(await get(gateway, 'assets/P-1/location'), { slot: { slot_id: 'B' } })
  t.equal((await post(gateway, 'events/batch', { events })).status, 429)
})

t.test('of a batch of which one event is refused nothing is recorded, and every problem has its path', async (t) => {
  const gateway = await yard(t)
  const events = [
    placed('A', 'P-1'),
    { ...placed('A', 'P-1'), photo_url: 'ftp://x' },
    placed('nowhere', 'P-2'),
    { event_type: 'PLACED', asset_barcode: 'P-3' },
    'no event',
  ]
  const { status, body } = await post(gateway, 'events/batch', { events }, people.olga, { 'Idempotency-Key': 'b1' })
  t.match({ status, body }, { status: 400, body: { success: false, error: { code: 'VALIDATION_ERROR' } } })
  t.match(
    body.error.fields.map((f: { path: string }) => f.path),
    ['events.1.photo_url', 'events.2.slot_code', 'events.3.slot_id', 'events.4'],
  )
  t.match(body.error.message, '4 of 5')
  t.type(body.error.details, 'string')
  t.equal(await total(gateway), 0)
  t.equal((await gateway.ask('GET', '/api/whms/assets', { by: people.vera })).body.data.length, 0, 'no asset either')
  const alone = await post(gateway, 'events/batch', { mode: 'rollback', events: [placed('nowhere', 'P-2')] })
  t.match(alone, { status: 400, body: { error: { code: 'REFERENCE_NOT_FOUND' } } }, 'a code that all agree on stands')
  const good = await post(gateway, 'events/batch', { events: [placed('A', 'P-1')] }, people.olga, {
    'Idempotency-Key': 'b1',
  })
  t.match(good.status, 201, 'the key of a refused batch is free')
  t.match(good.body.results[0].event, { id: 1, seq: 1 }, 'no number was used up')
})

t.test('proceed records what can be, and tells of each event what became of it', async (t) => {
  const gateway = await yard(t)
  const events = [
    placed('A', 'P-1'),
    placed('nowhere', 'P-2'),
    { event_type: 'VERIFIED', slot_code: 'A', asset_barcode: 'P-1' },
    { ...placed('B', 'P-2'), photo_url: undefined },
    { ...placed('B', 'P-2'), timestamp: '2026-03-02T08:06:00Z' },
    42,
    placed('B', 'P-2'),
  ]
  const headers = { 'Idempotency-Key': 'night' }
  const first = await post(gateway, 'events/batch', { mode: 'proceed', events }, people.olga, headers)
  t.equal(first.status, 200)
  t.match(first.body, {
    success: true,
    results: [
      { index: 0, status: 201, event: { id: 1 } },
      { index: 1, status: 400, error: { code: 'REFERENCE_NOT_FOUND', fields: [{ path: 'slot_code' }] } },
      { index: 2, status: 403, error: { code: 'PERMISSION_DENIED' } },
      { index: 3, status: 400, error: { code: 'EVIDENCE_REQUIRED' } },
      { index: 4, status: 400, error: { code: 'TIMESTAMP_IN_FUTURE' } },
      { index: 5, status: 400, error: { code: 'VALIDATION_ERROR' } },
      { index: 6, status: 201, event: { id: 2, seq: 2 } },
    ],
  })
  t.equal(await total(gateway), 2)
  const again = await post(gateway, 'events/batch', { mode: 'proceed', events }, people.olga, headers)
  t.equal(again.text, first.text, 'the same key has the same answer, byte for byte')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(await total(gateway), 2)
})

t.test('who may not judge cannot do so inside a batch', async (t) => {
  const gateway = await yard(t)
  const events = [placed('A', 'P-1'), { event_type: 'DISPUTED', slot_code: 'A', asset_barcode: 'P-1' }]
  t.match(await post(gateway, 'events/batch', { events }), {
    status: 403,
    body: { error: { code: 'PERMISSION_DENIED', fields: [{ path: 'events.1' }] } },
  })
  t.equal(await total(gateway), 0)
  t.match(await post(gateway, 'events/batch', { events }, people.sven), { status: 201 })
  t.match(await get(gateway, 'slots/A'), { isDisputed: true })
})

t.test('an event that a client sent before is answered inside a batch, not recorded', async (t) => {
  const gateway = await yard(t)
  const one = placed('A', 'P-1', { client_event_id: 'c-1' })
  const { body: before } = await post(gateway, 'events', one)
  for (const mode of ['proceed', 'rollback']) {
    const { body } = await post(gateway, 'events/batch', { mode, events: [one, one] })
    t.match(body.results, [
      { status: 200, event: { id: before.id, evidence_hash: before.evidence_hash } },
      { status: 200, event: { id: before.id } },
    ])
  }
  const other = { ...one, slot_code: 'B' }
  t.match(await post(gateway, 'events/batch', { events: [other] }), {
    status: 400,
    body: { error: { fields: [{ path: 'events.0.client_event_id' }] } },
  })
  t.equal(await total(gateway), 1)
})

t.test('a batch has 1 to 100 events and at most 1 MiB; other bodies keep their limit', async (t) => {
  const gateway = await yard(t)
  const events = (n: number) => Array.from({ length: n }, (_, i) => placed('A', `P-${i}`))
  t.match(await post(gateway, 'events/batch', { events: events(101) }), {
    status: 400,
    body: { error: { fields: [{ path: 'events', message: 'expected at most 100 items' }] } },
  })
  t.match(await post(gateway, 'events/batch', { events: [] }), { status: 400 })
  t.match(await post(gateway, 'events/batch', {}), { status: 400, body: { error: { fields: [{ path: 'events' }] } } })
  t.match(await post(gateway, 'events/batch', { mode: 'some', events: events(1) }), { status: 400 })
  const noted = events(100).map((e) => ({ ...e, verification_notes: 'x'.repeat(4000) }))
  t.match(await post(gateway, 'events/batch', { events: noted }), { status: 201 }, '400 kB')
  t.equal(await total(gateway), 100)
  const large = { ...placed('A', 'P'), ignored: 'x'.repeat(1024 * 1024) }
  t.match(await post(gateway, 'events/batch', { events: [large] }), { status: 413 })
  t.match(await post(gateway, 'events', { ...large, ignored: 'x'.repeat(300_000) }), { status: 413 })
})

t.test('a move takes the pallet from where it stands to where it is carried, in one commit', async (t) => {
  const gateway = await yard(t)
  await post(gateway, 'events', placed('A', 'P-1'))
  gateway.clock.advance(60_000)
  const held = await heldPhoto(gateway)
  const move = { asset_barcode: 'P-1', to_slot_code: 'B', photo_url: held, work_order_ref: 'WO-1', scale_weight_kg: 12 }
  const { status, body, headers } = await post(gateway, 'moves', move)
  t.match(
    { status, body },
    {
      status: 201,
      body: {
        success: true,
        removed: {
          id: 2,
          event_type: 'REMOVED',
          slot_code: 'A',
          timestamp: '2026-03-02T08:01:00.000Z',
          effect: 'applied',
          work_order_ref: 'WO-1',
          photo_url: null,
          scale_weight_kg: null,
          slot: { isOccupied: false },
        },
        placed: {
          id: 3,
          event_type: 'PLACED',
          slot_code: 'B',
          timestamp: '2026-03-02T08:01:00.001Z',
          photoEvidence: 'held',
          scale_weight_kg: 12,
          slot: { isOccupied: true, assetBarcode: 'P-1', isVerified: false },
        },
      },
    },
  )
  t.same(codes(body.placed), [])
  t.equal(headers.get('location'), '/api/whms/events/3')
  t.match(await get(gateway, 'slots/A'), { isOccupied: false })
  t.match(await get(gateway, 'assets/P-1/location'), { slot: { slot_id: 'B' } })
})

t.test('a late move begins where the pallet stood then, and its two events are ordered', async (t) => {
  const gateway = await yard(t)
  await post(gateway, 'events', placed('A', 'P-1'))
  gateway.clock.advance(3_600_000)
  await post(gateway, 'moves', { asset_barcode: 'P-1', to_slot_code: 'C', photo_url })
  const late = { asset_barcode: 'P-1', to_slot_id: 2, photo_url, timestamp: '2026-03-02T08:30:00Z' }
  const { body } = await post(gateway, 'moves', late)
  t.match(body, {
    removed: { slot_code: 'A', timestamp: '2026-03-02T08:30:00.000Z', device_timestamp: '2026-03-02T08:30:00.000Z' },
    placed: { slot_code: 'B', timestamp: '2026-03-02T08:30:00.001Z', effect: 'applied' },
  })
  t.ok(codes(body.removed).includes('LATE_EVENT'))
  t.match(await get(gateway, 'assets/P-1/location'), { slot: { slot_id: 'C' } }, 'the newer move still decides')
})

t.test('what contradicts the ledger is told of both halves of a move', async (t) => {
  const gateway = await yard(t)
  await post(gateway, 'events', placed('A', 'P-1'))
  await post(gateway, 'events', placed('B', 'P-2'))
  const wrong = await post(gateway, 'moves', {
    asset_barcode: 'P-1',
    from_slot_code: 'C',
    to_slot_code: 'B',
    photo_url,
    operator: 'oskar',
  })
  t.same(codes(wrong.body.removed).toSorted(), ['ASSET_ELSEWHERE', 'NO_EFFECT', 'OPERATOR_DIFFERS', 'SLOT_EMPTY'])
  for (const code of ['SLOT_ALREADY_OCCUPIED', 'ASSET_ELSEWHERE']) t.ok(codes(wrong.body.placed).includes(code), code)
  const stranger = await post(gateway, 'moves', { asset_barcode: 'P-9', to_slot_code: 'C', photo_url })
  t.match(stranger, { status: 201, body: { removed: null, placed: { slot_code: 'C' } } }, 'it stood nowhere')
})

t.test('a move that is refused leaves nothing, and names its own fields', async (t) => {
  const gateway = await yard(t, { ledger: { enforce: ['SLOT_ALREADY_OCCUPIED'] } })
  await post(gateway, 'events', placed('A', 'P-1'))
  await post(gateway, 'events', placed('B', 'P-2'))
  const refused: [object, string, string | undefined][] = [
    [{ to_slot_code: 'nowhere' }, 'REFERENCE_NOT_FOUND', 'to_slot_code'],
    [{ to_slot_code: 'C', from_slot_id: 77 }, 'REFERENCE_NOT_FOUND', 'from_slot_id'],
    [{}, 'VALIDATION_ERROR', 'to_slot_id'],
    [{ to_slot_code: 'C', photo_url: undefined }, 'EVIDENCE_REQUIRED', 'photo_url'],
    [{ to_slot_code: 'C', timestamp: '2026-03-02T09:00:00Z' }, 'TIMESTAMP_IN_FUTURE', 'timestamp'],
    [{ to_slot_code: 'B' }, 'CONSTRAINT_VIOLATED', undefined],
  ]
  for (const [more, code, path] of refused) {
    const answer = await post(gateway, 'moves', { asset_barcode: 'P-1', photo_url, ...more })
    t.match(answer, { status: 400, body: { error: { code } } }, code)
    if (path) t.match(answer.body.error.fields, [{ path }])
  }
  t.match(await post(gateway, 'moves', { asset_barcode: 'P-1', to_slot_code: 'C', photo_url }, people.vera), {
    status: 403,
  })
  t.equal(await total(gateway), 2)
  t.match(await get(gateway, 'slots/A'), { isOccupied: true })
})

t.test('a move that is sent twice is recorded once', async (t) => {
  const gateway = await yard(t)
  await post(gateway, 'events', placed('A', 'P-1'))
  const move = { asset_barcode: 'P-1', to_slot_code: 'B', photo_url, client_event_id: 'm-1' }
  const first = await post(gateway, 'moves', move)
  const again = await post(gateway, 'moves', move)
  t.match(again, {
    status: 200,
    body: { removed: { id: first.body.removed.id }, placed: { id: first.body.placed.id } },
  })
  t.match(await post(gateway, 'moves', { ...move, to_slot_code: 'C' }), {
    status: 400,
    body: { error: { fields: [{ path: 'client_event_id' }] } },
  })
  t.match(await post(gateway, 'events', placed('B', 'P-1', { client_event_id: 'm-1' })), { status: 400 }, 'as an event')
  const fresh = { asset_barcode: 'P-7', to_slot_code: 'C', photo_url, client_event_id: 'm-2' }
  for (const status of [201, 200]) t.match(await post(gateway, 'moves', fresh), { status, body: { removed: null } })
  t.equal(await total(gateway), 4)
})

t.test('a placement booked to the wrong slot is put right from its own time on', async (t) => {
  const gateway = await yard(t)
  const wrong = await post(gateway, 'events', placed('A', 'P-1', { scale_weight_kg: 400, work_order_ref: 'WO-1' }))
  gateway.clock.advance(3_600_000)
  await post(gateway, 'events', placed('A', 'P-2'))
  gateway.clock.advance(3_600_000)
  const body = { slot_code: 'B', reason: 'scanned the label of the neighbour' }
  const answer = await post(gateway, `events/${wrong.body.id}/correct`, body)
  t.match(answer, {
    status: 201,
    body: {
      success: true,
      corrected: { id: 1, slot_code: 'A' },
      events: [
        { id: 3, event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1', timestamp: start, corrects_event_id: 1 },
        {
          id: 4,
          event_type: 'PLACED',
          slot_code: 'B',
          asset_barcode: 'P-1',
          timestamp: start,
          device_timestamp: null,
          corrects_event_id: 1,
          photo_url,
          scale_weight_kg: 400,
          work_order_ref: 'WO-1',
          verification_notes: body.reason,
          effect: 'applied',
          slot: { isOccupied: true, assetBarcode: 'P-1' },
        },
      ],
    },
  })
  t.equal(answer.headers.get('location'), '/api/whms/events/3')
  t.match(answer.body.events[0].slot, { isOccupied: true, assetBarcode: 'P-2' }, 'who came later stays')
  t.match(await get(gateway, 'slots/A'), { assetBarcode: 'P-2' })
  t.match(await get(gateway, 'slots/B'), { assetBarcode: 'P-1' })
  t.match(await get(gateway, `slots/A?at=${start}`), { isOccupied: false }, 'the past, as known now')
  t.match(await get(gateway, `slots/A?at=${start}&known_at=${start}`), { assetBarcode: 'P-1' }, 'and as known then')
  t.match(await get(gateway, 'events/1'), { slot_code: 'A' }, 'the row is as it was')
  t.match(await post(gateway, 'events/1/correct', body), {
    status: 400,
    body: { error: { code: 'ALREADY_EXISTS', details: 'by 3, 4: correct those' } },
  })
})

t.test('the wrong barcode, a placement that never was, and what it displaced', async (t) => {
  const gateway = await yard(t)
  await post(gateway, 'events', placed('B', 'P-2'))
  await post(gateway, 'events', placed('A', 'P-1'))
  gateway.clock.advance(60_000)
  const over = await post(gateway, 'events', placed('A', 'P-2'))
  const { body } = await post(gateway, `events/${over.body.id}/correct`, { none: true, reason: 'a test scan' })
  t.match(await get(gateway, 'slots/A'), { assetBarcode: 'P-1' }, 'the pallet that it displaced stands there again')
  t.match(await get(gateway, 'assets/P-1/location'), { slot: { slot_id: 'A' } })
  t.match(await get(gateway, 'assets/P-2/location'), { slot: { slot_id: 'B' } }, 'and its own is where it was')
  t.ok(body.events.every((e: { corrects_event_id: number }) => e.corrects_event_id === over.body.id))
  gateway.clock.advance(60_000)
  const named = await post(gateway, 'events', placed('C', 'P-3'))
  t.match(await post(gateway, `events/${named.body.id}/correct`, { asset_barcode: 'P-4', reason: 'misread' }), {
    status: 201,
    body: {
      events: [
        { event_type: 'REMOVED', asset_barcode: 'P-3' },
        { event_type: 'PLACED', asset_barcode: 'P-4', slot: { assetBarcode: 'P-4' } },
      ],
    },
  })
  t.match(await get(gateway, 'assets/P-3/location'), { slot: null })
})

t.test('a removal that was wrong brings back what it took, with the photo by which it came', async (t) => {
  const gateway = await yard(t)
  const held = await heldPhoto(gateway)
  await post(gateway, 'events', placed('A', 'P-1', { photo_url: held }))
  gateway.clock.advance(60_000)
  const gone = await post(gateway, 'events', { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' })
  gateway.clock.advance(60_000)
  t.match(await post(gateway, `events/${gone.body.id}/correct`, { none: true, reason: 'still here' }), {
    status: 201,
    body: {
      events: [{ event_type: 'PLACED', slot_code: 'A', photo_url: held, photoEvidence: 'held', effect: 'applied' }],
    },
  })
  t.match(await get(gateway, 'slots/A'), { assetBarcode: 'P-1', isVerified: false })
  gateway.clock.advance(60_000)
  await post(gateway, 'events', placed('B', 'P-2'))
  const other = await post(gateway, 'events', { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' })
  await post(gateway, `events/${other.body.id}/correct`, {
    slot_code: 'B',
    asset_barcode: 'P-2',
    reason: 'wrong aisle',
  })
  t.match(await get(gateway, 'slots/A'), { assetBarcode: 'P-1' })
  t.match(await get(gateway, 'slots/B'), { isOccupied: false })
  t.match(await get(gateway, 'assets/P-2/location'), { slot: null })
})

t.test('a judgement is taken back by those who may judge, and the one before it holds again', async (t) => {
  const gateway = await yard(t)
  const judge = async (event_type: string, slot_code: string, asset_barcode: string) => {
    gateway.clock.advance(1000)
    return (await post(gateway, 'events', { event_type, slot_code, asset_barcode }, people.sven)).body.id
  }
  await post(gateway, 'events', placed('A', 'P-1'))
  await post(gateway, 'events', placed('B', 'P-2'))
  const verified = await judge('VERIFIED', 'A', 'P-1')
  const correct = (id: number, body: object, by: Person = people.sven) =>
    post(gateway, `events/${id}/correct`, { reason: 'wrong slot', ...body }, by)
  t.match(await correct(verified, { none: true }, people.olga), { status: 403 })
  t.match(await correct(verified, { slot_code: 'B', asset_barcode: 'P-2' }), {
    status: 201,
    body: {
      events: [
        { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1' },
        { event_type: 'VERIFIED', slot_code: 'B', asset_barcode: 'P-2', effect: 'applied' },
      ],
    },
  })
  t.match(await get(gateway, 'slots/A'), { isVerified: false, isDisputed: false })
  t.match(await get(gateway, 'slots/B'), { isVerified: true })
  const disputed = await judge('DISPUTED', 'B', 'P-2')
  t.match(await correct(disputed, { none: true }), { status: 201, body: { events: [{ event_type: 'VERIFIED' }] } })
  t.match(await get(gateway, 'slots/B'), { isVerified: true, isDisputed: false })
  const idle = await judge('VERIFIED', 'C', 'P-1')
  t.match(await correct(idle, { none: true }), { status: 400, body: { error: { fields: [{ path: 'none' }] } } })
})

t.test('a correction says one thing, of an event that is there, once', async (t) => {
  const gateway = await yard(t, { ledger: { enforce: ['LATE_EVENT', 'SLOT_ALREADY_OCCUPIED'] } })
  await post(gateway, 'events', placed('A', 'P-1'))
  const refused: [string, object, number, string][] = [
    ['1', { reason: 'x' }, 400, 'none'],
    ['1', { reason: 'x', none: true, slot_code: 'B' }, 400, 'none'],
    ['1', { none: true }, 400, 'reason'],
    ['1', { reason: 'x', slot_code: 'A' }, 400, 'slot_id'],
    ['1', { reason: 'x', asset_barcode: ']C0P-1' }, 400, 'asset_barcode'],
    ['1', { reason: 'x', slot_code: 'nowhere' }, 400, 'slot_code'],
    ['9', { reason: 'x', none: true }, 404, ''],
    ['one', { reason: 'x', none: true }, 404, ''],
  ]
  for (const [id, body, status, path] of refused) {
    const answer = await post(gateway, `events/${id}/correct`, body)
    t.equal(answer.status, status, JSON.stringify(body))
    if (path) t.match(answer.body.error.fields, [{ path }])
  }
  t.match(await post(gateway, 'events/1/correct', { reason: 'x', none: true }, people.vera), { status: 403 })
  gateway.clock.advance(3_600_000)
  const body = { reason: 'x', slot_code: 'B', client_event_id: 'k-1' }
  const first = await post(gateway, 'events/1/correct', body)
  t.match(first.status, 201, 'the rules of the site do not keep an error in the ledger')
  const again = await post(gateway, 'events/1/correct', body)
  t.match(again, { status: 200, body: { events: [{ id: 2 }, { id: 3 }] } })
  t.equal(again.body.events.length, 2)
  t.match(await post(gateway, 'events/1/correct', { ...body, slot_code: 'C' }), { status: 400 })
  const audit = await total(gateway)
  t.equal(audit, 3)
})

t.test('a time that is none is refused wherever one may stand, and a text that is none too', async (t) => {
  const gateway = await yard(t)
  const event = placed('A', 'P-1')
  const move = { asset_barcode: 'P-1', to_slot_code: 'B', photo_url }
  const fields = async (path: string, body: unknown) => {
    const answer = await post(gateway, path, body)
    return answer.status === 400 ? answer.body.error.fields?.map((f: { path: string }) => f.path) : answer.status
  }
  for (const timestamp of [...wrongTimes, 1772438400000, {}, []]) {
    t.same(await fields('events', { ...event, timestamp }), ['timestamp'], `event ${timestamp}`)
    t.same(await fields('events/batch', { events: [event, { ...event, timestamp }] }), ['events.1.timestamp'])
    t.same(await fields('moves', { ...move, timestamp }), ['timestamp'])
    t.same(await fields('moves', { ...move, photo_taken_at: timestamp }), ['photo_taken_at'])
    const sent = encodeURIComponent(String(timestamp))
    for (const path of [`slots?at=${sent}`, `discrepancies?known_at=${sent}`, `events?from=${sent}`])
      t.equal((await gateway.ask('GET', `/api/whms/${path}`, { by: people.vera })).status, 400, path)
  }
  for (const text of ['\ud800', 'A\udc00', 'a\u0000b', 'a\nb', '\u0085', 'x'.repeat(257)]) {
    t.same(await fields('events', { ...event, asset_barcode: text }), ['asset_barcode'], JSON.stringify(text))
    t.same(await fields('moves', { ...move, asset_barcode: text }), ['asset_barcode'])
    t.same(await fields('moves', { ...move, operator: text }), ['operator'])
  }
  t.equal(await total(gateway), 0)
  // Right to left, combined, beyond the BMP: text all the same, and given back as it came.
  for (const text of ['\u200fرقم ١\u200e', 'e\u0301', '📦-1', "'; DROP TABLE placement_event; --"]) {
    // A barcode has no invisible characters: it could not be found again.
    const asset_barcode = text.replaceAll(/[\u200e\u200f]/g, '')
    const made = await post(gateway, 'events', { ...event, asset_barcode, operator: text, work_order_ref: text })
    t.match(made, { status: 201, body: { asset_barcode, operator: text, work_order_ref: text } }, text)
    const named = `events?operator=${encodeURIComponent(text)}&work_order_ref=${encodeURIComponent(text)}`
    t.match((await get(gateway, named)).data, [{ asset_barcode }])
    t.equal((await get(gateway, named)).data.length, 1)
    t.match(await get(gateway, `assets/${encodeURIComponent(asset_barcode)}/story`), { data: [{ operator: text }] })
  }
})

t.test('while the clock of the gateway is wrong, acts are taken with any time, and say that it was', async (t) => {
  const gateway = await yard(t)
  const first = (await post(gateway, 'events', placed('A', 'P-1'))).body
  t.equal(first.time_quality, 'synced')
  gateway.clock.setWall(Date.UTC(1970, 0, 1))
  const ahead = { timestamp: '2031-01-01T00:00:00Z' }
  const batch = await post(gateway, 'events/batch', { events: [placed('B', 'P-2', ahead), placed('C', 'P-3')] })
  const move = await post(gateway, 'moves', { asset_barcode: 'P-2', to_slot_code: 'C', photo_url, ...ahead })
  const corrected = await post(gateway, `events/${first.id}/correct`, { slot_code: 'B', reason: 'wrong' })
  const all = [
    ...batch.body.results.map((r: { event: unknown }) => r.event),
    move.body.removed,
    move.body.placed,
    ...corrected.body.events,
  ]
  t.equal(all.length, 6)
  for (const event of all) {
    t.equal(event.time_quality, 'unsynced', `event ${event.id}`)
    t.ok(event.received_at >= first.received_at, 'never behind what was received before')
  }
  t.equal(batch.body.results[1].event.timestamp, first.received_at, 'its own time is the newest that it knows')
  gateway.clock.setWall(Date.parse('2026-03-02T09:00:00Z'))
  t.match(
    await post(gateway, 'events', placed('C', 'P-4', ahead)),
    { status: 400 },
    'with a right clock the rule holds',
  )
})
