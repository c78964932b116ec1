import { z } from '@hono/zod-openapi'
import { AppError } from '../errors/index.ts'
import { parseTime } from '../http/index.ts'

export const deviceTimeHeader = {
  'x-device-time': z.string().max(64).optional().openapi({ description: "the device's clock when it sent, RFC 3339" }),
}

/** X-Device-Time in ms, undefined without one. Throws VALIDATION_ERROR. */
export function deviceTimeOf(c: { req: { header(name: string): string | undefined } }): number | undefined {
  const header = c.req.header('x-device-time')
  if (header === undefined) return undefined
  const ms = parseTime(header)
  if (ms === undefined) throw AppError.field('X-Device-Time', 'expected an RFC 3339 time with offset')
  return ms
}
