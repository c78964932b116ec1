import type { MiddlewareHandler } from 'hono'
import { AppError } from '../errors/index.ts'
import type { AppEnv, Caller } from '../http/index.ts'
import type { Authenticator } from './authenticator.ts'
import { readCredentials } from './credentials.ts'
import type { SlidingWindow } from './sliding-window.ts'

export type RateSettings = {
  readonly requestsPerMinute: number
  readonly users: Readonly<Record<string, number>>
  readonly roles: Readonly<Record<string, number>>
}

/** Health and ping answer everybody, so they have a generous bucket of their own by address. */
const publicPerMinute = 6000

/**
 * The door of /api: who is it, and may that one ask again already. Sets `caller`. Refusals before any route is
 * looked up, so a stranger learns nothing about which paths exist.
 */
export function door(options: {
  authenticator: Pick<Authenticator, 'verify'>
  window: SlidingWindow
  rates: () => RateSettings
  isPublic: (path: string) => boolean
}): MiddlewareHandler<AppEnv> {
  const { authenticator, window, rates, isPublic } = options
  const admit = (key: string, limit: number) => {
    const waitSeconds = window.take(key, limit)
    if (waitSeconds > 0) throw rateLimited(waitSeconds)
  }
  return async (c, next) => {
    const address = c.get('address')
    if (isPublic(c.req.path)) {
      admit(`public ${address}`, publicPerMinute)
      return next()
    }
    try {
      const presented = readCredentials({
        authorization: c.req.header('authorization'),
        instance: c.req.header('x-storage-instance'),
        username: c.req.header('x-storage-username'),
      })
      c.set('caller', await authenticator.verify(presented))
    } catch (error) {
      // Only refusals count by address: a stranger's attempts never use up what a colleague behind the same address has.
      admit(`address ${address}`, rates().requestsPerMinute)
      throw error
    }
    const caller = c.get('caller')
    admit(`user ${caller.username}@${caller.instance}`, rateOf(caller, rates()))
    return next()
  }
}

function rateOf(caller: Caller, rates: RateSettings): number {
  return rates.users[caller.username] ?? rates.roles[caller.role] ?? rates.requestsPerMinute
}

function rateLimited(waitSeconds: number): AppError {
  return new AppError('RATE_LIMITED', 'Too many requests', {
    details: `try again in ${waitSeconds} s`,
    retryAfterSeconds: waitSeconds,
  })
}
