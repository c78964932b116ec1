import t, { type Test } from 'tap'
import {
  type Answer,
  furnish,
  heldPhoto,
  type Person,
  people,
  type TestGateway,
  testGateway,
} from '../support/gateway.ts'

const triangle = [
  { x: 0, y: 0 },
  { x: 2, y: 0 },
  { x: 2, y: 1.5 },
]
const by = people.ada

type Post = (path: string, body: unknown) => Promise<Answer>

async function asAdmin(t: Test): Promise<{ gateway: TestGateway; post: Post }> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  return { gateway, post: (path, body) => gateway.ask('POST', `/api/whms/${path}`, { by, body }) }
}

/** The same with a hall that has one zone, for cold goods. */
async function withColdZone(t: Test) {
  const { gateway, post } = await asAdmin(t)
  await post('warehouses', { name: 'DC 7', timezone: 'Europe/Berlin' })
  const zone = await post('zones', { name: 'Cold', zone_type: 'cold', warehouseId: 1, color: '#00AAff' })
  return { gateway, post, zone }
}

t.test('an admin lays out a warehouse', async (t) => {
  const { post } = await asAdmin(t)
  const warehouse = await post('warehouses', {
    name: 'DC 7',
    timezone: 'Europe/Berlin',
    location: { lat: 52.5, lng: 13.4 },
  })
  t.match(warehouse, {
    status: 201,
    body: {
      success: true,
      id: 1,
      name: 'DC 7',
      location: { lat: 52.5, lng: 13.4 },
      timezone: 'Europe/Berlin',
      version: 1,
    },
  })
  t.equal(warehouse.headers.get('location'), '/api/whms/warehouses/1')
})

t.test(
  'a warehouse without a name, or with a time zone or a place that is none, is refused by its field',
  async (t) => {
    const { post } = await asAdmin(t)
    for (const [body, path] of [
      [{ name: 'x', timezone: 'Mars/Olympus' }, 'timezone'],
      [{ name: 'x', timezone: '+01:00' }, 'timezone'],
      [{ timezone: 'UTC' }, 'name'],
      [{ name: 'x', timezone: 'UTC', location: { lat: 91, lng: 0 } }, 'location.lat'],
    ] as const) {
      t.match(
        await post('warehouses', body),
        { status: 400, body: { error: { code: 'VALIDATION_ERROR', fields: [{ path }] } } },
        path,
      )
    }
  },
)

t.test('a warehouse gets a zone, and a zone that does not fit is refused with the reason', async (t) => {
  const { post, zone } = await withColdZone(t)
  t.match(zone, { status: 201, body: { id: 1, color: '#00AAff' } })
  t.match(
    await post('zones', { name: 'cold', zone_type: 'cold', warehouseId: 1 }),
    { status: 400, body: { error: { code: 'ALREADY_EXISTS' } } },
    'case does not count',
  )
  t.match(await post('zones', { name: 'B', zone_type: 'cold', warehouseId: 9 }), {
    status: 400,
    body: { error: { code: 'REFERENCE_NOT_FOUND' } },
  })
  t.match(await post('zones', { name: 'B', zone_type: 'attic', warehouseId: 1 }), {
    status: 400,
    body: { error: { fields: [{ path: 'zone_type' }] } },
  })
  t.match(await post('zones', { name: 'B', zone_type: 'cold', warehouseId: 1, color: 'red' }), {
    status: 400,
    body: { error: { fields: [{ path: 'color' }] } },
  })
})

const coldSlot = {
  slot_id: 'C-01',
  zone: 'cold',
  floor_plan_polygon: triangle,
  constraints: { max_weight: 500, allowed_types: ['pallet'] },
}

t.test('a slot takes its place in its zone, and is empty', async (t) => {
  const { post } = await withColdZone(t)
  const slot = await post('slots', coldSlot)
  t.match(slot, {
    status: 201,
    body: {
      id: 1,
      slot_id: 'C-01',
      warehouseId: 1,
      zone: 'cold',
      zoneId: 1,
      zone_type: 'cold',
      floor_plan_polygon: triangle,
      isOccupied: false,
      assetBarcode: null,
    },
  })
  t.notOk('isVerified' in slot.body, 'an empty slot carries no verification flag')
})

t.test('a slot that does not fit is refused with the reason, and is not there', async (t) => {
  const { gateway, post } = await withColdZone(t)
  t.equal((await post('slots', coldSlot)).status, 201)
  for (const [body, code] of [
    [{ slot_id: 'C-01', zone: 'cold', floor_plan_polygon: triangle }, 'ALREADY_EXISTS'],
    [{ slot_id: 'C-02', zone: 'cold', floor_plan_polygon: triangle.slice(1) }, 'VALIDATION_ERROR'],
    [{ slot_id: 'C-02', zone: 'cold', floor_plan_polygon: Array(257).fill({ x: 1, y: 1 }) }, 'VALIDATION_ERROR'],
    [{ slot_id: 'C-02', zone: 'cold', floor_plan_polygon: [{ x: 'a', y: 0 }, ...triangle] }, 'VALIDATION_ERROR'],
    [{ slot_id: 'x'.repeat(65), zone: 'cold', floor_plan_polygon: triangle }, 'VALIDATION_ERROR'],
    [{ slot_id: 'C-02', zone: 'cold', floor_plan_polygon: triangle, zoneId: 77 }, 'REFERENCE_NOT_FOUND'],
    [{ slot_id: 'C-02', zone: 'cold', floor_plan_polygon: triangle, warehouseId: 77 }, 'REFERENCE_NOT_FOUND'],
  ] as const) {
    t.match(await post('slots', body), { status: 400, body: { error: { code } } }, code)
  }
  t.equal((await gateway.ask('GET', '/api/whms/slots', { by })).body.data.length, 1, 'only the good one is there')
})

t.test(
  'a slot whose zone does not exist yet is kept under its label, and joins the zone when that is made',
  async (t) => {
    const gateway = await testGateway()
    t.teardown(() => gateway.end())
    await furnish(gateway, ['S-1'])
    await gateway.ask('POST', '/api/whms/slots', {
      by,
      body: { slot_id: 'L-1', zone: 'Later', floor_plan_polygon: triangle },
    })
    const get = async (path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by })).body
    t.match(await get('slots/L-1'), { zone: 'Later', zoneId: null, zone_type: null })
    t.match((await get('dashboard/utilization')).byZone, [
      { zone: 'S', total: 1 },
      { zone: 'Later', total: 1 },
    ])
    await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'LATER', zone_type: 'hazmat', warehouseId: 1 } })
    t.match(await get('slots/L-1'), { zoneId: 2, zone_type: 'hazmat' })
    t.match(await get('zones/2/slots'), { data: [{ slot_id: 'L-1' }], pagination: { total: 1, hasMore: false } })
  },
)

t.test('a slot is found by its number or its label, and changed only by who read it last', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1', '1', '02'])
  const get = async (path: string) => (await gateway.ask('GET', `/api/whms/slots/${path}`, { by })).body
  t.equal((await get('1')).slot_id, 'A-1', 'a canonical number is the id')
  t.equal((await get('1?by=slot_id')).slot_id, '1', 'unless the label is meant')
  t.equal((await get('02')).slot_id, '02', 'no canonical number, so a label')
  t.equal((await get('A-1')).id, 1)
  for (const path of ['0', '-1', '99', '1.5', '999999999999999999999', 'nope']) {
    t.match(
      await gateway.ask('GET', `/api/whms/slots/${path}`, { by }),
      { status: 404, body: { error: { code: 'NOT_FOUND' } } },
      path,
    )
  }
  const put = (path: string, body: unknown, headers = {}) =>
    gateway.ask('PUT', `/api/whms/slots/${path}`, { by, body, headers })
  t.match(await put('1', { constraints: { max_height: 200 } }, { 'If-Match': '1' }), {
    status: 200,
    body: { slot_id: 'A-1', version: 2, constraints: { max_height: 200 }, zone: 'S' },
  })
  t.match(await put('1', { zone_type: 'cold' }, { 'If-Match': '"1"' }), {
    status: 412,
    body: { error: { code: 'VERSION_MISMATCH' } },
  })
  t.match(await put('1', { zone_type: 'cold' }, { 'If-Match': 'abc' }), { status: 400 })
  t.match(await put('1', { slot_id: 'B-1' }), { status: 400, body: { error: { fields: [{ path: 'slot_id' }] } } })
  t.match(
    await put('A-1', { zone_type: 'cold', zone: null, slot_id: 'A-1' }),
    { status: 400, body: { error: { fields: [{ path: 'zone' }] } } },
    'a slot always has a zone',
  )
  t.match(await put('A-1', { zone_type: 'cold', slot_id: 'A-1' }), {
    status: 200,
    body: { zone_type: 'cold', zone: 'S', version: 3 },
  })
  t.match(await put('99', {}), { status: 404 })
})

t.test('how full the warehouse is counts what stands there and what nobody has verified', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B', 'C'])
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'Empty', zone_type: 'cold', warehouseId: 1 } })
  const photo_url = await heldPhoto(gateway)
  const send = (body: object) => gateway.ask('POST', '/api/whms/events', { by: people.sven, body })
  await send({ event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url })
  await send({ event_type: 'PLACED', slot_code: 'B', asset_barcode: 'P-2', photo_url })
  await send({ event_type: 'VERIFIED', slot_code: 'A', asset_barcode: 'P-1' })
  const get = async (path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by: people.vera })).body
  const utilization = {
    totalSlots: 3,
    occupiedSlots: 2,
    utilizationPercent: 66.67,
    pendingVerifications: 1,
    byZone: [
      { zone: 'S', occupied: 2, total: 3 },
      { zone: 'Empty', occupied: 0, total: 0 },
    ],
  }
  t.match(await get('dashboard/utilization'), utilization)
  await send({ event_type: 'DISPUTED', slot_code: 'B', asset_barcode: 'P-2' })
  t.match(await get('dashboard/utilization'), utilization, 'what is disputed is not verified either')
  t.match(await get('warehouses/1'), {
    id: 1,
    zones: [
      { id: 1, name: 'S', zone_type: 'storage', slotCount: 3, occupiedCount: 2 },
      { id: 2, slotCount: 0, occupiedCount: 0 },
    ],
    utilization,
  })
  t.match((await get('zones')).data, [
    { id: 1, slotCount: 3, occupiedCount: 2, utilizationPercent: 66.67 },
    { id: 2, slotCount: 0, utilizationPercent: 0 },
  ])
  t.match(await get('assets'), {
    data: [{ asset_id: 'P-1', provisional: true, type: null }, { asset_id: 'P-2' }],
    pagination: { total: 2 },
  })
  t.match(await get('slots?limit=1&offset=1'), {
    data: [{ slot_id: 'B' }],
    pagination: { limit: 1, offset: 1, total: 3, hasMore: true },
  })
  for (const path of ['warehouses/2', 'zones/9/slots', 'assets/nobody/location']) {
    t.equal((await gateway.ask('GET', `/api/whms/${path}`, { by })).status, 404, path)
  }
})

t.test('a warehouse with viewers is there for them alone, with its zones, slots, events and pallets', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['vera'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const body = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1' }
  await gateway.ask('POST', '/api/whms/events', { by, body })
  const get = (path: string, person: typeof people.vera | typeof people.olga) =>
    gateway.ask('GET', `/api/whms/${path}`, { by: person })
  for (const list of ['warehouses', 'zones', 'slots', 'events']) {
    t.equal((await get(list, people.vera)).body.data.length, 1, `${list}: vera`)
    t.equal((await get(list, people.olga)).body.data.length, 0, `${list}: olga`)
  }
  for (const one of ['warehouses/1', 'zones/1/slots', 'slots/1', 'slots/A', 'events/1']) {
    t.equal((await get(one, people.vera)).status, 200, `${one}: vera`)
    t.equal((await get(one, people.olga)).status, 404, `${one}: olga`)
  }
  t.match((await get('events/1', people.olga)).body.error, { message: 'Event not found' })
  t.match((await get('assets/P-1/location', people.vera)).body, { slot: null })
  t.equal((await get('assets/P-1/location', people.olga)).status, 404, 'not even that it was taken away')
  const back = { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url: 'https://p.example/1' }
  await gateway.ask('POST', '/api/whms/events', { by, body: back })
  t.match((await get('assets/P-1/location', people.vera)).body, { slot: { slot_id: 'A' } })
  t.equal((await get('assets/P-1/location', people.olga)).status, 404)
  t.match(await gateway.ask('POST', '/api/whms/events', { by: people.olga, body }), {
    status: 400,
    body: { error: { code: 'REFERENCE_NOT_FOUND' } },
  })
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Open', timezone: 'UTC' } })
  const open = { slot_id: 'O', zone: 'O', floor_plan_polygon: triangle, warehouseId: 2 }
  await gateway.ask('POST', '/api/whms/slots', { by, body: open })
  const correction = { event_type: 'REMOVED', slot_code: 'O', asset_barcode: 'P-2', corrects_event_id: 1 }
  t.match(
    await gateway.ask('POST', '/api/whms/events', { by: people.olga, body: correction }),
    { status: 400, body: { error: { code: 'REFERENCE_NOT_FOUND', fields: [{ path: 'corrects_event_id' }] } } },
    'nor can she correct what she cannot see',
  )
})

t.test('what was made is found where its answer said', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['vera'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const post = (path: string, body: unknown) => gateway.ask('POST', `/api/whms/${path}`, { by, body })
  const made = [
    await post('warehouses', { name: 'W', timezone: 'UTC' }),
    await post('zones', { name: 'Z', zone_type: 'cold', warehouseId: 1 }),
    await post('slots', { slot_id: 'Z/1', zone: 'Z', floor_plan_polygon: triangle }),
    await post('assets', { asset_id: 'P/1 ä?', type: 'pallet' }),
  ]
  for (const { status, body, headers } of made) {
    t.equal(status, 201)
    const path = headers.get('location') ?? ''
    t.match(await gateway.ask('GET', path, { by }), { status: 200, body: { id: body.id, version: 1 } }, path)
  }
  const get = (path: string, person: Person = people.vera) => gateway.ask('GET', `/api/whms/${path}`, { by: person })
  t.match(await get('zones/1'), { status: 200, body: { slotCount: 2, occupiedCount: 0, utilizationPercent: 0 } })
  await gateway.ask('POST', '/api/whms/events', {
    by,
    body: { event_type: 'PLACED', slot_code: 'A', asset_barcode: 'P-1', photo_url: 'https://p.example/1' },
  })
  t.match(await get('zones/1'), { body: { slotCount: 2, occupiedCount: 1, utilizationPercent: 50 } })
  t.match(await get('zones/1?at=2026-03-01T00:00:00Z'), { body: { occupiedCount: 0 } })
  for (const path of ['zones/9', 'zones/x', 'assets/nobody']) t.equal((await get(path)).status, 404, path)
  t.equal((await get('zones/1', people.olga)).status, 404, 'a zone of a warehouse that is not hers to see')
})

t.test('an asset is changed in what is named, by who read it last', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const sscc = '00106141412345678908'
  const event = { event_type: 'REMOVED', slot_code: 'A', asset_barcode: `]C1${sscc}` }
  await gateway.ask('POST', '/api/whms/events', { by, body: event })
  const put = (body: unknown, headers = {}, barcode: string = sscc) =>
    gateway.ask('PUT', `/api/whms/assets/${encodeURIComponent(barcode)}`, { by, body, headers })
  const key = { 'Idempotency-Key': 'a-1' }
  t.match(await put({ weight_kg: 12 }, { 'If-Match': '1' }), {
    status: 200,
    body: { provisional: true, type: null, weight_kg: 12, version: 2 },
  })
  const registered = await put({ type: 'pallet', asset_id: sscc }, key)
  t.match(registered, { status: 200, body: { provisional: false, type: 'pallet', weight_kg: 12, version: 3 } })
  t.match(await put({ type: 'pallet', asset_id: sscc }, key), { text: registered.text }, 'sent again')
  t.match(await put({ type: 'pallet', dimensions: null }), { body: { version: 3 } }, 'nothing is new in that')
  t.match(await put({ type: 'box' }, { 'If-Match': '"2"' }), { status: 412 })
  t.match(await put({ asset_id: 'P-2' }), { status: 400, body: { error: { fields: [{ path: 'asset_id' }] } } })
  t.match(await put({ type: 'bag' }), { status: 400 })
  t.match(await put({ type: 'box' }, {}, 'nobody'), { status: 404 })
  t.match(await gateway.ask('PUT', `/api/whms/assets/${sscc}`, { by: people.sven, body: { type: 'box' } }), {
    status: 403,
  })
})

t.test('a slot that is told what it is already stays as it is, and one key changes it once', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'], { constraints: { max_weight: 5 } })
  const put = (body: unknown, headers = {}) => gateway.ask('PUT', '/api/whms/slots/1', { by, body, headers })
  for (const same of [{}, { zone: 'S' }, { constraints: { max_weight: 5 } }, { retired: false }, { zoneId: 1 }]) {
    t.match(await put(same), { status: 200, body: { version: 1 } }, JSON.stringify(same))
  }
  const retired = (await put({ retired: true })).body
  gateway.clock.advance(5000)
  t.match(await put({ retired: true }), { body: { version: 2, retiredAt: retired.retiredAt } })
  t.match(await put({ retired: false }), { body: { version: 3, retiredAt: null } })
  const key = { 'Idempotency-Key': 's-1', 'If-Match': '3' }
  const first = await put({ zone_type: 'cold' }, key)
  t.match(first, { status: 200, body: { version: 4 } })
  const again = await put({ zone_type: 'cold' }, key)
  t.match(again, { status: 200, text: first.text }, 'though the version is another by now')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.match(await put({ zone_type: 'hazmat' }, key), { status: 422 })
  const made = { slot_id: 'N', zone: 'Neu', floor_plan_polygon: triangle }
  await gateway.ask('POST', '/api/whms/slots', { by, body: made })
  gateway.clock.advance(5000)
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'neu', zone_type: 'cold', warehouseId: 1 } })
  const adopted = (await gateway.ask('GET', '/api/whms/slots/N', { by })).body
  t.match(adopted, { zoneId: 2, version: 2, updatedAt: new Date(gateway.clock.now()).toISOString() })
})

t.test('an asset that events have mentioned becomes a registered one, under the same key', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  await gateway.ask('POST', '/api/whms/events', {
    by,
    body: { event_type: 'REMOVED', slot_code: 'A', asset_barcode: ']C0P-1' },
  })
  const register = (asset_id: string) =>
    gateway.ask('POST', '/api/whms/assets', { by, body: { asset_id, type: 'pallet', weight_kg: 12 } })
  t.match(await register('P-1'), { status: 201, body: { id: 1, asset_id: 'P-1', provisional: false, version: 2 } })
  t.match(await register(']C0P-1'), { status: 400, body: { error: { code: 'ALREADY_EXISTS' } } })
})
