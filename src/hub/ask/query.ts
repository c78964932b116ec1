import type { Context } from 'hono'
import { z } from 'zod'
import { AppError } from '../../errors/index.ts'
import { type AppEnv, validationError } from '../../http/index.ts'

/** PostgreSQL compares no text with a zero character. */
export const asked = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\0]*$/, 'a zero character is in no code')

export const format = z.enum(['json', 'csv']).default('json')
export const Nothing = z.strictObject({})

/** Reads the query of a request. Throws VALIDATION_ERROR that names what is wrong. */
export function readQuery<S extends z.ZodType>(c: Context<AppEnv>, schema: S): z.output<S> {
  const found = schema.safeParse(c.req.query())
  if (!found.success) throw validationError(found.error.issues, c.req.query())
  return found.data
}

/** Returns the id of a log in the address. Throws NOT_FOUND for what is none. */
export function logIdIn(c: Context<AppEnv>, what: 'Log' | 'Leaf' | 'Alert'): string {
  const logId = c.req.param('logId') ?? ''
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(logId)) return logId
  throw AppError.notFound(what)
}
