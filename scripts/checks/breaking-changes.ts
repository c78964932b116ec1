type Json = Record<string, unknown>
type Side = 'request' | 'answer'

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']
const upperBounds = ['maxLength', 'maximum', 'maxItems', 'exclusiveMaximum']
const lowerBounds = ['minLength', 'minimum', 'minItems', 'exclusiveMinimum']

/**
 * Compares two OpenAPI 3.1 descriptions. Returns each change that breaks a client of `before`, with its operation and field. An
 * addition breaks none: clients ignore fields, values and answers that they do not know. Pure.
 */
export function breakingChanges(before: Json, after: Json): string[] {
  const found: string[] = []
  const paths = object(after['paths'])
  for (const [path, operations] of Object.entries(object(before['paths']))) {
    if (paths[path] === undefined) {
      found.push(`${path} is gone`)
      continue
    }
    for (const method of methods) {
      const [old, now] = [object(operations)[method], object(paths[path])[method]]
      if (old === undefined) continue
      const name = `${method.toUpperCase()} ${path}`
      if (now === undefined) found.push(`${name} is gone`)
      else found.push(...new Comparison(before, after, name).operation(object(old), object(now)))
    }
  }
  return [...new Set(found)]
}

/** Compares one operation in two descriptions. */
class Comparison {
  readonly #before: Json
  readonly #after: Json
  readonly #name: string
  readonly #found: string[] = []
  /** Pairs of references on the way down: a schema may refer to itself. */
  readonly #open = new Set<string>()

  constructor(before: Json, after: Json, name: string) {
    this.#before = before
    this.#after = after
    this.#name = name
  }

  operation(old: Json, now: Json): string[] {
    this.#parameters(old, now)
    const bodies = [this.#old(old['requestBody']), this.#now(now['requestBody'])] as const
    if (bodies[0]['required'] !== true && bodies[1]['required'] === true) this.#add('the body is required now')
    this.#contents('request', 'request', ...bodies)
    const answers = object(now['responses'])
    for (const [status, answer] of Object.entries(object(old['responses']))) {
      if (!status.startsWith('2')) continue
      if (answers[status] === undefined) this.#add(`the answer ${status} is gone`)
      else this.#contents('answer', `answer ${status}`, this.#old(answer), this.#now(answers[status]))
    }
    return this.#found
  }

  #add(problem: string): void {
    this.#found.push(`${this.#name}: ${problem}`)
  }

  #parameters(old: Json, now: Json): void {
    const was = list(old['parameters']).map((one) => this.#old(one))
    const is = list(now['parameters']).map((one) => this.#now(one))
    const same = (a: Json) => (b: Json) => a['name'] === b['name'] && a['in'] === b['in']
    for (const one of was) {
      const next = is.find(same(one))
      const title = `the ${one['in']} parameter ${one['name']}`
      if (next === undefined) this.#add(`${title} is gone`)
      else this.#schema('request', title, object(one['schema']), object(next['schema']))
    }
    for (const one of is) {
      const last = was.find(same(one))
      if (one['required'] === true && last?.['required'] !== true)
        this.#add(`the ${one['in']} parameter ${one['name']} is required now`)
    }
  }

  #contents(side: Side, title: string, old: Json, now: Json): void {
    const types = object(now['content'])
    for (const [type, content] of Object.entries(object(old['content']))) {
      if (types[type] === undefined) this.#add(`${title} as ${type} is gone`)
      else this.#schema(side, title, object(object(content)['schema']), object(object(types[type])['schema']))
    }
  }

  #schema(side: Side, at: string, oldSchema: Json, nowSchema: Json): void {
    const pair = `${side} ${oldSchema['$ref'] ?? ''} ${nowSchema['$ref'] ?? ''}`
    const named = oldSchema['$ref'] !== undefined && nowSchema['$ref'] !== undefined
    if (named && this.#open.has(pair)) return
    if (named) this.#open.add(pair)
    const [old, now] = [this.#old(oldSchema), this.#now(nowSchema)]
    this.#alternatives(side, at, old, now)
    this.#values(side, at, old, now)
    this.#fields(side, at, old, now)
    if (old['items'] !== undefined && now['items'] !== undefined)
      this.#schema(side, `${at}[]`, object(old['items']), object(now['items']))
    if (named) this.#open.delete(pair)
  }

  /** Equal alternatives belong together; the others are compared in their order. */
  #alternatives(side: Side, at: string, old: Json, now: Json): void {
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const text = (one: unknown) => JSON.stringify(one)
      const [was, is] = [list(old[key]), list(now[key])]
      const [kept, next] = [new Set(is.map(text)), new Set(was.map(text))]
      const changed = was.filter((one) => !kept.has(text(one)))
      const changedNow = is.filter((one) => !next.has(text(one)))
      changed.forEach((one, index) => {
        const other = changedNow[index]
        if (other !== undefined) this.#schema(side, at, one, other)
        else if (side === 'request' && key !== 'allOf') this.#add(`${at} no longer takes ${text(one)}`)
        else if (key === 'allOf' && side === 'answer') this.#add(`${at} no longer holds ${text(one)}`)
      })
    }
  }

  #values(side: Side, at: string, old: Json, now: Json): void {
    const [was, is] = [typesOf(old), typesOf(now)]
    if (side === 'request') {
      const takes = (type: string) =>
        is.length === 0 || is.includes(type) || (type === 'integer' && is.includes('number'))
      for (const type of was) if (!takes(type)) this.#add(`${at} no longer takes ${type}`)
      if (was.length === 0 && is.length > 0 && valuesOf(old) === undefined)
        this.#add(`${at} takes ${is.join(' or ')} alone now`)
      const values = valuesOf(now)
      const removed = values === undefined ? [] : (valuesOf(old) ?? []).filter((value) => !values.includes(value))
      for (const value of removed) this.#add(`${at} no longer takes ${value}`)
      this.#bounds(at, old, now)
    } else {
      for (const type of is) {
        if (was.length === 0 || was.includes(type) || (type === 'integer' && was.includes('number'))) continue
        this.#add(`${at} may be ${type} now`)
      }
    }
  }

  #bounds(at: string, old: Json, now: Json): void {
    const tighter = (key: string, sign: 1 | -1) => {
      const [was, is] = [old[key], now[key]]
      return typeof is === 'number' && (typeof was !== 'number' || sign * (was - is) > 0)
    }
    for (const key of upperBounds) if (tighter(key, 1)) this.#add(`${at} has a smaller ${key}`)
    for (const key of lowerBounds) if (tighter(key, -1)) this.#add(`${at} has a larger ${key}`)
    if (now['pattern'] !== undefined && now['pattern'] !== old['pattern']) this.#add(`${at} has another pattern`)
  }

  #fields(side: Side, at: string, old: Json, now: Json): void {
    const [was, is] = [object(old['properties']), object(now['properties'])]
    const [needed, needs] = [list<string>(old['required']), list<string>(now['required'])]
    const name = (key: string) => (at.endsWith(']') || /\d$|^request$/.test(at) ? `${at} ${key}` : `${at}.${key}`)
    for (const [key, schema] of Object.entries(was)) {
      if (is[key] === undefined) this.#add(`${name(key)} is gone`)
      else this.#schema(side, name(key), object(schema), object(is[key]))
      if (side === 'answer' && is[key] !== undefined && needed.includes(key) && !needs.includes(key))
        this.#add(`${name(key)} may be absent now`)
    }
    if (side !== 'request') return
    for (const key of needs) if (!needed.includes(key)) this.#add(`${name(key)} is required now`)
  }

  #old(value: unknown): Json {
    return resolve(this.#before, object(value))
  }

  #now(value: unknown): Json {
    return resolve(this.#after, object(value))
  }
}

function resolve(description: Json, value: Json): Json {
  const reference = value['$ref']
  if (typeof reference !== 'string') return value
  const target = reference
    .split('/')
    .slice(1)
    .reduce<Json>((at, key) => object(at[key]), description)
  return resolve(description, target)
}

function typesOf(schema: Json): string[] {
  const type = schema['type']
  return Array.isArray(type) ? type : typeof type === 'string' ? [type] : []
}

/** The values of an enum or const, as JSON. */
function valuesOf(schema: Json): string[] | undefined {
  const values = 'const' in schema ? [schema['const']] : schema['enum']
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : undefined
}

const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const list = <T = Json>(value: unknown): readonly T[] => (Array.isArray(value) ? value : [])
