import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { AppError } from '../../errors/index.ts'
import { type AppEnv, parseTime, sharedParameter } from '../../http/index.ts'

/** Headers of every operation to which a device sends its own time. */
export const deviceTimeHeaders = {
  'x-device-time': sharedParameter(
    'DeviceTime',
    { in: 'header', name: 'x-device-time' },
    z.string().max(64).optional().openapi({
      description:
        "The device's clock when it sent the request, RFC 3339 with offset. It corrects `timestamp` for skew.",
      example: '2026-03-02T08:00:00Z',
    }),
  ),
}

/** Reads X-Device-Time in milliseconds since the epoch; undefined when it was not sent. Throws VALIDATION_ERROR. */
export function deviceTimeOf(c: Context<AppEnv>): number | undefined {
  const header = c.req.header('x-device-time')
  if (header === undefined) return undefined
  const ms = parseTime(header)
  if (ms === undefined) throw AppError.field('X-Device-Time', 'expected an RFC 3339 time with offset')
  return ms
}
