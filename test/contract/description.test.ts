import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'
import { descriptionOf, operationsOf } from '../support/description.ts'
import { type Exchange, playDay } from '../support/example-story.ts'
import { people, testGateway } from '../support/gateway.ts'
import { differs, inline, type Schema, valuesOf } from '../support/json-schema.ts'

const errors = (...rules: string[]) => Object.fromEntries(rules.map((rule) => [rule, 'error' as const]))

/** Problems that the linter finds: the strict set, and what makes a description usable without asking us. */
async function lint(document: object): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: errors(
      'operation-operationId',
      'operation-operationId-unique',
      'operation-operationId-url-safe',
      'operation-summary',
      'operation-description',
      'operation-tag-defined',
      'tag-description',
      'parameter-description',
      'no-unused-components',
      'no-invalid-schema-examples',
      'no-invalid-media-type-examples',
      'no-invalid-parameter-examples',
    ),
  })
  const found = await lintFromString({ source: JSON.stringify(document), config })
  // A WebSocket has no 2xx: it opens with 101.
  const opens = /~1live\/get\/responses$/
  const isOpening = (one: (typeof found)[number]) =>
    one.ruleId === 'operation-2xx-response' && opens.test(one.location[0]?.pointer ?? '')
  return found
    .filter((one) => !isOpening(one))
    .map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)
}

t.test('an outside linter finds nothing to say about either description', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  for (const [version, says] of [
    ['3.1', '3.1.0'],
    ['3.0', '3.0.3'],
  ] as const) {
    const description = await descriptionOf(gateway, version)
    t.equal(description.openapi, says)
    t.strictSame(await lint(description), [], version)
  }
  const broken = await descriptionOf(gateway)
  delete broken.paths['/api/whms/slots'].get.operationId
  t.match(await lint(broken), [/operation-operationId /], 'the linter looks')
})

t.test('every operation can be called from its description alone', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const description = await descriptionOf(gateway)
  const operations = operationsOf(description)
  const components = description.components.schemas as Record<string, Schema>
  t.ok(operations.length > 110)
  for (const { method, path, operation } of operations) {
    const { operationId, parameters, requestBody, responses } = operation
    t.match(operationId, /^[a-z][A-Za-z]+$/, `${method} ${path}`)
    for (const { name, in: where, description, schema } of parameters) {
      t.ok(description, `${operationId}: ${name} is described`)
      if (where !== 'query' || !/limit|offset/.test(name)) continue
      t.match(schema, { type: 'integer', minimum: 0, maximum: Number }, `${operationId}: ${name} has bounds`)
      t.match(description, /Default|beginning/, `${operationId}: ${name} says what its absence means`)
    }
    const sent = requestBody?.content['application/json']
    if (sent) t.ok(sent.example, `${operationId} shows a request`)
    for (const [status, { content = {} }] of Object.entries(responses)) {
      const json = content['application/json']
      if (!json || !status.startsWith('2')) continue
      t.ok(json.example, `${operationId} shows its ${status}`)
      t.equal(differs(json.example, inline(json.schema, components)), undefined, `${operationId} ${status}`)
    }
  }
  const ids = operations.map(({ operation }) => operation.operationId)
  for (const id of ['listSlots', 'recordEvent', 'listEvents', 'createWebhook', 'getHealth']) t.ok(ids.includes(id), id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('refusals and common parameters are described once', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const { paths, components } = await descriptionOf(gateway)
  const { responses, parameters } = paths['/api/whms/slots'].post
  t.match(responses['400'], { $ref: '#/components/responses/BadRequest', description: /ALREADY_EXISTS/ })
  t.match(parameters, [{ $ref: '#/components/parameters/IdempotencyKey' }])
  t.match(components.responses.TooManyRequests.headers, { 'Retry-After': Object, RateLimit: Object })
  t.match(components.responses.BadRequest.content['application/json'].examples.VALIDATION_ERROR.value, {
    success: false,
    error: { code: 'VALIDATION_ERROR' },
  })
  t.match(components.parameters.HistoryLimit.schema, { default: 50, maximum: 500 })
  t.match(paths['/api/whms/events'].post['x-permission'], ['events:create', 'events:verify'])
})

t.test('messages of the stream and signed addresses are described', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const description = await descriptionOf(gateway)
  const schemas = description.components.schemas as Record<string, Schema>
  const { schema } = description.paths['/api/stream'].get.responses['200'].content['text/event-stream']
  const said = inline(schema, schemas)
  const floor = { warehouseId: 1, layoutChanged: false, slots: [] }
  t.equal(differs({ event: 'floor', data: floor }, said), undefined)
  t.ok(differs({ event: 'hello', data: floor }, said), 'each kind has its own data')
  const signed = operationsOf(description)
    .filter(({ operation }) => operation.parameters.some(({ name }) => name === 'signed'))
    .map(({ method, path }) => `${method} ${path}`)
  t.ok(signed.includes('GET /api/whms/assets/{barcode}/story'))
  t.ok(signed.includes('GET /api/whms/transport-units/{id}/receipt'))
  t.notOk(signed.includes('GET /api/whms/events'))
})

t.test('OpenAPI 3.0 says of every body what 3.1 says', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const newer = await descriptionOf(gateway, '3.1')
  const older = await descriptionOf(gateway, '3.0')
  t.notOk(older.webhooks)
  const text = JSON.stringify({ ...older, paths: older.paths, components: older.components })
  t.notMatch(text, /"type":\[/)
  t.notMatch(text, /"type":"null"/)
  t.notMatch(text, /"const":/)
  const reader30 = new Ajv({ strict: false, validateFormats: false })
  const reader31 = new Ajv2020({ strict: false, validateFormats: false })
  let looked = 0
  for (const [name, schema] of Object.entries(older.components.schemas as Record<string, Schema>)) {
    const was = inline(newer.components.schemas[name], newer.components.schemas)
    const was31 = reader31.compile(was as object)
    const is30 = reader30.compile(draft04Bounds(inline(schema, older.components.schemas)) as object)
    fc.assert(
      fc.property(valuesOf(was, 0.05), (value) => {
        const sent = JSON.parse(JSON.stringify(value ?? null))
        return was31(sent) === is30(sent)
      }),
      { numRuns: 40 },
    )
    looked += 1
  }
  t.ok(looked > 80, `${looked} schemas`)
})

/** `exclusiveMinimum: true` of 3.0, in the words of the JSON Schema that ajv knows. */
function draft04Bounds(schema: Schema): unknown {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (value?.exclusiveMinimum !== true) return value
    const { minimum, ...rest } = value
    return { ...rest, exclusiveMinimum: minimum }
  })
}

t.test('the description is sent again only when it is another', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const by = people.vera
  const first = await gateway.ask('GET', '/api/openapi', { by })
  const etag = first.headers.get('etag') ?? ''
  t.match(etag, /^W\/".+"$/)
  const again = await gateway.ask('GET', '/api/openapi', { by, headers: { 'If-None-Match': etag } })
  t.match(again, { status: 304, text: '' })
  const older = await gateway.ask('GET', '/api/openapi?version=3.0', { by, headers: { 'If-None-Match': etag } })
  t.equal(older.status, 200)
  t.equal((await gateway.ask('GET', '/api/openapi?version=2', { by })).status, 400)
})

t.test('a day at the warehouse uses every operation, and every answer is as described', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const description = await descriptionOf(gateway)
  const operations = operationsOf(description)
  const components = description.components.schemas as Record<string, Schema>
  const day = await playDay()
  const byId = Map.groupBy(day, ({ operationId }) => operationId)
  for (const { operation } of operations) {
    const { operationId } = operation
    if (!needsPictures.has(operationId)) t.ok(byId.has(operationId), operationId)
    for (const exchange of byId.get(operationId) ?? [])
      t.equal(problemOf(exchange, operation.responses, components), undefined, operationId)
  }
})

/** Their answers are bytes of files that this day does not have; they are looked at where there are some. */
const needsPictures = new Set([
  'getDetectionClip',
  'getDetectionSnapshot',
  'getCameraSnapshot',
  'watchCamera',
  'getOpeningList',
  'getRedactedClip',
  'getRedactedSnapshot',
  'getClipExportFile',
])

function problemOf(
  { answer }: Exchange,
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>,
  components: Record<string, Schema>,
): string | undefined {
  const described = responses[String(answer.status)]
  if (!described) return `${answer.status} is not described`
  const mediaType = answer.headers.get('content-type')?.split(';')[0]
  if (mediaType === undefined) return answer.text === '' ? undefined : 'a body without a media type'
  const content = described.content?.[mediaType] ?? described.content?.[mediaType.replace(/\/.*/, '/*')]
  if (!content) return `${mediaType} is not described`
  return answer.body === undefined ? undefined : differs(answer.body, inline(content.schema, components))
}
