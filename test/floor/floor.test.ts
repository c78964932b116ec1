import t from 'tap'
import { furnish, heldPhoto, people, testGateway } from '../support/gateway.ts'

const triangle = [
  { x: 0, y: 0 },
  { x: 2, y: 0 },
  { x: 2, y: 1.5 },
]
const by = people.ada

t.test('an admin lays out a warehouse, and what does not fit together is told', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const post = (path: string, body: unknown) => gateway.ask('POST', `/api/whms/${path}`, { by, body })
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
  t.match(await post('zones', { name: 'Cold', zone_type: 'cold', warehouseId: 1, color: '#00AAff' }), {
    status: 201,
    body: { id: 1, color: '#00aaff' },
  })
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
  const slot = await post('slots', {
    slot_id: 'C-01',
    zone: 'cold',
    floor_plan_polygon: triangle,
    constraints: { max_weight: 500, allowed_types: ['pallet'] },
  })
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
    { status: 200, body: { zone_type: 'cold', zone: 'S', version: 3 } },
    'null is the same as absent',
  )
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
  t.match(await gateway.ask('POST', '/api/whms/events', { by: people.olga, body }), {
    status: 400,
    body: { error: { code: 'REFERENCE_NOT_FOUND' } },
  })
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
