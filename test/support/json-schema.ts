import fc from 'fast-check'
import { z } from 'zod'

/** As much of JSON Schema as an OpenAPI 3.1 description of ours uses. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

/** Returns the schema with every reference replaced by its target. */
export function inline(schema: Schema, components: Record<string, Schema>): Schema {
  const name = schema.$ref?.split('/').at(-1)
  if (name !== undefined) {
    const target = components[name]
    if (!target) throw new Error(`nothing is called ${schema.$ref}`)
    return inline(target, components)
  }
  const each = (schemas: Schema[]) => schemas.map((s) => inline(s, components))
  return {
    ...schema,
    ...(schema.items && { items: inline(schema.items, components) }),
    ...(schema.properties && {
      properties: Object.fromEntries(Object.entries(schema.properties).map(([key, s]) => [key, inline(s, components)])),
    }),
    ...(typeof schema.additionalProperties === 'object' && {
      additionalProperties: inline(schema.additionalProperties, components),
    }),
    ...(schema.anyOf && { anyOf: each(schema.anyOf) }),
    ...(schema.oneOf && { oneOf: each(schema.oneOf) }),
    ...(schema.allOf && { allOf: each(schema.allOf) }),
  }
}

/**
 * Returns the difference between `value` and the schema; undefined when there is none. A property that is not declared
 * differs.
 */
export function differs(value: unknown, schema: Schema): string | undefined {
  const undeclared = strangers(value, schema)
  if (undeclared !== undefined) return `undeclared: ${undeclared}`
  const checked = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value)
  return checked.success ? undefined : z.prettifyError(checked.error)
}

function strangers(value: unknown, schema: Schema, path = ''): string | undefined {
  if (Array.isArray(value)) {
    const { items } = schema
    return items && value.map((v, i) => strangers(v, items, `${path}[${i}]`)).find((s) => s !== undefined)
  }
  if (typeof value !== 'object' || value === null || !schema.properties) return undefined
  for (const [key, inner] of Object.entries(value)) {
    const declared =
      schema.properties[key] ??
      (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined)
    if (!declared && schema.additionalProperties === undefined) return `${path}.${key}`
    const below = declared && strangers(inner, declared, `${path}.${key}`)
    if (below !== undefined) return below
  }
  return undefined
}

/** Times that are none, by RFC 3339 with an offset. */
export const wrongTimes = [
  '2026-02-30T00:00:00Z',
  '2026-03-02',
  '2026-03-02T08:00:00',
  '2026-03-02 08:00:00Z',
  '2026-03-02T08:00Z',
  '2026-03-02T24:00:00Z',
  '2026-03-02T08:00:60Z',
  '2026-13-02T08:00:00Z',
  '2026-03-02T08:00:00+25:00',
  '2026-03-02T08:00:00,5Z',
  '+002026-03-02T08:00:00Z',
  '1969-12-31T23:59:59Z',
  '2026-W10-1T08:00:00Z',
  'Mon, 02 Mar 2026 08:00:00 GMT',
  '1772438400',
  '२०२६-०३-०२T०८:००:००Z',
  'now',
]

/** Values that go wrong in the wild. */
export const hostile = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  'a\u0000b',
  '\u202eevil',
  '\u200fرقم 1\u200e',
  '\ud800',
  'A\udc00',
  '\ufeffA',
  'A\u2028B',
  'e\u0301\u0301\u0301',
  "'; DROP TABLE slot; --",
  "' OR '1'='1",
  'A" UNION SELECT * FROM opening --',
  '../../etc/passwd',
  '%00',
  '__proto__',
  'x'.repeat(5000),
  '2026-02-30T00:00:00Z',
  '2026-03-02T08:00:00Z',
  'https://127.0.0.1/',
  'javascript:alert(1)',
  '0'.repeat(64),
  [],
  {},
  [[]],
  [null],
  { x: 1 },
  { toString: 1 },
)

/** Values of the schema: mostly good, sometimes hostile, sometimes absent. */
export function valuesOf(schema: Schema, badness = 0.15): fc.Arbitrary<unknown> {
  const good = goodValue(schema, badness)
  const bad = Math.round(badness * 100)
  const evil = schema.format === 'date-time' ? fc.oneof(hostile, fc.constantFrom(...wrongTimes)) : hostile
  return bad === 0 ? good : fc.oneof({ arbitrary: good, weight: 100 - bad }, { arbitrary: evil, weight: bad })
}

function goodValue(schema: Schema, badness: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map((s) => valuesOf(s, badness)))
  const types = [schema.type ?? 'string'].flat()
  return fc.oneof(...types.map((type) => ofType(type, schema, badness)))
}

function ofType(type: string, schema: Schema, badness: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 20, (schema.minimum ?? 0) + 20) })
    case 'number':
      return fc.double({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1000, noNaN: true })
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, badness), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, (schema.minItems ?? 0) + 5),
      })
    case 'object':
      return objects(schema, badness)
    default:
      return texts(schema)
  }
}

/** References lead somewhere more often than not, or no request would get past them. */
const known: Record<string, fc.Arbitrary<unknown>> = {
  slot_code: fc.constantFrom('A', 'A', 'B', 'nope'),
  to_slot_code: fc.constantFrom('A', 'B', 'B', 'nope'),
  from_slot_code: fc.constantFrom('A', undefined, undefined, 'nope'),
  // A label and a number that must agree seldom do.
  to_slot_id: fc.constantFrom(undefined, undefined, undefined, 2),
  from_slot_id: fc.constantFrom(undefined, undefined, undefined, 1),
  asset_barcode: fc.constantFrom('P-1', 'P-1', 'P-2', ']C100340123450000000017'),
  mode: fc.constantFrom('proceed', 'rollback'),
  none: fc.constantFrom(true, undefined),
  photo_url: fc.constantFrom('https://photos.example/1.jpg', 'http://photos.example/2'),
  timestamp: fc.constantFrom('2026-03-02T08:00:00Z', '2026-03-01T08:00:00.5+01:00', '2027-01-01T00:00:00Z'),
}
const knownIds = fc.constantFrom(1, 1, 2, 99)

function objects(schema: Schema, badness: number): fc.Arbitrary<unknown> {
  const properties = Object.entries(schema.properties ?? {}).map(
    ([key, s]) => [key, property(key, s, badness)] as const,
  )
  return fc.record(Object.fromEntries(properties), { requiredKeys: badness < 0.1 ? (schema.required ?? []) : [] })
}

function property(key: string, schema: Schema, badness: number): fc.Arbitrary<unknown> {
  const isId = /_id$|Id$/.test(key) && [schema.type ?? schema.anyOf?.map((s) => s.type)].flat(2).includes('integer')
  const likely = known[key] ?? (isId ? knownIds : undefined)
  return likely && badness < 0.1 ? fc.oneof(likely, fc.constant(undefined)) : valuesOf(schema, badness)
}

function texts({ format, pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<unknown> {
  if (format === 'date-time')
    return fc
      .date({ min: new Date('2026-01-01'), max: new Date('2026-03-03'), noInvalidDate: true })
      .map((d) => d.toISOString())
  if (format === 'uri') return fc.webUrl()
  if (pattern) return fc.stringMatching(new RegExp(pattern))
  return fc.string({ unit: 'grapheme-ascii', minLength, maxLength: Math.min(maxLength, 40) })
}
