import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { AppError, type FieldProblem, KnownNames } from '../../errors/index.ts'
import { validationError } from '../answers/envelope.ts'
import type { AppEnv } from '../context.ts'

/** The query parameter of a signed address; `auth` reads it before any operation does. */
const signedParameter = 'signed'

/** Most names that an answer lists: a body of 256 KiB can have twenty thousand. */
const mostListed = 20
/** A longer name is cut where an answer repeats it. */
const longestListed = 100

/** A name in the request that its operation does not know. It misspells one of `near`, and could have been any of `beside`. */
export type UnknownName = {
  readonly path: string
  readonly near: readonly string[]
  readonly beside: readonly string[]
}

/** Unknown names of one request, the first twenty that are misspelt and the first twenty others. */
export class UnknownNames {
  readonly #misspelt: UnknownName[] = []
  readonly #others: UnknownName[] = []

  /** Whether the request is refused and no further name will be listed. */
  get isFull(): boolean {
    return this.#misspelt.length >= mostListed
  }

  get isEmpty(): boolean {
    return this.#misspelt.length + this.#others.length === 0
  }

  /** The paths that an answer lists. */
  get ignored(): string[] {
    return this.#others.map(({ path }) => path)
  }

  note(
    at: readonly PropertyKey[],
    { key, near, known }: { key: string; near: readonly string[]; known: KnownNames },
  ): void {
    const list = near.length > 0 ? this.#misspelt : this.#others
    if (list.length < mostListed) list.push({ path: [...at, key].map(listed).join('.'), near, beside: known.names })
  }

  /** Returns why the request is refused: a name is misspelt or, for a strict client, unknown. `what`: a name's kind. */
  problems(what: 'field' | 'query parameter', isStrict: boolean): FieldProblem[] {
    const refused = isStrict ? [...this.#misspelt, ...this.#others] : this.#misspelt
    return refused.map((name) => ({ path: name.path, message: meant(what, name) }))
  }
}

function listed(key: PropertyKey): string {
  const name = String(key)
  return name.length > longestListed ? `${name.slice(0, longestListed)}…` : name
}

function meant(what: string, { near, beside }: UnknownName): string {
  if (near.length > 0) return `unknown ${what}; did you mean ${near.join(' or ')}?`
  return beside.length > 0 ? `unknown ${what}; known here: ${beside.join(', ')}` : `unknown ${what}; none is taken here`
}

/** Throws VALIDATION_ERROR when there are problems. */
export function refuseNames(fields: readonly FieldProblem[]): void {
  if (fields.length > 0) throw new AppError('VALIDATION_ERROR', 'The request is not valid', { fields })
}

/** Finds the query parameters that are not in `known`. Undefined: there are none. */
export function unknownParameters(c: Context<AppEnv>, known: KnownNames): UnknownNames | undefined {
  const at = c.req.url.indexOf('?')
  if (at < 0) return undefined
  const found = new UnknownNames()
  for (const name of new Set(new URLSearchParams(c.req.url.slice(at)).keys())) {
    if (!known.has(name) && name !== signedParameter) found.note([], { key: name, near: known.misspeltBy(name), known })
  }
  return found.isEmpty ? undefined : found
}

type Schema = z.core.$ZodType

/** A schema that bodies are read by, and the schemas that answer with the same resource. */
export type Shapes = { readonly body: Schema; readonly answers: readonly Schema[] }

/**
 * Finds the fields of a JSON body that its schema does not declare. A field that an answer has is never misspelt: the client has
 * read it before. Objects that refuse unknown keys themselves, or take any, have none. In a choice of forms the first that the
 * value fits decides, else the only object. Items that are read later may misspell: their reader refuses each alone.
 */
export function unknownFields(value: unknown, { body, answers }: Shapes): UnknownNames | undefined {
  const found = new UnknownNames()
  visit(value, { schema: body, answers, path: [], found })
  return found.isEmpty ? undefined : found
}

type Visit = {
  readonly schema: Schema
  readonly answers: readonly Schema[]
  readonly path: readonly PropertyKey[]
  readonly found: UnknownNames
  /** Inside an item that is read later. */
  readonly isLater?: true
}

function visit(value: unknown, at: Visit): void {
  const { schema } = at
  if (typeof value !== 'object' || value === null) return
  if (schema instanceof z.core.$ZodObject) {
    if (!Array.isArray(value)) visitObject(value, schema, at)
  } else if (schema instanceof z.core.$ZodArray) {
    if (!Array.isArray(value)) return
    const item = { ...at, schema: schema._zod.def.element }
    for (const [i, one] of value.entries())
      if (typeof one === 'object' && one !== null) visit(one, { ...item, path: [...at.path, i] })
  } else if (schema instanceof z.core.$ZodUnion) {
    const { options } = schema._zod.def
    const fitting = options.find((option) => z.core.safeParse(option, value).success) ?? onlyObject(options)
    if (fitting) visit(value, { ...at, schema: fitting })
  } else if (schema instanceof z.core.$ZodPipe) visit(value, { ...at, schema: schema._zod.def.in })
  else {
    const later = readBySelf.get(schema)
    const inner = innerOf(schema)
    if (later) visit(value, { ...at, schema: later.body, answers: later.answers, isLater: true })
    else if (inner) visit(value, { ...at, schema: inner })
  }
}

/** The form that a misspelt object is meant to have: the only one that is an object. */
function onlyObject(options: readonly Schema[]): Schema | undefined {
  const [object, ...others] = options.filter((option) => option instanceof z.core.$ZodObject)
  return others.length === 0 ? object : undefined
}

function visitObject(value: object, schema: z.core.$ZodObject, at: Visit): void {
  const { shape, catchall } = schema._zod.def
  let answered: ReadonlySet<string> | undefined
  // Not `Object.entries`: a body can have twenty thousand keys.
  for (const key in value) {
    if (at.found.isFull) return
    if (Object.hasOwn(shape, key)) {
      const inner = shape[key]
      const field = (value as Record<string, unknown>)[key]
      if (inner && typeof field === 'object' && field !== null)
        visit(field, { ...at, schema: inner, answers: fieldsOf(at.answers, key), path: [...at.path, key] })
    } else if (!catchall) {
      const known = namesOf(schema)
      answered ??= new Set(at.answers.flatMap(objectsOf).flatMap(({ _zod: { def } }) => Object.keys(def.shape)))
      const near = answered.has(key) ? [] : known.misspeltBy(key)
      // The reader of the item refuses it.
      if (at.isLater && near.length > 0) continue
      at.found.note(at.path, { key, near, known })
    }
  }
}

const names = new WeakMap<z.core.$ZodObject, KnownNames>()

function namesOf(schema: z.core.$ZodObject): KnownNames {
  const made = names.get(schema) ?? new KnownNames(Object.keys(schema._zod.def.shape))
  names.set(schema, made)
  return made
}

const fieldsOf = (answers: readonly Schema[], key: string): Schema[] =>
  answers.flatMap(objectsOf).flatMap(({ _zod: { def } }) => def.shape[key] ?? [])

/** Returns the objects that a value of this schema is, or is a list of. */
function objectsOf(schema: Schema): z.core.$ZodObject[] {
  if (schema instanceof z.core.$ZodObject) return [schema]
  if (schema instanceof z.core.$ZodArray) return objectsOf(schema._zod.def.element)
  if (schema instanceof z.core.$ZodUnion) return schema._zod.def.options.flatMap(objectsOf)
  if (schema instanceof z.core.$ZodPipe) return objectsOf(schema._zod.def.in)
  const inner = innerOf(schema)
  return inner ? objectsOf(inner) : []
}

function innerOf(schema: Schema): Schema | undefined {
  if (schema instanceof z.core.$ZodOptional || schema instanceof z.core.$ZodNullable) return schema._zod.def.innerType
  if (schema instanceof z.core.$ZodDefault || schema instanceof z.core.$ZodPrefault) return schema._zod.def.innerType
  return undefined
}

/** Whether an answer of this schema is an object with `success`, to which the ignored names may be added. */
export const isEnvelope = (schema: Schema): boolean =>
  !(schema instanceof z.core.$ZodArray) && fieldsOf([schema], 'success').length > 0

const readBySelf = new WeakMap<Schema, Shapes>()

/** Schemas that `readLater` refers to, by name in the description. */
export const laterSchemas = new Map<string, z.ZodType>()

/** An item of a batch that its service reads by itself, so that a malformed one can be refused alone. */
export type LaterItem<Out> = {
  /** A schema that takes anything; the description says what the item must be. */
  readonly item: z.ZodUnknown
  /** Reads one item. Returns VALIDATION_ERROR for a malformed one and for one with a misspelt field. */
  read(value: unknown): Out | AppError
}

/** Makes a `LaterItem` that is described as `name`. `answer` is the resource that the batch answers for each item. */
export function readLater<S extends z.ZodType>(body: S, name: string, answer: Schema): LaterItem<z.output<S>> {
  // The package has no type for a bare reference.
  const item = z.unknown().openapi({ $ref: `#/components/schemas/${name}` } as never)
  const shapes = { body, answers: [answer] }
  readBySelf.set(item, shapes)
  laterSchemas.set(name, body)
  const read = (value: unknown) => {
    const fields = unknownFields(value, shapes)?.problems('field', false) ?? []
    if (fields.length > 0) return new AppError('VALIDATION_ERROR', 'The request is not valid', { fields })
    const parsed = body.safeParse(value)
    return parsed.success ? parsed.data : validationError(parsed.error.issues, value)
  }
  return { item, read }
}

/** Whether the client asks by `Prefer: handling=strict` (RFC 7240) that unknown names are refused. */
export function prefersStrict(header: string | undefined): boolean {
  const [, handling] = header?.match(/(?:^|,)\s*handling\s*=\s*"?(strict|lenient)"?\s*(?:[;,]|$)/i) ?? []
  return handling?.toLowerCase() === 'strict'
}

/** Adds the ignored names to an answer that is a JSON object, behind its other fields. */
export async function listIgnored(
  c: Context<AppEnv>,
  ignored: { readonly ignoredFields?: readonly string[]; readonly ignoredParameters?: readonly string[] },
): Promise<void> {
  if (!c.res.headers.get('content-type')?.startsWith('application/json')) return
  const bytes = Buffer.from(await c.res.arrayBuffer())
  // Not parsed: a whole list has megabytes.
  const end = bytes.lastIndexOf('}')
  const added = `,${JSON.stringify(ignored).slice(1)}`
  c.res = new Response(Buffer.concat([bytes.subarray(0, end), Buffer.from(added)]), {
    status: c.res.status,
    headers: c.res.headers,
  })
}
