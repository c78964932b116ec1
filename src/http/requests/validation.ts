import type { z } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler, ValidationTargets } from 'hono'
import { AppError } from '../../errors/index.ts'
import { validationError } from '../answers/envelope.ts'
import type { AppEnv } from '../context.ts'

/** Schemas of the parts of a request that an operation takes. */
export type Validated = {
  readonly query?: z.ZodObject
  readonly params?: z.ZodObject
  readonly headers?: z.ZodObject
  readonly body?: z.ZodType
}

type Check = (c: Context<AppEnv>) => void

/**
 * Checks query, path, headers and body of a request, in this order, and keeps what the schemas make of them for `c.req.valid`.
 * Throws VALIDATION_ERROR. It replaces the validators of hono. Those ask zod for a promise, and zod uses the code that it generates
 * for a schema only when it need not give one. They also copy all headers of a request to look at one.
 */
export function validation({ query, params, headers, body }: Validated): MiddlewareHandler<AppEnv> {
  const checks = [
    query && checkOf('query', query, queryOf),
    params && checkOf('param', params, (c) => c.req.param()),
    headers && checkOf('header', headers, headersNamed(Object.keys(headers.shape))),
    body && checkOf('json', body, (c) => c.get('jsonBody')),
  ].filter((check) => check !== undefined)
  return (c, next) => {
    for (const check of checks) check(c)
    return next()
  }
}

function checkOf(target: keyof ValidationTargets, schema: z.ZodType, read: (c: Context<AppEnv>) => unknown): Check {
  return (c) => {
    const value = read(c)
    const parsed = schema.safeParse(value)
    if (!parsed.success) throw validationError(parsed.error.issues, value)
    if (target === 'query') demandTime(parsed.data)
    c.req.addValidatedData(target, parsed.data as object)
  }
}

/**
 * Refuses a time that ends before it begins: an empty list of gaps or events would look as if there had been none. A moment, from and
 * to alike, is left to the operation.
 */
function demandTime(query: unknown): void {
  if (typeof query !== 'object' || query === null || !('from' in query && 'to' in query)) return
  const { from, to } = query
  if (typeof from === 'number' && typeof to === 'number' && to < from)
    throw AppError.field('to', 'must not be earlier than from')
}

/** A parameter that was sent several times is a list. */
function queryOf(c: Context<AppEnv>): Record<string, string | string[]> {
  // Asking for the parameters of an address without any takes as long as of one with some.
  if (!c.req.url.includes('?')) return {}
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  )
}

function headersNamed(names: readonly string[]): (c: Context<AppEnv>) => Record<string, string> {
  return (c) => {
    const sent: Record<string, string> = {}
    for (const name of names) {
      const value = c.req.header(name)
      if (value !== undefined) sent[name] = value
    }
    return sent
  }
}
