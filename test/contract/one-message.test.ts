import t from 'tap'
import { descriptionOf, operationsOf } from '../support/description.ts'
import { furnish, people, testGateway } from '../support/gateway.ts'
import { inline, type Schema } from '../support/json-schema.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Each is wrong for most fields, and several are wrong in more than one way. An empty object would lack several fields. */
const wrong: readonly Json[] = [
  [],
  7,
  '',
  ' ',
  '\u0000',
  '\u0000'.repeat(5000),
  '\u200b'.repeat(3000),
  '\ud800 '.repeat(3000),
  'x'.repeat(5000),
  'http://user:secret@x y',
  -1.5,
  1e300,
  true,
]

/** The way to every field of a body, the first item alone of each list. */
function waysIn(value: Json, way: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return []
  const entries: [string | number, Json][] = Array.isArray(value)
    ? [...value.slice(0, 1).entries()]
    : Object.entries(value)
  return entries.flatMap(([key, inner]) => [[...way, key], ...waysIn(inner, [...way, key])])
}

function withValue(body: Json, way: readonly (string | number)[], value: Json): Json {
  const [key, ...rest] = way
  if (key === undefined) return value
  if (Array.isArray(body)) return body.map((item, i) => (i === key ? withValue(item, rest, value) : item))
  const object = body as { [key: string]: Json }
  return { ...object, [key]: withValue(object[key] ?? null, rest, value) }
}

const propertiesOf = (schema: Schema) =>
  Object.entries((schema as { properties?: Record<string, Schema> }).properties ?? {})

/** A body with the fields of the example, and null for every other field that takes it. */
function fullBody(example: Json, schema: Schema): Json {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example
  const nullable = propertiesOf(schema).filter(([, one]) => JSON.stringify(one).includes('"null"'))
  return { ...Object.fromEntries(nullable.map(([name]) => [name, null])), ...example }
}

t.setTimeout(300_000)

t.test('one wrong value in a body gets one message, which names it', async (t) => {
  const gateway = await testGateway({ config: { webhooks: { timeout: '1ms' } } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01-01', 'A-01-02', 'A-01-03'])
  const description = await descriptionOf(gateway)
  const components = description.components.schemas as Record<string, Schema>
  let faults = 0
  for (const { method, path, operation } of operationsOf(description)) {
    const json = operation.requestBody?.content['application/json']
    if (!json?.example) continue
    const schema = inline(json.schema, components)
    const body = fullBody(json.example as Json, schema)
    const ways = [...propertiesOf(schema).map(([name]) => [name]), ...waysIn(body)]
    const address = path.replace(/\{\w+\}/g, '1')
    for (const way of ways) {
      for (const value of wrong) {
        const asked = { by: people.ada, body: withValue(body, way, value) }
        const answer = await gateway.ask(method, address, asked)
        if (answer.body?.error?.code !== 'VALIDATION_ERROR') continue
        faults += 1
        const paths = (answer.body.error.fields ?? []).map((one: { path: string }) => one.path)
        if (paths.length === 1) continue
        const what = `${operation.operationId} ${way.join('.')} = ${JSON.stringify(value).slice(0, 40)}`
        t.fail(what, { fields: answer.body.error.fields, details: answer.body.error.details?.slice(0, 300) })
      }
    }
  }
  t.ok(faults > 2000, `${faults} faults were refused with one message each`)
})

t.test('one answer names every field that is missing', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01-01'])
  const count = await gateway.ask('POST', '/api/whms/counts', { by: people.ada, body: {} })
  for (const [path, body, missing] of [
    ['events', {}, ['event_type', 'asset_barcode', 'slot_id']],
    ['events', { event_type: 'PLACED', placement_event_id: 1 }, ['asset_barcode', 'slot_id', 'placement_event_id']],
    ['events', { slot_id: 'x' }, ['event_type', 'slot_id', 'asset_barcode']],
    ['events/batch', { events: [{}] }, ['events.0.event_type', 'events.0.asset_barcode', 'events.0.slot_id']],
    ['moves', {}, ['asset_barcode', 'to_slot_id']],
    ['events/1/correct', {}, ['reason', 'none']],
    [`counts/${count.body.id}/scans`, {}, ['slot_id', 'barcodes']],
    ['transport-units/1/evidence', { operator: 7 }, ['operator', 'evidence']],
  ] as const) {
    const { status, body: answer } = await gateway.ask('POST', `/api/whms/${path}`, { by: people.ada, body })
    t.match([status, answer.error.code], [400, 'VALIDATION_ERROR'], path)
    t.strictSame(
      answer.error.fields.map((one: { path: string }) => one.path),
      missing,
      path,
    )
  }
})

t.test('one wrong query parameter gets one message, which names it', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-01-01'])
  const values = ['', 'x', '-1', '1.5', '9'.repeat(30), '\u0000', '\u0000'.repeat(1000), '2026-13-01', 'x'.repeat(1000)]
  let faults = 0
  for (const { method, path, operation } of operationsOf(await descriptionOf(gateway))) {
    const address = path.replace(/\{\w+\}/g, '1')
    for (const { name } of operation.parameters.filter((one) => one.in === 'query')) {
      for (const value of values) {
        const query = new URLSearchParams({ [name]: value })
        const answer = await gateway.ask(method, `${address}?${query}`, { by: people.ada })
        if (answer.body?.error?.code !== 'VALIDATION_ERROR') continue
        const fields = (answer.body.error.fields ?? []) as { path: string }[]
        // Without `from`, `to` is refused too, by an operation that needs both.
        const own = fields.filter((one) => one.path === name)
        if (own.length === 0) continue
        faults += 1
        if (own.length !== 1) t.fail(`${operation.operationId} ${name}=${value.slice(0, 40)}`, { fields })
      }
    }
  }
  t.ok(faults > 500, `${faults} faults`)
})
