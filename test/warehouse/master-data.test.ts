import t from 'tap'
import type { Caller } from '../../src/http/index.ts'
import { NewSlot } from '../../src/warehouse/index.ts'
import { furnish, people, siteUrl, testGateway } from '../support/gateway.ts'

const by = people.ada
const triangle = [
  { x: 0, y: 0 },
  { x: 2, y: 0 },
  { x: 2, y: 1.5 },
]

t.test('a warehouse is changed in what is named, by who read it last', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const put = (body: unknown, headers = {}, id: string | number = 1) =>
    gateway.ask('PUT', `/api/whms/warehouses/${id}`, { by, body, headers })
  gateway.clock.advance(60_000)
  const location = { lat: 52.5, lng: 13.4 }
  t.match(await put({ location }, { 'If-Match': '1' }), {
    status: 200,
    body: { name: 'Hall', timezone: 'Europe/Berlin', location, version: 2, updatedAt: '2026-03-02T08:01:00.000Z' },
  })
  t.match(await put({ location, name: 'Hall' }), { body: { version: 2 } }, 'nothing is new in that')
  t.match(await put({ name: 'Hall 2' }, { 'If-Match': '"1"' }), {
    status: 412,
    body: { error: { code: 'VERSION_MISMATCH' } },
  })
  for (const [body, path] of [
    [{ timezone: 'Mars/Olympus' }, 'timezone'],
    [{ location: { lat: 90.1, lng: 0 } }, 'location.lat'],
    [{ location: { lat: 0, lng: -181 } }, 'location.lng'],
    [{ location: { lat: 0 } }, 'location.lng'],
    [{ name: '' }, 'name'],
    [{ timezone: null }, 'timezone'],
    [{ name: 'a\u0007b' }, 'name'],
  ] as const) {
    t.match(await put(body), { status: 400, body: { error: { fields: [{ path }] } } }, JSON.stringify(body))
  }
  for (const id of [9, 'x', '01']) t.match(await put({}, {}, id), { status: 404 }, String(id))
  t.match(await gateway.ask('GET', '/api/whms/warehouses/1', { by }), {
    body: {
      name: 'Hall',
      location,
      version: 2,
      zones: [{ id: 1, name: 'S', slotCount: 1, occupiedCount: 0 }],
      utilization: { totalSlots: 1, occupiedSlots: 0, utilizationPercent: 0, pendingVerifications: 0 },
    },
  })
})

t.test('a zone takes its slots along to a new name, and those that waited for the name join', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const slot = (body: object) =>
    gateway.ask('POST', '/api/whms/slots', { by, body: { floor_plan_polygon: triangle, ...body } })
  await slot({ slot_id: 'own-label', zone: 'upper shelf', zoneId: 1 })
  await slot({ slot_id: 'waits', zone: 'Bulk' })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'Cold', zone_type: 'cold', warehouseId: 1 } })
  const put = (body: unknown, headers = {}, id = 1) =>
    gateway.ask('PUT', `/api/whms/zones/${id}`, { by, body, headers })
  const key = { 'Idempotency-Key': 'z-1', 'If-Match': '1' }
  const renamed = await put({ name: 'BULK' }, key)
  t.match(renamed, { status: 200, body: { id: 1, name: 'BULK', zone_type: 'storage', version: 2 } })
  const again = await put({ name: 'BULK' }, key)
  t.match(again, { text: renamed.text }, 'sent again')
  const get = async (path: string) => (await gateway.ask('GET', `/api/whms/${path}`, { by })).body
  t.match(await get('slots/A'), { zone: 'BULK', zoneId: 1, version: 2 })
  t.match(await get('slots/own-label'), { zone: 'upper shelf', zoneId: 1, version: 1 }, 'it never bore the name')
  t.match(await get('slots/waits'), { zoneId: 1, version: 2 })
  t.equal((await get('zones/1')).slotCount, 4)
  t.match(await put({ name: 'cold' }), { status: 400, body: { error: { code: 'ALREADY_EXISTS' } } })
  t.match(await put({ name: 'bulk' }), { status: 200, body: { name: 'bulk', version: 3 } }, 'its own name is free')
  t.match(await put({ warehouseId: 2 }), { status: 400, body: { error: { fields: [{ path: 'warehouseId' }] } } })
  t.match(await put({ warehouseId: 1, color: '#112233', zone_type: 'hazmat' }), {
    status: 200,
    body: { color: '#112233', zone_type: 'hazmat' },
  })
  t.match(await put({}, {}, 9), { status: 404 })
  t.match(await slot({ slot_id: 'late', zone: 'S' }), { status: 201, body: { zoneId: null } }, 'the old name is gone')
})

t.test('a slot moves between zones of its warehouse alone, and a retired one stays in the list', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 2, viewers: ['vera'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name: 'Other', timezone: 'UTC' } })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'X', zone_type: 'cold', warehouseId: 2 } })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'Y', zone_type: 'cold', warehouseId: 1 } })
  const put = (body: unknown) => gateway.ask('PUT', '/api/whms/slots/A', { by, body })
  t.match(await put({ zoneId: 2 }), { status: 400, body: { error: { code: 'REFERENCE_NOT_FOUND' } } })
  t.match(await put({ warehouseId: 2 }), { status: 400, body: { error: { fields: [{ path: 'warehouseId' }] } } })
  t.match(await put({ zone: 'y' }), { status: 200, body: { zone: 'y', zoneId: 3, zone_type: 'cold' } })
  t.match(await put({ floor_plan_polygon: triangle.slice(1) }), { status: 400 })
  t.match(await put({ retired: true }), { status: 200, body: { retiredAt: '2026-03-02T08:00:00.000Z' } })
  t.equal((await gateway.ask('GET', '/api/whms/slots', { by })).body.data.length, 1)
  t.equal((await gateway.ask('GET', '/api/whms/dashboard/utilization', { by })).body.totalSlots, 0)
  for (const [method, path] of [
    ['GET', 'warehouses/2'],
    ['GET', 'zones/2'],
    ['GET', 'zones/2/slots'],
  ] as const) {
    t.equal((await gateway.ask(method, `/api/whms/${path}`, { by: people.sven })).status, 404, path)
    t.equal((await gateway.ask(method, `/api/whms/${path}`, { by: people.vera })).status, 200, path)
  }
  const { body } = await gateway.ask('GET', '/api/whms/warehouses', { by: people.sven })
  t.strictSame(
    body.data.map((w: { id: number }) => w.id),
    [1],
  )
})

t.test('a limit with a typo is refused and names the key that was meant, for it must not vanish', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const send = async (method: string, path: string, body: object) => {
    const answer = await gateway.ask(method, `/api/whms/${path}`, { by: people.ada, body })
    return { status: answer.status, fields: answer.body.error?.fields }
  }
  const refused = (path: string, message: string) => ({ status: 400, fields: [{ path, message }] })
  t.strictSame(
    await send('PUT', 'slots/A', { constraints: { max_wieght: 500 } }),
    refused('constraints', 'unknown key "max_wieght"; did you mean max_weight?'),
  )
  t.strictSame(
    await send('PUT', 'slots/A', { constraints: { colour: 'red' } }),
    refused('constraints', 'unknown key "colour"; known are max_weight, max_height, allowed_types'),
  )
  t.strictSame(
    await send('POST', 'assets', {
      asset_id: 'P-1',
      type: 'pallet',
      dimensions: { length: 1, width: 1, height: 1, hight: 2 },
    }),
    refused('dimensions', 'unknown key "hight"; did you mean height?'),
  )
  const scan = { slto: 'A', asset: 'P-1' }
  t.strictSame(
    await send('POST', 'events', { event_type: 'REMOVED', slot_code: 'A', asset_barcode: 'P-1', scan }),
    refused('scan', 'unknown key "slto"; did you mean slot?'),
  )
  t.match(await send('PUT', 'slots/A', { constraints: { max_weight: 500 } }), { status: 200 })
  t.match((await gateway.ask('GET', '/api/whms/slots/A', { by: people.vera })).body, {
    constraints: { max_weight: 500 },
  })
})

t.test('of zone and zoneId the one that differs from the slot counts, and both must not disagree', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'Cold', zone_type: 'cold', warehouseId: 1 } })
  await gateway.ask('POST', '/api/whms/zones', { by, body: { name: 'Dock', zone_type: 'shipping', warehouseId: 1 } })
  const read = async () => (await gateway.ask('GET', '/api/whms/slots/A', { by })).body
  const put = async (change: object) =>
    gateway.ask('PUT', '/api/whms/slots/A', { by, body: { ...(await read()), ...change } })
  t.match(await put({ zone: 'cold' }), {
    status: 200,
    body: { zone: 'cold', zoneId: 2, zone_type: 'cold', version: 2 },
  })
  t.match(await put({ zoneId: 3 }), {
    status: 200,
    body: { zone: 'Dock', zoneId: 3, zone_type: 'shipping', version: 3 },
  })
  t.match(await put({ zone: 'S', zoneId: 1 }), { status: 200, body: { zone: 'S', zoneId: 1, version: 4 } })
  t.match(await put({ zone: 'Cold', zoneId: 3 }), {
    status: 400,
    body: {
      error: {
        fields: [{ path: 'zone', message: 'zone says Cold, but zoneId 3 is the zone Dock. Send one of them.' }],
      },
    },
  })
  t.match(await put({ zone: 'Later', zoneId: null }), {
    status: 200,
    body: { zone: 'Later', zoneId: null, version: 5 },
  })
  t.match(await put({ zone: 'S' }), { status: 200, body: { zone: 'S', zoneId: 1, zone_type: 'storage', version: 6 } })
  const type = (zone_type: string) => gateway.ask('PUT', '/api/whms/zones/1', { by, body: { zone_type } })
  await put({})
  await type('hazmat')
  t.match(await read(), { zone_type: 'hazmat', version: 6 }, 'the type of its zone was not pinned')
  t.match(await put({ zone_type: 'cold' }), { body: { zone_type: 'cold', version: 7 } })
  t.match(await put({ zone_type: null }), { body: { zone_type: 'hazmat', version: 8 } })
})

t.test('a slot goes to the one warehouse that has its zone, else to that of the site', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, [])
  for (const name of ['Second', 'Third'])
    await gateway.ask('POST', '/api/whms/warehouses', { by, body: { name, timezone: 'UTC' } })
  // Zone 1 is S of the first warehouse.
  for (const [name, warehouseId] of [
    ['Cold', 2],
    ['S', 2],
    ['Dock', 2],
    ['Dock', 3],
  ] as const)
    await gateway.ask('POST', '/api/whms/zones', { by, body: { name, zone_type: 'cold', warehouseId } })
  const slot = async (slot_id: string, zone: string, more: object = {}) => {
    const body = { slot_id, zone, floor_plan_polygon: triangle, ...more }
    return (await gateway.ask('POST', '/api/whms/slots', { by, body })).body
  }
  t.match(await slot('a', ' cold'), { warehouseId: 2, zoneId: 2, zone_type: 'cold' }, 'only the second one has it')
  t.match(await slot('b', 'S'), { warehouseId: 1, zoneId: 1 }, 'two have it, one of them is that of the site')
  t.match(await slot('c', 'Dock'), { warehouseId: 1, zoneId: null }, 'two others have it')
  t.match(await slot('d', 'Nowhere'), { warehouseId: 1, zoneId: null })
  t.match(await slot('e', 'Cold', { warehouseId: 1 }), { warehouseId: 1, zoneId: null }, 'the warehouse is named')
  t.match(await slot('f', 'Dock', { zoneId: 5 }), { warehouseId: 3, zoneId: 5 })
  // Today only admins may create a slot, and they see every warehouse.
  const caller: Caller = {
    ...{ username: 'ada', instance: siteUrl, role: 'operator', groups: [], authMode: 'local' },
    ...{ permissions: new Set(['whms:write'] as const), warehouseIds: [1, 3] },
  }
  const blind = { caller, requestId: 'r-1', address: '127.0.0.1' }
  const hidden = (slot_id: string, zone: string) =>
    gateway.work.write((tx) =>
      gateway.warehouse.createSlot(tx, NewSlot.parse({ slot_id, zone, floor_plan_polygon: triangle }), blind),
    )
  t.match(await hidden('g', 'Cold'), { warehouseId: 1, zoneId: null }, 'a hidden warehouse is not used')
  t.match(await hidden('h', 'Dock'), { warehouseId: 3, zoneId: 5 }, 'nor does it count')
})
