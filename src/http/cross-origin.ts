import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import type { AppEnv } from './context.ts'

/**
 * Returns middleware that allows pages of the named origins. Without names it does nothing, and browsers block every other
 * page. Cookies are never allowed: a session is for the console's own page only.
 */
export function crossOrigin(origins: () => readonly string[]): MiddlewareHandler<AppEnv> {
  const answer = cors({
    origin: (origin) => (origins().includes(origin) ? origin : null),
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [
      'Authorization',
      'Content-Type',
      'If-Match',
      'Idempotency-Key',
      'Prefer',
      'X-Device-Time',
      'X-Storage-Instance',
      'X-Storage-Username',
    ],
    exposeHeaders: [
      'ETag',
      'Idempotency-Replayed',
      'Location',
      'Preference-Applied',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'X-Request-Id',
    ],
    maxAge: 600,
  })
  return (c, next) => (origins().length > 0 ? answer(c, next) : next())
}
