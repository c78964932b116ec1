import t from 'tap'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'

const by = people.ada
const GS = '\x1d'
const hour = 3_600_000
const gtin = '09506000134352'
const pallet = (sscc: string, rest = '') => `]C100${sscc}${rest}`
// SSCCs of one company prefix with their check digits.
const ssccs = ['106141412345678908', '106141412345678915', '106141412345678922'] as const
const contents = (lot: string, day: string) => `02${gtin}15${day}3724${GS}10${lot}`

async function event(gateway: TestGateway, event_type: string, slot_code: string, asset_barcode: string, more = {}) {
  const body = { event_type, slot_code, asset_barcode, photo_url: 'https://p.example/1', ...more }
  const answer = await gateway.ask('POST', '/api/whms/events', { by, body })
  if (answer.status !== 201) throw new Error(answer.text)
}

// biome-ignore lint/suspicious/noExplicitAny: rows are looked at field by field.
async function list(gateway: TestGateway, query: string, person: (typeof people)['ada' | 'vera'] = by): Promise<any[]> {
  const answer = await gateway.ask('GET', `/api/whms/assets?${query}`, { by: person })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body.data
}

const placesOf = (rows: { sscc: string; location?: Stand; locationThen?: Stand }[]) =>
  rows.map(({ sscc, location, locationThen }) => [
    sscc,
    location?.slot?.slot_id ?? null,
    locationThen?.slot?.slot_id ?? null,
  ])
type Stand = { slot: { slot_id: string } | null } | null

t.test('a recall names every pallet of the lot, where each stands and where each stood last Tuesday', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B', 'C'])
  await event(gateway, 'PLACED', 'A', pallet(ssccs[0], contents('L7', '260930')))
  await event(gateway, 'PLACED', 'B', pallet(ssccs[1], contents('L7', '260900')))
  await event(gateway, 'PLACED', 'C', pallet(ssccs[2], contents('L8', '261231')))
  const tuesday = new Date(gateway.clock.now() + hour).toISOString()
  gateway.clock.advance(7 * 24 * hour)
  await event(gateway, 'REMOVED', 'A', pallet(ssccs[0]))
  await event(gateway, 'PLACED', 'C', pallet(ssccs[1]))
  const now = [
    [ssccs[0], null, null],
    [ssccs[1], 'C', null],
  ]
  t.strictSame(placesOf(await list(gateway, 'lot=L7&location=true')), now)
  const then = [
    [ssccs[0], null, 'A'],
    [ssccs[1], 'C', 'B'],
  ]
  t.strictSame(placesOf(await list(gateway, `lot=L7&at=${tuesday}`)), then)
  t.strictSame(placesOf(await list(gateway, `gtin=${gtin.slice(1)}&lot=L7&known_at=${tuesday}`)), then)
  const sscc = async (query: string) => (await list(gateway, query)).map((row) => row.sscc)
  t.strictSame(await sscc(`gtin=${gtin}`), [...ssccs])
  t.strictSame(await sscc('bestBefore=2026-09-30'), [ssccs[0], ssccs[1]], 'day 00 is the last of the month')
  t.strictSame(await sscc('bestBeforeFrom=2026-10-01'), [ssccs[2]])
  t.strictSame(await sscc('bestBeforeTo=2026-12-31&lot=L8'), [ssccs[2]])
  t.strictSame(await sscc('bestBeforeTo=2026-09-29'), [])
  t.strictSame(await sscc(`sscc=${ssccs[1]}`), [ssccs[1]])
  t.strictSame(await sscc('slot=C'), [ssccs[1]], 'the slot holds the pallet that was placed there last')
  const [under] = await list(gateway, `sscc=${ssccs[2]}&location=true`)
  t.match(under.location, { slot: null, lastSlot: { slot_id: 'C' }, endedBy: 5 }, 'where the one under it was last')
  t.strictSame(await sscc(`slot=C&at=${tuesday}`), [ssccs[2]])
  t.strictSame(await sscc(`zoneId=1&at=${tuesday}&lot=L7`), [ssccs[0], ssccs[1]])
  t.strictSame(await sscc('zoneId=1&lot=L7'), [ssccs[1]])
  t.strictSame(await sscc('slot=nowhere'), [])
  t.strictSame(await sscc('provisional=true&type=pallet'), [])
  t.equal((await list(gateway, 'provisional=true')).length, 3)
  t.notOk('location' in (await list(gateway, 'lot=L7'))[0], 'places are told when asked for')
  for (const query of ['gtin=9506000134353', 'sscc=1', 'bestBefore=2026-02-30', 'provisional=1', 'slot=', 'zoneId=x']) {
    t.equal((await gateway.ask('GET', `/api/whms/assets?${query}`, { by })).status, 400, query)
  }
})

t.test('a late scan changes where a pallet was, but not what was known then', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B'])
  const startMs = gateway.clock.now()
  await event(gateway, 'PLACED', 'A', pallet(ssccs[0], contents('L7', '260930')))
  gateway.clock.advance(10 * hour)
  const timestamp = new Date(startMs + hour).toISOString()
  await event(gateway, 'PLACED', 'B', pallet(ssccs[0]), { timestamp })
  const at = new Date(startMs + 2 * hour).toISOString()
  t.strictSame(placesOf(await list(gateway, `lot=L7&at=${at}`)), [[ssccs[0], 'B', 'B']])
  t.strictSame(placesOf(await list(gateway, `lot=L7&at=${at}&known_at=${at}`)), [[ssccs[0], 'B', 'A']])
})

t.test('what one label leaves open another tells, and what a person said stays', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const made = await gateway.ask('POST', '/api/whms/assets', {
    by,
    body: { asset_id: pallet(ssccs[0]), type: 'pallet', lot: 'by hand' },
  })
  t.match(made, {
    status: 201,
    body: { sscc: ssccs[0], lot: 'by hand', gtin: null, warnings: { length: 0 }, version: 1 },
  })
  await event(gateway, 'PLACED', 'A', pallet(ssccs[0], contents('L7', '260930')))
  t.match(await list(gateway, `sscc=${ssccs[0]}`), [{ lot: 'by hand', gtin, bestBefore: '2026-09-30', version: 1 }])
  const other = `${pallet(ssccs[1])}`
  await event(gateway, 'PLACED', 'A', other)
  t.match(
    await gateway.ask('POST', '/api/whms/assets', {
      by,
      body: { asset_id: pallet(ssccs[1], contents('L9', '260930')), type: 'pallet' },
    }),
    { status: 201, body: { lot: 'L9', gtin, provisional: false } },
  )
  t.match(
    await gateway.ask('PUT', `/api/whms/assets/00${ssccs[1]}`, { by, body: { sscc: ssccs[2] } }),
    { status: 400, body: { error: { fields: [{ path: 'sscc' }] } } },
    'the number is the one on the label',
  )
  t.match(
    await gateway.ask('POST', '/api/whms/assets', { by, body: { asset_id: '00106141412345678909', type: 'pallet' } }),
    { status: 201, body: { sscc: null, warnings: [{ code: 'BARCODE_CHECK_DIGIT' }] } },
    'kept as it is, with a warning',
  )
})

t.test(
  'a pallet that only a hidden warehouse has seen is not in a recall of those from whom it is hidden',
  async (t) => {
    const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['olga'] }] } })
    t.teardown(() => gateway.end())
    await furnish(gateway, ['A'])
    await event(gateway, 'PLACED', 'A', pallet(ssccs[0], contents('L7', '260930')))
    t.match(await list(gateway, 'lot=L7&location=true'), [{ location: { slot: { slot_id: 'A' } } }])
    t.strictSame(await list(gateway, 'lot=L7&location=true', people.vera), [], 'as if nobody had ever seen it')
    for (const query of ['slot=A', 'slot=1', 'zoneId=1', 'warehouseId=1'])
      t.strictSame(await list(gateway, query, people.vera), [], query)
  },
)
