import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { parse } from 'csv-parse/sync'
import t, { type Test } from 'tap'
import { streamOf } from '../../src/exchange/text-stream.ts'
import { furnish, heldPhoto, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

const exportPath = '/api/whms/events/export'

/** The JSON Schema that goes with the standard. */
const epcisSchema = createRequire(import.meta.url)('../fixtures/epcis/EPCISDocument.schema.json')

async function yard(t: Test, config: Record<string, unknown> = {}): Promise<TestGateway> {
  const gateway = await testGateway({ config })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01', 'A-02', '17'])
  return gateway
}

async function record(gateway: TestGateway, event: Record<string, unknown>) {
  const photo_url = await heldPhoto(gateway)
  const answer = await gateway.ask('POST', '/api/whms/events', {
    by: people.sven,
    body: { event_type: 'PLACED', slot_code: 'A-01', ...event, ...(event['event_type'] ? {} : { photo_url }) },
  })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}

const get = (gateway: TestGateway, path: string, by = people.vera as (typeof people)[keyof typeof people]) =>
  gateway.ask('GET', path, { by })

t.test('the history comes as lines of JSON, each the event as its own route answers it', async (t) => {
  const gateway = await yard(t)
  await record(gateway, { asset_barcode: 'P-1', timestamp: '2026-03-02T07:59:00Z' })
  await record(gateway, { asset_barcode: 'P-1', event_type: 'REMOVED', timestamp: '2026-03-02T07:58:00Z' })
  const { status, headers, text } = await get(gateway, `${exportPath}?format=ndjson`)
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
  t.equal(headers.get('content-disposition'), 'attachment; filename="events.ndjson"')
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.strictSame(
    lines.map(({ id }) => id),
    [2, 1],
    'in the order in which it happened',
  )
  const { success: _, evidence: __, ...one } = (await get(gateway, '/api/whms/events/1')).body
  t.strictSame(lines[1], one)
})

t.test('a spreadsheet gets every event as a row, and none of its cells runs', async (t) => {
  const gateway = await yard(t)
  const notes = '=HYPERLINK("http://x";"y")\u00e4, "quoted"'
  await record(gateway, { asset_barcode: '-2+3', verification_notes: notes, work_order_ref: '@SUM(A1)' })
  await record(gateway, { asset_barcode: '+49', operator: '＝1', scan: { slot: '=A' }, slot_code: 'A-02' })
  const { text, headers } = await get(gateway, `${exportPath}?format=csv`)
  t.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  const [head, first, second, ...rest] = parse(text) as [string[], string[], string[]]
  t.strictSame(rest, [])
  t.strictSame(head.slice(0, 6), ['id', 'seq', 'eventId', 'event_type', 'slot_id', 'slot_code'])
  const row = (cells: string[]) => Object.fromEntries(head.map((name, i) => [name, cells[i]]))
  t.match(row(first), {
    asset_barcode: "'-2+3",
    verification_notes: `'${notes}`,
    work_order_ref: "'@SUM(A1)",
    operator: 'sven',
    photoEvidence: 'held',
    warnings: '',
  })
  t.match(row(second), { asset_barcode: "'+49", operator: "'＝1", scan: '{"slot":"=A"}', slot_code: 'A-02' })
  t.match(row(second), { warnings: /OPERATOR_DIFFERS/ })
  for (const cell of [...first, ...second]) t.notMatch(cell, /^[=+\-@\t\r＝＋－＠]/, 'no formula')
  t.ok(text.endsWith('\r\n'))
  t.notOk(text.startsWith('\ufeff'))
  const marked = await gateway.api.request(`${exportPath}?format=csv&bom=true`, { headers: signedIn(people.vera) })
  t.equal(Buffer.from(await marked.arrayBuffer()).toString('latin1', 0, 6), '\xef\xbb\xbfid,')
})

t.test('an export is narrowed like the history, to a span, and to what was known', async (t) => {
  const gateway = await yard(t)
  const at = (minute: number) => `2026-03-02T07:${minute}:00.000Z`
  await record(gateway, { asset_barcode: 'P-1', timestamp: at(10) })
  await record(gateway, { asset_barcode: 'P-2', slot_code: 'A-02', timestamp: at(20) })
  const knownThen = new Date(gateway.clock.now()).toISOString()
  gateway.clock.advance(60_000)
  await record(gateway, { asset_barcode: 'P-1', event_type: 'REMOVED', timestamp: at(15) })
  const ids = async (query: string) =>
    (await get(gateway, `${exportPath}?format=ndjson&${query}`)).text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).id)
  t.strictSame(await ids(''), [1, 3, 2])
  t.strictSame(await ids('after_seq=0'), [1, 2, 3])
  t.strictSame(await ids('after_seq=1'), [2, 3])
  t.strictSame(await ids('asset_barcode=P-1'), [1, 3])
  t.strictSame(await ids('slot_id=2'), [2])
  t.strictSame(await ids('event_type=REMOVED'), [3])
  t.strictSame(await ids(`from=${at(15)}&to=${at(20)}`), [3])
  t.strictSame(await ids(`known_at=${knownThen}`), [1, 2])
  t.equal((await get(gateway, exportPath)).status, 400, 'a format has to be named')
  t.equal((await get(gateway, `${exportPath}?format=xlsx`)).status, 400)
  t.equal((await gateway.ask('GET', `${exportPath}?format=csv`)).status, 401)
})

t.test('more rows than one step takes are all there, once and in order', async (t) => {
  const gateway = await yard(t)
  const photo_url = await heldPhoto(gateway)
  const count = 620
  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      gateway.ask('POST', '/api/whms/events', {
        by: people.olga,
        body: { event_type: 'PLACED', slot_code: i % 3 ? 'A-01' : 'A-02', asset_barcode: `P-${i % 7}`, photo_url },
      }),
    ),
  )
  const { text } = await get(gateway, `${exportPath}?format=ndjson`)
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.equal(events.length, count)
  t.equal(new Set(events.map(({ id }) => id)).size, count)
  const inOrder = events.toSorted((a, b) =>
    a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : a.id - b.id,
  )
  t.strictSame(
    events.map(({ id }) => id),
    inOrder.map(({ id }) => id),
  )
  const few = (await get(gateway, `${exportPath}?format=ndjson&slot_id=2&asset_barcode=P-0`)).text.trimEnd().split('\n')
  t.equal(few.length, events.filter(({ slot_id, asset_barcode }) => slot_id === 2 && asset_barcode === 'P-0').length)
  const document = JSON.parse((await get(gateway, '/api/whms/epcis')).text)
  t.equal(document.epcisBody.eventList.length, count)
})

t.test('nobody exports what happened in a warehouse that is hidden from him', async (t) => {
  const gateway = await yard(t, { warehouses: [{ id: 1, viewers: ['olga'] }] })
  const photo_url = await heldPhoto(gateway)
  const body = { event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1', photo_url }
  t.equal((await gateway.ask('POST', '/api/whms/events', { by: people.olga, body })).status, 201)
  t.equal((await get(gateway, `${exportPath}?format=ndjson`)).text, '')
  t.strictSame(JSON.parse((await get(gateway, '/api/whms/epcis')).text).epcisBody.eventList, [])
  t.match((await get(gateway, `${exportPath}?format=ndjson`, people.olga)).text, /"P-1"/)
})

/** A pallet's whole way, and goods whose barcodes are of every kind, as EPCIS. */
async function epcisOfADay(t: Test) {
  const gateway = await yard(t)
  const sscc = ']C100106141412345678908'
  await record(gateway, {
    asset_barcode: sscc,
    scale_weight_kg: 412.5,
    timestamp: '2026-03-02T07:00:00Z',
    work_order_ref: 'WO 7',
  })
  await record(gateway, { asset_barcode: sscc, event_type: 'VERIFIED', timestamp: '2026-03-02T07:01:00Z' })
  await record(gateway, { asset_barcode: sscc, event_type: 'DISPUTED', timestamp: '2026-03-02T07:02:00Z' })
  await record(gateway, { asset_barcode: sscc, event_type: 'REMOVED', timestamp: '2026-03-02T07:03:00Z' })
  const goods = [
    '(01)09521234543213(21)S/1',
    '(01)09521234543213(10)L7',
    '(01)09521234543213',
    'Euro (1) é/?',
    '(8003)09521234543213X1',
  ]
  for (const asset_barcode of goods) await record(gateway, { asset_barcode, slot_code: '17' })
  const answer = await get(gateway, '/api/whms/epcis')
  const document = JSON.parse(answer.text)
  return { gateway, answer, document, events: document.epcisBody.eventList }
}

t.test('the ledger as EPCIS keeps to the schema of the standard, and names nobody', async (t) => {
  const { answer, document } = await epcisOfADay(t)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'application/ld+json')
  t.strictSame(problemsOf(document), [])
  t.notOk(answer.text.includes('sven'), 'no names of people')
})

t.test('the ledger as EPCIS says where, which step and in what condition', async (t) => {
  const { gateway, events } = await epcisOfADay(t)
  t.match(events[0], {
    type: 'ObjectEvent',
    eventTime: '2026-03-02T07:00:00.000Z',
    eventTimeZoneOffset: '+01:00',
    recordTime: '2026-03-02T08:00:00.000Z',
    epcList: ['https://id.gs1.org/00/106141412345678908'],
    action: 'OBSERVE',
    bizStep: 'storing',
    disposition: 'in_progress',
    readPoint: { id: 'http://127.0.0.1:8480/api/whms/slots/A-01' },
    bizLocation: { id: 'http://127.0.0.1:8480/api/whms/slots/A-01' },
    sensorElementList: [{ sensorReport: [{ type: 'Mass', value: 412.5, uom: 'KGM' }] }],
    'gatehouse:workOrderRef': 'WO 7',
  })
  t.equal(events[0].eventID, `urn:uuid:${(await get(gateway, '/api/whms/events/1')).body.eventId}`)
  t.strictSame(
    events.slice(0, 4).map((e: Record<string, unknown>) => [e['bizStep'], e['disposition'], 'bizLocation' in e]),
    [
      ['storing', 'in_progress', true],
      ['inspecting', 'conformant', true],
      ['inspecting', 'non_conformant', true],
      ['picking', 'in_progress', false],
    ],
  )
})

t.test('the ledger as EPCIS names goods as the standard does, and others by their address here', async (t) => {
  const { events } = await epcisOfADay(t)
  const [item, lot, trade, plain, returnable] = events.slice(4)
  t.strictSame(item.epcList, ['https://id.gs1.org/01/09521234543213/21/S%2F1'])
  t.strictSame(lot.quantityList, [{ epcClass: 'https://id.gs1.org/01/09521234543213/10/L7', quantity: 1 }])
  t.strictSame(trade.quantityList, [{ epcClass: 'https://id.gs1.org/01/09521234543213', quantity: 1 }])
  t.strictSame(plain.epcList, ['http://127.0.0.1:8480/api/whms/assets/Euro%20%281%29%20%C3%A9%2F%3F'])
  t.strictSame(returnable.epcList, ['https://id.gs1.org/8003/09521234543213X1'])
  t.equal(plain.readPoint.id, 'http://127.0.0.1:8480/api/whms/slots/17?by=slot_id')
})

t.test('an offset is that of the warehouse at the time, also in summer', async (t) => {
  const gateway = await yard(t)
  gateway.clock.advance(150 * 24 * 3_600_000)
  await record(gateway, { asset_barcode: 'P-1' })
  const [event] = JSON.parse((await get(gateway, '/api/whms/epcis')).text).epcisBody.eventList
  t.equal(event.eventTimeZoneOffset, '+02:00')
})

t.test('what was corrected is declared wrong, under its own id, in front of what corrects it', async (t) => {
  const gateway = await yard(t)
  const wrong = await record(gateway, { asset_barcode: 'P-1' })
  gateway.clock.advance(60_000)
  const removed = await record(gateway, { asset_barcode: 'P-1', event_type: 'REMOVED', corrects_event_id: wrong.id })
  gateway.clock.advance(60_000)
  const placed = await record(gateway, { asset_barcode: 'P-1', slot_code: 'A-02', corrects_event_id: wrong.id })
  const document = JSON.parse((await get(gateway, '/api/whms/epcis')).text)
  t.strictSame(problemsOf(document), [])
  const events = document.epcisBody.eventList
  const urn = ({ eventId }: { eventId: string }) => `urn:uuid:${eventId}`
  t.strictSame(
    events.map((e: { eventID: string; errorDeclaration?: object }) => [e.eventID, e.errorDeclaration]),
    [
      [urn(wrong), undefined],
      [
        urn(wrong),
        { declarationTime: removed.received_at, reason: 'incorrect_data', correctiveEventIDs: [urn(removed)] },
      ],
      [urn(removed), undefined],
      [
        urn(wrong),
        { declarationTime: placed.received_at, reason: 'incorrect_data', correctiveEventIDs: [urn(placed)] },
      ],
      [urn(placed), undefined],
    ],
  )
  const { errorDeclaration: _, ...declared } = events[1]
  t.strictSame(declared, events[0], 'the rest of it is what it was')
})

t.test('a piece is made when the client takes the one before it, and none after it has gone', async (t) => {
  let made = 0
  let ended = false
  async function* pieces() {
    try {
      for (;;) {
        made += 1
        yield `${made};`
      }
    } finally {
      ended = true
    }
  }
  const reader = streamOf(pieces()).getReader()
  await reader.read()
  await reader.read()
  for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve))
  t.ok(made <= 4, `${made} pieces made for two that were taken`)
  await reader.cancel()
  t.ok(ended)
})

t.test('what the schema of the standard does not know is noticed', async (t) => {
  t.not(problemsOf({ type: 'EPCISDocument' }).length, 0)
})

function problemsOf(document: unknown): unknown[] {
  const ajv = new Ajv({ strict: false, allErrors: true })
  formats.default(ajv)
  const validate = ajv.compile(epcisSchema)
  return validate(document) ? [] : (validate.errors ?? [])
}
