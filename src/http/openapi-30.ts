import type { Description } from './description.ts'

type Json = null | boolean | number | string | Json[] | JsonObject
type JsonObject = { [key: string]: Json | undefined }

/**
 * Returns the description in OpenAPI 3.0, for tools that cannot read 3.1. Keywords of JSON Schema that are new in 3.1 are
 * replaced by those of 3.0. Webhooks are left out, because 3.0 has none.
 */
export function asOpenApi30({ webhooks: _, ...description }: Description): object {
  const document: JsonObject = JSON.parse(JSON.stringify(description))
  const used = referencesFrom(document)
  const components = mapValues(document['components'], (named, kind) =>
    kind === 'securitySchemes' ? named : filterKeys(named, (name) => used.has(`#/components/${kind}/${name}`)),
  )
  const converted = new Conversion(document).convert({ ...document, components })
  return isObject(converted) ? { ...converted, openapi: '3.0.3' } : {}
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const mapValues = (named: Json | undefined, change: (value: Json, name: string) => Json): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(named) ? named : {}).map(([name, value]) => [
      name,
      value === undefined ? value : change(value, name),
    ]),
  )

const filterKeys = (named: Json, isKept: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(isObject(named) ? named : {}).filter(([name]) => isKept(name)))

/** Returns all references of the paths, also those through other references. */
function referencesFrom(document: JsonObject): ReadonlySet<string> {
  const found = new Set<string>()
  const look = (value: Json | undefined): void => {
    if (Array.isArray(value)) {
      value.forEach(look)
      return
    }
    if (!isObject(value)) return
    const ref = value['$ref']
    if (typeof ref === 'string' && !found.has(ref)) {
      found.add(ref)
      look(resolve(document, ref))
    }
    Object.values(value).forEach(look)
  }
  look(document['paths'])
  return found
}

function resolve(document: JsonObject, ref: string): Json | undefined {
  return ref
    .split('/')
    .slice(1)
    .reduce((at: Json | undefined, key) => (isObject(at) ? at[key] : undefined), document)
}

/** Keywords whose values are maps of names chosen by us. */
const maps = new Set([
  'properties',
  'schemas',
  'responses',
  'parameters',
  'headers',
  'paths',
  'content',
  'securitySchemes',
])
/** Data, not description. */
const asTheyAre = new Set(['example', 'examples', 'default', 'enum', 'security', 'x-error-codes', 'x-permission'])

class Conversion {
  readonly #document: JsonObject

  constructor(document: JsonObject) {
    this.#document = document
  }

  convert(value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.convert(item))
    if (!isObject(value)) return value
    // OpenAPI 3.0 allows no other key next to $ref.
    if (typeof value['$ref'] === 'string') return { $ref: value['$ref'] }
    const converted = mapValues(value, (inner, key) => {
      if (asTheyAre.has(key)) return inner
      return maps.has(key) && isObject(inner) ? mapValues(inner, (one) => this.convert(one)) : this.convert(inner)
    })
    return this.#nullable(bounds(constant(converted)))
  }

  /** `type: [T, null]`, or a choice in which null is one, is T that is nullable. */
  #nullable(schema: JsonObject): JsonObject {
    if (Array.isArray(schema['type'])) return ofTypes(schema, schema['type'])
    for (const choice of ['anyOf', 'oneOf']) {
      const listed = schema[choice]
      if (!Array.isArray(listed)) continue
      const options = listed.filter(isObject)
      const others = options.filter(({ type }) => type !== 'null')
      if (others.length === options.length) continue
      const { [choice]: _, ...rest } = schema
      const [only] = others
      if (others.length > 1 || only === undefined) return { ...rest, [choice]: others.map(asNullable) }
      return { ...rest, ...asNullable(this.#target(only)) }
    }
    return schema
  }

  /** A nullable reference is written out: 3.0 has no way to say it of a reference. */
  #target(schema: JsonObject): JsonObject {
    const ref = schema['$ref']
    if (typeof ref !== 'string') return schema
    const target = this.convert(resolve(this.#document, ref) ?? {})
    return isObject(target) ? this.#target(target) : schema
  }
}

const asNullable = (schema: JsonObject): JsonObject =>
  typeof schema['type'] === 'string' ? { ...schema, nullable: true } : schema

/** `const` as the only value of an `enum`, with its type. */
function constant({ const: only, ...rest }: JsonObject): JsonObject {
  if (only === undefined) return rest
  const type = typeof only
  return { ...(type === 'object' ? {} : { type }), ...rest, enum: [only] }
}

function bounds(schema: JsonObject): JsonObject {
  const { exclusiveMinimum, exclusiveMaximum, ...rest } = schema
  return {
    ...rest,
    ...(exclusiveMinimum !== undefined && { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(exclusiveMaximum !== undefined && { maximum: exclusiveMaximum, exclusiveMaximum: true }),
  }
}

function ofTypes(schema: JsonObject, types: readonly Json[]): JsonObject {
  const { type: _, ...rest } = schema
  const others = types.filter((type) => type !== 'null')
  const nullable = others.length < types.length ? { nullable: true } : {}
  const [only] = others
  if (others.length === 1 && only !== undefined) return { ...rest, type: only, ...nullable }
  return { ...rest, anyOf: others.map((type) => ({ type, ...nullable })) }
}
