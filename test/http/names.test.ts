import t from 'tap'
import { furnish, people, type TestGateway, testGateway } from '../support/gateway.ts'

const by = people.ada
const photo_url = 'https://photos.example/1.jpg'

t.test(
  'a query parameter with a typo is refused with the name that was meant, instead of returning everything',
  async (t) => {
    const gateway = await testGateway()
    t.teardown(() => gateway.end())
    await furnish(gateway, ['A-01'])
    const typo = await gateway.ask('GET', '/api/whms/events?slotid=1&limit=2', { by })
    t.match(typo, {
      status: 400,
      body: {
        success: false,
        error: { code: 'VALIDATION_ERROR', fields: [{ path: 'slotid', message: /did you mean slot_id\?/ }] },
      },
    })
    const strange = await gateway.ask('GET', '/api/whms/zones?colour=red&limit=1&nothing', { by })
    t.match(strange.body.error.fields, [
      { path: 'colour', message: /limit, offset/ },
      { path: 'nothing', message: /limit, offset/ },
    ])
    for (const [method, path] of [
      ['GET', '/api/ping?x=1'],
      ['GET', '/api/health?x=1'],
      ['GET', '/api/metrics?x=1'],
      ['GET', '/api/iot/cctv?x=1'],
      ['GET', '/api/whms/slots/A-01?byy=slot_id'],
      ['GET', '/api/governance/audit?entitty=slot'],
      ['POST', '/api/whms/events?slot_id=1'],
      ['POST', '/api/webhooks/1/test?x=1'],
      ['DELETE', '/api/webhooks/1?x=1'],
    ] as const) {
      const { status, body } = await gateway.ask(method, path, { by, ...(method === 'POST' && { body: {} }) })
      t.match([status, body.error.code], [400, 'VALIDATION_ERROR'], `${method} ${path}`)
    }
    t.equal((await gateway.ask('GET', '/api/whms/zones?__proto__=1', { by })).status, 400)
    t.equal(
      (await gateway.ask('GET', '/api/governance/audit?x=1', { by: people.vera })).status,
      403,
      'permission first',
    )
  },
)

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
    body: { mode: 'proceed', events: [placed, { ...placed, slotcode: 'A-01' }], dryRun: true },
  })
  t.equal(batch.status, 200)
  t.same(batch.body.ignoredFields, ['events.1.slotcode', 'dryRun'])
  const changed = await gateway.ask('PUT', '/api/whms/slots/A-01', { by, body: { zone: 'S', colour: 'red' } })
  t.match(changed, { status: 200, body: { slot_id: 'A-01', ignoredFields: ['colour'] } })
})

t.test('a missing field is told together with the unknown one that may have been meant', async (t) => {
  const gateway = await floor(t)
  const { asset_barcode, ...rest } = placed
  const refused = await gateway.ask('POST', '/api/whms/events', { by, body: { ...rest, assetBarcode: asset_barcode } })
  t.match(refused, {
    status: 400,
    body: { error: { fields: [{ path: 'asset_barcode', message: 'required' }] }, ignoredFields: ['assetBarcode'] },
  })
})

t.test('a client that prefers strict handling has unknown body fields refused, and nothing is recorded', async (t) => {
  const gateway = await floor(t)
  const strictly = { by, headers: { Prefer: 'respond-async, Handling="Strict"; x=1' } }
  const refused = await gateway.ask('POST', '/api/whms/events', { ...strictly, body: { ...placed, slotcode: 'A-01' } })
  t.match(refused, {
    status: 400,
    body: { error: { code: 'VALIDATION_ERROR', fields: [{ path: 'slotcode', message: /did you mean slot_code\?/ }] } },
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
