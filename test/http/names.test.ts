import t from 'tap'
import { nearestNames } from '../../src/errors/index.ts'
import { NewPlacementEvent } from '../../src/ledger/schema.ts'
import { furnish, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'

const by = people.ada
const photo_url = 'https://photos.example/1.jpg'

t.test(
  'a query parameter that is nearly a known one is refused with its name, instead of returning everything',
  async (t) => {
    const gateway = await floor(t)
    const refused = async (path: string, by: Person = people.ada) => {
      const { status, body } = await gateway.ask('GET', path, { by })
      t.match([status, body.error.code], [400, 'VALIDATION_ERROR'], path)
      return body.error.fields
    }
    for (const [sent, meant] of [
      ['slotId', 'slot_id'],
      ['slotid', 'slot_id'],
      ['SLOT_ID', 'slot_id'],
      ['asset-barcode', 'asset_barcode'],
      ['assetBarcod', 'asset_barcode'],
      ['event_typ', 'event_type'],
      ['lmit', 'limit'],
      ['ofset', 'offset'],
    ] as const) {
      const fields = await refused(`/api/whms/events?${sent}=1&limit=2`)
      t.strictSame(fields, [{ path: sent, message: `unknown query parameter; did you mean ${meant}?` }], sent)
    }
    await refused('/api/governance/audit?entitty=slot')
    const actor = await gateway.ask('GET', '/api/governance/audit?actor=olga', { by })
    t.match(
      actor,
      { status: 200, body: { ignoredParameters: ['actor'] } },
      'two of its five letters differ from action',
    )
    await refused('/api/iot/detection-events?cctv_id=1')
    t.equal((await refused('/api/whms/events?slotid=1&foo=1&ofset=2')).length, 2, 'each is told')
    const audit = await gateway.ask('GET', '/api/governance/audit?entitty=1', { by: people.vera })
    t.equal(audit.status, 403, 'permission first')
    t.equal((await gateway.ask('GET', '/api/governance/audit?entitty=1')).status, 401, 'and the caller before it')
  },
)

t.test('any other unknown query parameter is ignored and listed in the answer', async (t) => {
  const gateway = await floor(t)
  await gateway.ask('POST', '/api/whms/events', { by, body: placed })
  const plain = await gateway.ask('GET', '/api/whms/events', { by })
  t.notOk('ignoredParameters' in plain.body)
  const list = await gateway.ask('GET', '/api/whms/events?_=1700000000000&utm_source=mail&x', { by })
  t.strictSame(list.body, { ...plain.body, ignoredParameters: ['_', 'utm_source', 'x'] })
  const packed = { by, headers: { 'Accept-Encoding': 'gzip' } }
  for (const path of [
    '/api/whms/slots',
    '/api/whms/zones',
    '/api/whms/warehouses/1',
    '/api/iot/cctv',
    '/api/webhooks',
    '/api/whms/dashboard/utilization',
  ]) {
    const { status, body } = await gateway.ask('GET', `${path}?colour=red`, packed)
    t.match({ status, body }, { status: 200, body: { success: true, ignoredParameters: ['colour'] } }, path)
  }
  const made = await gateway.ask('POST', '/api/whms/events?slot_id=7', { by, body: { ...placed, mood: 'good' } })
  t.match(made, { status: 201, body: { slot_code: 'A-01', ignoredFields: ['mood'], ignoredParameters: ['slot_id'] } })
  t.equal((await gateway.ask('GET', '/api/whms/zones?__proto__=1', { by })).body.ignoredParameters[0], '__proto__')
  const metrics = await gateway.ask('GET', '/api/metrics?x=1', { by })
  t.match(metrics, { status: 200, headers: { get: Function } }, 'no JSON, no list')
  const description = await gateway.ask('GET', '/api/openapi?x=1', { by })
  t.equal(description.status, 200)
  t.notOk('ignoredParameters' in description.body, 'a document of another form stays as it is')
  const many = Array.from({ length: 300 }, (_, i) => `zz${i}=1`).join('&')
  const { ignoredParameters } = (await gateway.ask('GET', `/api/whms/zones?${many}`, { by })).body
  t.strictSame(
    ignoredParameters,
    Array.from({ length: 20 }, (_, i) => `zz${i}`),
  )
  const refused = await gateway.ask('GET', '/api/iot/detection/motion-stream?cctv=7', { by })
  const missing = [{ path: 'cctvId', message: 'required' }]
  t.match(refused, { status: 400, body: { success: false, error: { fields: missing }, ignoredParameters: ['cctv'] } })
  const absent = await gateway.ask('GET', '/api/whms/slots/none?x=1', { by })
  t.match(absent, { status: 404, body: { success: false, ignoredParameters: ['x'] } })
})

t.test('health and ping ignore every query', async (t) => {
  const gateway = await floor(t)
  for (const path of ['/api/health', '/api/ping']) {
    for (const query of ['?x=1', '?limit=1&ofset=2', '?&&=%', '?statuz=1']) {
      const strict = { headers: { Prefer: 'handling=strict' } }
      for (const options of [{}, { by }, strict]) {
        const { status, body } = await gateway.ask('GET', `${path}${query}`, options)
        t.equal(status, 200, `${path}${query}`)
        t.notOk('ignoredParameters' in body)
      }
    }
  }
})

t.test('a client that prefers strict handling has unknown query parameters refused', async (t) => {
  const gateway = await floor(t)
  const strictly = { by, headers: { Prefer: 'handling=strict' } }
  const refused = await gateway.ask('GET', '/api/whms/zones?colour=red&limit=1&nothing', strictly)
  t.equal(refused.status, 400)
  t.strictSame(
    refused.body.error.fields.map(({ path }: { path: string }) => path),
    ['colour', 'nothing'],
  )
  t.match(refused.body.error.fields[0].message, /known here: .*limit, offset/)
  t.equal(refused.headers.get('preference-applied'), 'handling=strict')
  t.equal((await gateway.ask('GET', '/api/whms/zones?limit=1', strictly)).status, 200)
  const posted = await gateway.ask('POST', '/api/whms/events?x=1', { ...strictly, body: placed })
  t.match(posted, { status: 400, body: { error: { fields: [{ path: 'x', message: /none is taken here/ }] } } })
  t.equal((await gateway.ask('GET', '/api/whms/events', { by })).body.pagination.total, 0)
})

t.test('a signed address of a picture is no unknown parameter', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01'])
  const made = await gateway.ask('POST', '/api/signed-urls', { by, body: { path: '/api/whms/slots/A-01/label' } })
  t.equal(made.status, 200)
  t.equal((await gateway.ask('GET', made.body.url)).status, 200)
})

async function floor(t: { teardown(end: () => void): void }): Promise<TestGateway> {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01'])
  return gateway
}

const placed = { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1', photo_url }

t.test('a body field that the gateway does not know is listed in the answer', async (t) => {
  const gateway = await floor(t)
  const body = { ...placed, work_order: 'WO-1', scan: { slot: 'A-01' }, extra: { a: 1 } }
  const recorded = await gateway.ask('POST', '/api/whms/events', { by, body })
  t.equal(recorded.status, 201)
  t.same(recorded.body.ignoredFields, ['work_order', 'extra'])
  const exact = await gateway.ask('POST', '/api/whms/events', { by, body: { ...placed, notes: undefined } })
  t.notOk('ignoredFields' in exact.body, 'nothing is listed where nothing was ignored')
  const batch = await gateway.ask('POST', '/api/whms/events/batch', {
    by,
    body: { mode: 'proceed', events: [placed, { ...placed, mood: 'good' }], dryRun: true },
  })
  t.equal(batch.status, 200)
  t.same(batch.body.ignoredFields, ['events.1.mood', 'dryRun'])
  const changed = await gateway.ask('PUT', '/api/whms/slots/A-01', { by, body: { zone: 'S', colour: 'red' } })
  t.match(changed, { status: 200, body: { slot_id: 'A-01', ignoredFields: ['colour'] } })
  const polygon = [
    { x: 0, y: 0, level: 1 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  const nested = await gateway.ask('PUT', '/api/whms/slots/A-01', { by, body: { floor_plan_polygon: polygon } })
  t.match(nested, { status: 200, body: { ignoredFields: ['floor_plan_polygon.0.level'] } })
})

t.test('a body field that is nearly a known one is refused with its name, and nothing is recorded', async (t) => {
  const gateway = await floor(t)
  const refused = async (method: string, path: string, body: object, sent: string, meant: string) => {
    const answer = await gateway.ask(method, path, { by, body })
    t.match(answer, { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, sent)
    t.strictSame(answer.body.error.fields, [{ path: sent, message: `unknown field; did you mean ${meant}?` }], sent)
  }
  for (const [sent, meant] of [
    ['workOrderRef', 'work_order_ref'],
    ['scaleWeightKg', 'scale_weight_kg'],
    ['verification_note', 'verification_notes'],
    ['photo-url', 'photo_url'],
    ['oprator', 'operator'],
    ['SCAN', 'scan'],
  ] as const)
    await refused('POST', '/api/whms/events', { ...placed, [sent]: 1 }, sent, meant)
  const { asset_barcode, ...rest } = placed
  await refused('POST', '/api/whms/events', { ...rest, assetBarcode: asset_barcode }, 'assetBarcode', 'asset_barcode')
  t.equal((await gateway.ask('GET', '/api/whms/events', { by })).body.pagination.total, 0)
  const incident = { severity: 'low', category: 'damage', evidence_references: ['slot 7'] }
  const incidents = '/api/governance/incidents'
  await refused('POST', incidents, incident, 'evidence_references', 'evidenceReferences')
  const typed = { severity: 'low', category: 'damage', evidenceReferences: [{ typ: 'event', id: '1' }] }
  await refused('POST', incidents, typed, 'evidenceReferences.0.typ', 'type')
  t.equal((await gateway.ask('GET', incidents, { by })).body.pagination.total, 0)
  const polygon = [
    { X: 0, x: 0, y: 0 },
    { x: 1, y: 0 },
    { x: 1, y: 1 },
  ]
  const slot = { floor_plan_polygon: polygon }
  await refused('PUT', '/api/whms/slots/A-01', slot, 'floor_plan_polygon.0.X', 'x')
  t.match((await gateway.ask('GET', '/api/whms/slots/A-01', { by })).body, { version: 1 })
})

t.test('a field that the answers of a resource have is never taken for a misspelt one', async (t) => {
  const gateway = await floor(t)
  const { success: _, ...read } = (await gateway.ask('GET', '/api/whms/slots/A-01', { by })).body
  t.ok('retiredAt' in read)
  const put = await gateway.ask('PUT', '/api/whms/slots/A-01', { by, body: { ...read, retired: false } })
  t.equal(put.status, 200)
  const wrong = await gateway.ask('PUT', '/api/whms/slots/A-01', { by, body: { retiredd: true } })
  t.match(wrong.body.error.fields, [{ path: 'retiredd', message: /did you mean retired\?/ }])
  const changes = [
    { id: 1, retiredAt: null },
    { id: 1, retird: true },
  ]
  const batch = await gateway.ask('POST', '/api/whms/slots/batch', { by, body: { mode: 'proceed', changes } })
  t.match(batch.body.results, [
    { status: 200 },
    { status: 400, error: { fields: [{ path: 'retird', message: /did you mean retired\?/ }] } },
  ])
})

t.test('an event of a batch with a misspelt field is refused as alone, and the others are recorded', async (t) => {
  const gateway = await floor(t)
  const events = [placed, { ...placed, slotcode: 'A-01' }]
  const message = 'unknown field; did you mean slot_code?'
  const rolled = await gateway.ask('POST', '/api/whms/events/batch', { by, body: { events } })
  t.match(rolled, { status: 400, body: { error: { fields: [{ path: 'events.1.slotcode', message }] } } })
  t.equal((await gateway.ask('GET', '/api/whms/events', { by })).body.pagination.total, 0)
  const proceeded = await gateway.ask('POST', '/api/whms/events/batch', { by, body: { mode: 'proceed', events } })
  t.match(proceeded.body.results, [
    { status: 201 },
    { status: 400, error: { fields: [{ path: 'slotcode', message }] } },
  ])
  t.equal((await gateway.ask('GET', '/api/whms/events', { by })).body.pagination.total, 1)
})

t.test('unknown keys of limits, sizes and scan proofs are always refused', async (t) => {
  const gateway = await floor(t)
  for (const [method, path, body, says] of [
    ['PUT', '/api/whms/slots/A-01', { constraints: { colour: 1 } }, /unknown key "colour"/],
    ['PUT', '/api/whms/slots/A-01', { constraints: { maxWeight: 1 } }, /did you mean max_weight/],
    ['POST', '/api/whms/events', { ...placed, scan: { slot: 'A-01', mood: 1 } }, /unknown key "mood"/],
    [
      'POST',
      '/api/whms/assets',
      { asset_id: 'P-1', type: 'box', dimensions: { length: 1, width: 1, height: 1, depth: 1 } },
      /unknown key "depth"/,
    ],
  ] as const) {
    const { status, body: answer } = await gateway.ask(method, path, { by, body })
    t.equal(status, 400)
    t.match(answer.error.fields, [{ message: says }])
    t.equal(answer.error.fields.length, 1)
  }
  const put = async (dimensions: object) => {
    const body = { asset_id: 'P-1', type: 'box', dimensions }
    return (await gateway.ask('POST', '/api/whms/assets', { by, body })).body.error.fields
  }
  const meant = { path: 'dimensions', message: 'unknown key "Length"; did you mean length?' }
  t.strictSame(
    await put({ Length: 5, width: 1, height: 1 }),
    [meant],
    'a misspelt key is told once, and not as missing',
  )
  t.strictSame(await put({ Length: 5 }), [
    { path: 'dimensions.width', message: 'required' },
    { path: 'dimensions.height', message: 'required' },
    meant,
  ])
  t.strictSame(await put({ depth: 5, width: 1, height: 1 }), [
    { path: 'dimensions.length', message: 'required' },
    { path: 'dimensions', message: 'unknown key "depth"; known are length, width, height' },
  ])
  const scan = Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [`key${i}`, 1]))
  const answer = await gateway.ask('POST', '/api/whms/events', { by, body: { ...placed, scan } })
  t.equal(answer.status, 400)
  t.ok(answer.text.length < 4096, 'the refusal stays short')
})

t.test('eleven thousand unknown fields are listed by twenty, and cost far less than comparing each', async (t) => {
  const gateway = await floor(t)
  const known = 'verification_notes'
  // Most have the letters and the length of a known name, so that comparing them is worth the most.
  const scrambled = (i: number) =>
    `${known.slice(i % 9)}${known.slice(0, i % 9)}`.split('').reverse().join('').slice(0, -5) +
    i.toString(36).padStart(5, 'e')
  for (const nameOf of [(i: number) => `zq${i}`, scrambled]) {
    const body = { ...placed, ...Object.fromEntries(Array.from({ length: 11_000 }, (_, i) => [nameOf(i), 1])) }
    const before = cpu()
    const without = await gateway.ask('POST', '/api/whms/events', {
      by,
      body: { ...placed, extra: 'x'.repeat(200_000) },
    })
    const base = cpu() - before
    t.equal(without.status, 201)
    const started = cpu()
    const { status, body: answer } = await gateway.ask('POST', '/api/whms/events', { by, body })
    const cost = cpu() - started - base
    t.equal(status, 201)
    t.equal(answer.ignoredFields.length, 20)
    const beforeEach = cpu()
    for (let i = 0; i < 1100; i += 1) nearestNames(nameOf(i), Object.keys(NewPlacementEvent.shape))
    const each = (cpu() - beforeEach) * 10
    t.ok(cost < each / 4, `${cost} ms; comparing each with each known name: ${each} ms`)
  }
  const long = await gateway.ask('POST', '/api/whms/events', { by, body: { ...placed, ['q'.repeat(100_000)]: 1 } })
  t.strictSame(long.body.ignoredFields, [`${'q'.repeat(100)}…`])
})

/** Milliseconds of the processor that this process has used: what else runs on the machine does not count. */
const cpu = () => process.cpuUsage().user / 1000

t.test('a client that prefers strict handling has unknown body fields refused, and nothing is recorded', async (t) => {
  const gateway = await floor(t)
  const strictly = { by, headers: { Prefer: 'respond-async, Handling="Strict"; x=1' } }
  const refused = await gateway.ask('POST', '/api/whms/events', { ...strictly, body: { ...placed, mood: 'good' } })
  t.match(refused, {
    status: 400,
    body: {
      error: { code: 'VALIDATION_ERROR', fields: [{ path: 'mood', message: /known here: event_type, slot_id/ }] },
    },
  })
  t.equal(refused.headers.get('preference-applied'), 'handling=strict')
  t.equal((await gateway.ask('GET', '/api/whms/events', { by })).body.pagination.total, 0)
  const taken = await gateway.ask('POST', '/api/whms/events', { ...strictly, body: placed })
  t.equal(taken.status, 201)
  t.equal(taken.headers.get('preference-applied'), 'handling=strict')
  const plain = await gateway.ask('POST', '/api/whms/events', { by, body: placed })
  t.equal(plain.headers.get('preference-applied'), null)
})

t.test('Allow names only what can succeed at an address', async (t) => {
  const gateway = await floor(t)
  const allowOf = async (method: string, path: string) => {
    const answer = await gateway.ask(method, path, { by, ...(method !== 'GET' && { body: {} }) })
    t.equal(answer.status, 405, `${method} ${path}`)
    return answer.headers.get('allow')
  }
  t.equal(await allowOf('POST', '/api/whms/events/1'), 'GET')
  t.equal(await allowOf('DELETE', '/api/whms/events/1'), 'GET')
  t.equal(await allowOf('PUT', '/api/whms/events'), 'GET, POST')
  t.equal(await allowOf('PUT', '/api/whms/events/batch'), 'POST')
  t.equal(await allowOf('PATCH', '/api/whms/events/export'), 'GET')
  t.equal(await allowOf('POST', '/api/whms/slots/A-01'), 'GET, PUT')
  t.equal(await allowOf('PUT', '/api/webhooks/1'), 'DELETE, GET, PATCH')
  t.equal(await allowOf('POST', '/'), 'GET')
})

t.test('the same JSON in another order and spacing under one Idempotency-Key is the same request', async (t) => {
  const gateway = await floor(t)
  const send = (bytes: string, key = 'k-1') =>
    gateway.ask('POST', '/api/whms/events', {
      by,
      bytes,
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    })
  const first = await send(JSON.stringify({ ...placed, scale_weight_kg: 10 }))
  t.equal(first.status, 201)
  const reversed = Object.fromEntries(Object.entries({ ...placed, scale_weight_kg: 10 }).reverse())
  const again = await send(JSON.stringify(reversed, null, 2).replace('10', '1.0e1').replace('P-1', '\\u0050-1'))
  t.equal(again.status, 201)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.equal(again.body.id, first.body.id)
  const other = await send(JSON.stringify({ ...placed, scale_weight_kg: 11 }))
  t.match(other, { status: 422, body: { error: { code: 'IDEMPOTENCY_MISMATCH' } } })
  const odd = `{"verification_notes":null,"unknown":"\\ud800","n":1e999,${JSON.stringify(placed).slice(1)}`
  t.equal((await send(odd, 'k-2')).status, 201, 'what has no canonical form is compared as it came')
  t.equal((await send(odd, 'k-2')).headers.get('idempotency-replayed'), 'true')
  t.equal((await gateway.ask('GET', '/api/whms/events', { by })).body.pagination.total, 2)
})
