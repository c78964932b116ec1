import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { AppError, type FieldProblem, nearestNames } from '../errors/index.ts'
import type { AppEnv } from './context.ts'

/** The query parameter of a signed address; `auth` reads it before any operation does. */
const signedParameter = 'signed'

/**
 * Throws VALIDATION_ERROR when the request has a query parameter that is not in `known`: a filter with a typo would return
 * everything.
 */
export function refuseUnknownParameters(c: Context<AppEnv>, known: readonly string[]): void {
  const at = c.req.url.indexOf('?')
  if (at < 0) return
  const sent = new Set(new URLSearchParams(c.req.url.slice(at)).keys())
  const fields = [...sent]
    .filter((name) => !known.includes(name) && name !== signedParameter)
    .map((path) => ({ path, message: meant('query parameter', path, known) }))
  if (fields.length > 0) throw new AppError('VALIDATION_ERROR', 'The request is not valid', { fields })
}

/** A field of a body that its schema does not declare: its path, and the names declared in the same object. */
export type UnknownField = { readonly path: string; readonly beside: readonly string[] }

/**
 * Finds the fields of a JSON body that would be ignored. Objects that refuse unknown keys themselves, or take any, have
 * none. In a choice of forms the first that the value fits decides.
 */
export function unknownFields(
  value: unknown,
  schema: z.core.$ZodType,
  path: readonly PropertyKey[] = [],
): UnknownField[] {
  if (typeof value !== 'object' || value === null) return []
  if (schema instanceof z.core.$ZodObject) return ofObject(value, schema, path)
  if (schema instanceof z.core.$ZodArray) {
    const { element } = schema._zod.def
    return Array.isArray(value) ? value.flatMap((item, i) => unknownFields(item, element, [...path, i])) : []
  }
  if (schema instanceof z.core.$ZodUnion) {
    const fitting = schema._zod.def.options.find((option) => z.core.safeParse(option, value).success)
    return fitting ? unknownFields(value, fitting, path) : []
  }
  if (schema instanceof z.core.$ZodPipe) return unknownFields(value, schema._zod.def.in, path)
  const inner = innerOf(schema)
  return inner ? unknownFields(value, inner, path) : []
}

const readBySelf = new WeakMap<z.core.$ZodType, z.core.$ZodType>()

/** What `readLater` has referred to, by its name in the description. */
export const laterSchemas = new Map<string, z.ZodType>()

/** Returns a schema that takes anything and is described as `name`; the service parses each item, to refuse it alone. */
export function readLater(schema: z.ZodType, name: string): z.ZodUnknown {
  // The package has no type for a bare reference.
  const item = z.unknown().openapi({ $ref: `#/components/schemas/${name}` } as never)
  readBySelf.set(item, schema)
  laterSchemas.set(name, schema)
  return item
}

function innerOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  if (schema instanceof z.core.$ZodOptional || schema instanceof z.core.$ZodNullable) return schema._zod.def.innerType
  if (schema instanceof z.core.$ZodUnknown) return readBySelf.get(schema)
  if (schema instanceof z.core.$ZodDefault || schema instanceof z.core.$ZodPrefault) return schema._zod.def.innerType
  return undefined
}

function ofObject(value: object, schema: z.core.$ZodObject, path: readonly PropertyKey[]): UnknownField[] {
  const { shape, catchall } = schema._zod.def
  return Object.entries(value).flatMap(([key, inner]) => {
    const declared = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (declared) return unknownFields(inner, declared, [...path, key])
    return catchall ? [] : [{ path: [...path, key].join('.'), beside: Object.keys(shape) }]
  })
}

/** Whether the client asks by `Prefer: handling=strict` (RFC 7240) that unknown fields are refused. */
export function prefersStrict(header: string | undefined): boolean {
  const [, handling] = header?.match(/(?:^|,)\s*handling\s*=\s*"?(strict|lenient)"?\s*(?:[;,]|$)/i) ?? []
  return handling?.toLowerCase() === 'strict'
}

/** The refusal of unknown fields, each with the name that was probably meant. */
export function refusalOf(unknown: readonly UnknownField[]): AppError {
  const fields = unknown.map(({ path, beside }): FieldProblem => {
    const name = path.split('.').at(-1) ?? path
    return { path, message: meant('field', name, beside) }
  })
  return new AppError('VALIDATION_ERROR', 'The request is not valid', { fields })
}

function meant(what: string, written: string, known: readonly string[]): string {
  const near = nearestNames(written, known)
  if (near.length > 0) return `unknown ${what}; did you mean ${near.join(' or ')}?`
  return known.length > 0 ? `unknown ${what}; known here: ${known.join(', ')}` : `unknown ${what}; none is taken here`
}

/** Adds `ignoredFields` to an answer in JSON. */
export async function listIgnored(c: Context<AppEnv>, unknown: readonly UnknownField[]): Promise<void> {
  if (!c.res.headers.get('content-type')?.startsWith('application/json')) return
  const body: unknown = await c.res.json()
  const listed = { ...(body as object), ignoredFields: unknown.map(({ path }) => path) }
  c.res = new Response(JSON.stringify(listed), { status: c.res.status, headers: c.res.headers })
}
