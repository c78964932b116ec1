import fc from 'fast-check'
import t from 'tap'
import { type Described, descriptionOf, operationsOf, type Parameter } from '../support/description.ts'
import { furnish, heldPhoto, type Person, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { differs, hostile, inline, type Schema, valuesOf } from '../support/json-schema.ts'

/** Other ones in each run. */
const runsPerOperation = 40

t.test('every operation answers what its description says, whatever it is sent', async (t) => {
  const gateway = await testGateway({ config: { webhooks: { allowNetworks: [], timeout: '1ms' } } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A', 'B', '3'])
  const held = await heldPhoto(gateway)
  const event = {
    event_type: 'PLACED',
    slot_code: 'A',
    asset_barcode: 'P-1',
    photo_url: held,
    verification_notes: 'n',
    scan: { slot: 'A' },
  }
  await gateway.ask('POST', '/api/whms/events', { by: people.ada, body: event })
  const description = await descriptionOf(gateway)
  const components = description.components.schemas as Record<string, Schema>
  const operations = operationsOf(description)
  t.ok(operations.length > 110, `${operations.length} operations`)
  for (const { operation, id = '1', body, status } of sensible) {
    const described = operations.find(({ method, path }) => `${method} ${path}` === operation)
    if (!described) throw new Error(`there is no ${operation}`)
    const request = {
      path: { id, code: id, barcode: id },
      query: [],
      headers: {},
      contentType: 'application/json',
      body,
    }
    const answered = await check(gateway, described, { ...request, by: people.ada }, components)
    t.equal(answered, status, `${operation} with what people send`)
  }
  for (const described of operations) {
    const statuses = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(requestsFor(described, components), async (request) => {
        const status = await check(gateway, described, request, components)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
      { numRuns: runsPerOperation },
    )
    t.ok(
      statuses.size > 0,
      `${described.method} ${described.path}: ${[...statuses].map(([s, n]) => `${s} × ${n}`).join(', ')}`,
    )
  }
})

const photo_url = 'https://photos.example/1.jpg'
const placedInB = { event_type: 'PLACED', slot_code: 'B', asset_barcode: 'P-2', photo_url }

/** Answers that chance seldom meets: acts of several events, and searches by codes. */
const sensible: readonly { operation: string; id?: string; body?: unknown; status: number }[] = [
  { operation: 'POST /api/whms/events/batch', body: { events: [placedInB] }, status: 201 },
  {
    operation: 'POST /api/whms/events/batch',
    body: { mode: 'proceed', events: [placedInB, { ...placedInB, photo_url: null }, null] },
    status: 200,
  },
  { operation: 'POST /api/whms/slots/batch', body: { changes: [{ id: 1, zone_type: 'cold' }] }, status: 200 },
  {
    operation: 'POST /api/whms/slots/batch',
    body: { mode: 'proceed', changes: [{ id: 1, version: 99 }, { id: 9999 }, { id: 1, zone: 7 }, null] },
    status: 200,
  },
  { operation: 'POST /api/whms/moves', body: { asset_barcode: 'P-2', to_slot_code: 'A', photo_url }, status: 201 },
  { operation: 'POST /api/whms/moves', body: { asset_barcode: 'P-3', to_slot_id: 3, photo_url }, status: 201 },
  { operation: 'POST /api/whms/events/{id}/correct', body: { none: true, reason: 'a test' }, status: 201 },
  { operation: 'POST /api/whms/events/{id}/correct', id: '2', body: { slot_id: 3, reason: 'wrong' }, status: 201 },
  { operation: 'GET /api/whms/scan/{code}', id: 'A', status: 200 },
  { operation: 'GET /api/whms/scan/{code}', id: 'P-2', status: 200 },
  { operation: 'GET /api/whms/scan/{code}', id: ']C100340123450000000017\u001d10L/1', status: 200 },
  { operation: 'GET /api/whms/discrepancies', status: 200 },
  { operation: 'GET /api/whms/slots/{id}/history', id: 'A', status: 200 },
  { operation: 'GET /api/whms/assets/{barcode}/history', id: 'P-2', status: 200 },
  { operation: 'GET /api/whms/assets/{barcode}/story', id: 'P-2', status: 200 },
  { operation: 'GET /api/whms/events/{id}/footage', status: 200 },
]

type Query = [string, string | undefined][]
type Request = {
  path: Record<string, string>
  query: Query
  headers: Record<string, string | undefined>
  contentType: string
  body: unknown
  by: Person | undefined
}

const contentTypes = [
  'application/json;',
  'application/json ; charset=utf-8',
  'application/vnd.a1+json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'image/png',
  ';',
]

/** Existing ids, missing ids, and texts that are no ids. */
const pathValue = fc.oneof(
  { arbitrary: fc.constantFrom('1', '2', 'A', 'P-1'), weight: 3 },
  { arbitrary: hostile.map(asText), weight: 1 },
)

function requestsFor({ operation }: Described, components: Record<string, Schema>): fc.Arbitrary<Request> {
  const { parameters } = operation
  const of = (where: string) => parameters.filter((p) => p.in === where)
  const schema = operation.requestBody?.content['application/json']?.schema
  const body = schema && inline(schema, components)
  return fc.record({
    path: fc.record(Object.fromEntries(of('path').map((p) => [p.name, pathValue]))),
    query: someOf(of('query'), (p) => valuesOf(inline(p.schema, components), 0.2).map(asText)),
    headers: fc.record(
      Object.fromEntries(
        of('header').map((p) => [p.name, fc.constantFrom('k-1', '1', '"2"', '2026-03-02T08:00:00Z', 'ä', '')]),
      ),
      { requiredKeys: [] },
    ),
    contentType: fc.oneof(
      { arbitrary: fc.constant('application/json'), weight: 3 },
      { arbitrary: fc.constantFrom(...contentTypes), weight: 1 },
    ),
    body: body ? fc.oneof(valuesOf(body, 0), valuesOf(body, 0.05), valuesOf(body, 0.3)) : fc.constant(undefined),
    by: fc.constantFrom(people.ada, people.ada, people.ada, people.sven, people.vera, undefined),
  })
}

/** Chooses at most two parameters: with more, hardly any request gets past the first refusal. */
function someOf(parameters: Parameter[], valueFor: (p: Parameter) => fc.Arbitrary<string>): fc.Arbitrary<Query> {
  return fc
    .subarray(parameters, { maxLength: Math.min(2, parameters.length) })
    .chain((some) => fc.tuple(...some.map((p) => valueFor(p).map((value): [string, string] => [p.name, value]))))
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : String(JSON.stringify(value))
}

/** Sends it, and throws when the status or the body is none that the description names. */
async function check(
  gateway: TestGateway,
  { method, path, operation }: Described,
  request: Request,
  components: Record<string, Schema>,
): Promise<number> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(request.path[name] || '-').replaceAll('.', '%2E'),
  )
  const query = new URLSearchParams(
    request.query.map(([name, value]): [string, string] => [name, value ?? '']),
  ).toString()
  const answer = await gateway.ask(method, query ? `${filled}?${query}` : filled, {
    headers: sendable({ ...request.headers, 'Content-Type': request.contentType }),
    ...(request.by && { by: request.by }),
    ...(request.body !== undefined && { body: request.body }),
  })
  const described = operation.responses[String(answer.status)]
  const at = `${method} ${path} answered ${answer.status}`
  if (!described) throw new Error(`${at}, which is not described: ${answer.text}`)
  if (answer.status >= 500 && answer.status !== 503) throw new Error(`${at}: ${answer.text}`)
  const schema = described.content?.['application/json']?.schema
  const wrong = schema && answer.body !== undefined ? differs(answer.body, inline(schema, components)) : undefined
  if (wrong !== undefined) throw new Error(`${at} with another body: ${wrong}\n${answer.text.slice(0, 2000)}`)
  return answer.status
}

/** Keeps headers that HTTP allows. */
function sendable(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value !== undefined && /^[\x20-\x7e]*$/.test(value) ? [[name, value]] : [],
    ),
  )
}
