import t from 'tap'
import { type Person, people, testGateway } from '../support/gateway.ts'

const by = people.ada
const floor_plan_polygon = [
  { x: 0, y: 0 },
  { x: 2, y: 0 },
  { x: 2, y: 1.5 },
]

/**
 * Three halls, the third one for vera alone. Each has a zone A with two slots, and the first slot has a pallet. One pallet is
 * verified. The first hall also has a slot of A that shows `top`, and a slot that waits for a zone `Bulk`.
 */
const gateway = await testGateway({ config: { warehouses: [{ id: 3, viewers: ['vera'] }] } })
t.teardown(() => gateway.end())
const post = async (path: string, body: object) => {
  const answer = await gateway.ask('POST', `/api/whms/${path}`, { by, body })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}
for (const hall of [1, 2, 3]) {
  await post('warehouses', { name: `Hall ${hall}`, timezone: 'UTC' })
  const { id } = await post('zones', { name: 'A', zone_type: 'storage', warehouseId: hall })
  for (const n of [1, 2]) await post('slots', { slot_id: `${hall}-A-${n}`, zone: 'A', zoneId: id, floor_plan_polygon })
  const photo_url = `https://photos.example/${hall}.jpg`
  await post('events', { event_type: 'PLACED', slot_code: `${hall}-A-1`, asset_barcode: `P-${hall}`, photo_url })
}
await post('slots', { slot_id: '1-top', zone: 'top', zoneId: 1, floor_plan_polygon })
await post('slots', { slot_id: '1-bulk', zone: 'Bulk', warehouseId: 1, floor_plan_polygon })
await post('assets', { asset_id: 'D-1', type: 'drum' })
await post('assets', { asset_id: 'D-2', type: 'box' })

type Row = { slot_id?: string; id: number; asset_id?: string }
const list = async (path: string, person: Person = by) => {
  const { status, body, text } = await gateway.ask('GET', `/api/whms/${path}`, { by: person })
  t.equal(status, 200, `${path}: ${text}`)
  const rows = body.data as Row[]
  return { rows: rows.map(({ slot_id, asset_id, id }) => slot_id ?? asset_id ?? id), pagination: body.pagination }
}

const slotLists: readonly (readonly [query: string, slots: readonly string[], forOlga?: readonly string[]])[] = [
  ['warehouseId=2', ['2-A-1', '2-A-2']],
  ['warehouseId=3', ['3-A-1', '3-A-2'], []],
  ['warehouseId=77', []],
  ['zone=A', ['1-A-1', '1-A-2', '2-A-1', '2-A-2', '3-A-1', '3-A-2'], ['1-A-1', '1-A-2', '2-A-1', '2-A-2']],
  ['zone=%20a', ['1-A-1', '1-A-2', '2-A-1', '2-A-2', '3-A-1', '3-A-2'], ['1-A-1', '1-A-2', '2-A-1', '2-A-2']],
  ['zone=bulk', ['1-bulk']],
  ['zone=top', ['1-top']],
  ['zone=nowhere', []],
  ['zoneId=2', ['2-A-1', '2-A-2']],
  ['occupied=true', ['1-A-1', '2-A-1', '3-A-1'], ['1-A-1', '2-A-1']],
  ['occupied=false', ['1-A-2', '2-A-2', '3-A-2', '1-top', '1-bulk'], ['1-A-2', '2-A-2', '1-top', '1-bulk']],
  ['warehouseId=1&zone=A&occupied=false', ['1-A-2']],
  ['warehouseId=1&occupied=true&at=2026-03-01T00:00:00Z', []],
]

t.test('slots are listed by warehouse, by the zone that they show, and by whether something is in them', async (t) => {
  for (const [query, slots, forOlga = slots] of slotLists) {
    for (const [person, expected] of [
      [by, slots],
      [people.olga, forOlga],
    ] as const) {
      const all = await list(`slots?${query}`, person)
      t.strictSame(all.rows, expected, `${person.username}: ${query}`)
      t.equal(all.pagination.total, expected.length, `${person.username}: ${query}, in all`)
      const paged: unknown[] = []
      for (let offset = 0; ; offset += 2) {
        const page = await list(`slots?${query}&limit=2&offset=${offset}`, person)
        t.match(page.pagination, { limit: 2, offset, total: expected.length, hasMore: offset + 2 < expected.length })
        paged.push(...page.rows)
        if (!page.pagination.hasMore) break
      }
      t.strictSame(paged, expected, `${person.username}: ${query}, by pages`)
    }
  }
})

t.test('the slots of a zone are listed by whether something is in them', async (t) => {
  t.strictSame((await list('zones/1/slots?occupied=true')).rows, ['1-A-1'])
  t.strictSame((await list('zones/1/slots?occupied=false')).rows, ['1-A-2', '1-top'])
  t.strictSame((await list('slots?zoneId=3&occupied=true')).rows, ['3-A-1'])
  for (const [zoneId, person] of [
    [77, by],
    [3, people.olga],
  ] as const) {
    const { status } = await gateway.ask('GET', `/api/whms/slots?zoneId=${zoneId}`, { by: person })
    t.equal(status, 404, `${person.username}: a zone that is missing or hidden`)
  }
})

t.test('zones are listed by warehouse, with their counts', async (t) => {
  const { body } = await gateway.ask('GET', '/api/whms/zones?warehouseId=1', { by })
  t.match(body, {
    data: [{ id: 1, warehouseId: 1, slotCount: 3, occupiedCount: 1 }],
    pagination: { total: 1, hasMore: false },
  })
  t.strictSame((await list('zones?warehouseId=3')).rows, [3])
  t.strictSame((await list('zones?warehouseId=3', people.vera)).rows, [3])
  t.strictSame((await list('zones?warehouseId=3', people.olga)).rows, [])
  t.strictSame((await list('zones?warehouseId=77', people.olga)).rows, [])
  const page = await list('zones?warehouseId=2&limit=1&offset=1')
  t.match(page, { rows: { length: 0 }, pagination: { total: 1, hasMore: false } })
})

t.test('assets are listed by type and by how their barcode begins', async (t) => {
  t.strictSame((await list('assets?type=drum')).rows, ['D-1'])
  t.strictSame((await list('assets?q=D-')).rows, ['D-1', 'D-2'])
  t.match(await list('assets?q=D-&limit=1'), { rows: ['D-1'], pagination: { total: 2, hasMore: true } })
  t.match(await list('assets?q=D-&type=box'), { rows: ['D-2'], pagination: { total: 1 } })
  t.strictSame((await list('assets?q=P-', people.olga)).rows, ['P-1', 'P-2'])
})

t.test('a value that no filter can have is refused, and named', async (t) => {
  for (const [path, query, field] of [
    ['slots', 'occupied=yes', 'occupied'],
    ['slots', 'zone=%20', 'zone'],
    ['slots', 'warehouseId=one', 'warehouseId'],
    ['zones', 'warehouseId=0', 'warehouseId'],
    ['assets', 'type=bag', 'type'],
  ] as const)
    t.match(
      await gateway.ask('GET', `/api/whms/${path}?${query}`, { by }),
      { status: 400, body: { error: { code: 'VALIDATION_ERROR', fields: [{ path: field }] } } },
      query,
    )
})

t.test('the utilization of a zone says which zone of which warehouse it is', async (t) => {
  const { byZone } = (await gateway.ask('GET', '/api/whms/dashboard/utilization', { by })).body
  t.strictSame(byZone, [
    { zone: 'A', warehouseId: 1, zoneId: 1, occupied: 1, total: 3 },
    { zone: 'A', warehouseId: 2, zoneId: 2, occupied: 1, total: 2 },
    { zone: 'A', warehouseId: 3, zoneId: 3, occupied: 1, total: 2 },
    { zone: 'Bulk', warehouseId: 1, zoneId: null, occupied: 0, total: 1 },
  ])
  await post('slots', { slot_id: '2-bulk', zone: 'Bulk', warehouseId: 2, floor_plan_polygon })
  const olga = (await gateway.ask('GET', '/api/whms/dashboard/utilization', { by: people.olga })).body
  t.strictSame(
    olga.byZone.slice(2),
    [1, 2].map((warehouseId) => ({ zone: 'Bulk', warehouseId, zoneId: null, occupied: 0, total: 1 })),
    'one text that waits in two warehouses is two rows',
  )
  const hall = (await gateway.ask('GET', '/api/whms/warehouses/2', { by })).body
  t.strictSame(hall.utilization.byZone, [
    { zone: 'A', warehouseId: 2, zoneId: 2, occupied: 1, total: 2 },
    { zone: 'Bulk', warehouseId: 2, zoneId: null, occupied: 0, total: 1 },
  ])
})
