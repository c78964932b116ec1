import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { AppError } from '../errors/index.ts'
import { type Clock, type Logger, systemClock } from '../world/index.ts'
import type { AppEnv } from './context.ts'
import { errorBody, validationError } from './envelope.ts'
import { RefusalLog } from './refusal-log.ts'

export type Api = OpenAPIHono<AppEnv>

/** A router whose refusals all leave in the documented envelope. Rooms add their routes to one of these. */
export function newApi(): Api {
  return new OpenAPIHono<AppEnv>({
    defaultHook: (result) => {
      if (!result.success) throw validationError(result.error.issues, (result as { data?: unknown }).data)
    },
  })
}

export type RootOptions = {
  readonly log: Logger
  /** Default: the system's. */
  readonly clock?: Pick<Clock, 'monotonic'>
  readonly makeRequestId: () => string
  /** The peer's address, or the client's behind a trusted proxy. */
  readonly addressOf: (raw: { peer: string | undefined; forwarded: string | undefined }) => string
  /** Whether the client's connection is encrypted; the default looks at this one only. */
  readonly isOverTls?: (raw: { encrypted: boolean; peer: string | undefined; proto: string | undefined }) => boolean
  readonly onAnswer?: (answer: { method: string; route: string; status: number; seconds: number }) => void
}

type Socket = { readonly remoteAddress?: string; readonly encrypted?: boolean }

const requestIdForm = /^[A-Za-z0-9._-]{8,64}$/

/** Unless an answer says otherwise: it is data for one caller, and no page may show, frame or run it. */
const onEveryAnswer = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
] as const

/** The root: request ids, the access log, error envelopes, 404 and 405. Authentication and routes are added to it. */
export function newRoot(options: RootOptions): Api {
  const root = newApi()
  const refusals = new RefusalLog({ clock: options.clock ?? systemClock })
  root.use('*', async (c, next) => {
    const startedMs = performance.now()
    const given = c.req.header('x-request-id')
    const requestId = given && requestIdForm.test(given) ? given : options.makeRequestId()
    const socket = (c.env as { incoming?: { socket?: Socket } } | undefined)?.incoming?.socket
    const peer = socket?.remoteAddress
    c.set('requestId', requestId)
    c.set('log', options.log.child({ requestId }))
    c.set('address', options.addressOf({ peer, forwarded: c.req.header('x-forwarded-for') }))
    const encrypted = socket?.encrypted === true
    const proto = c.req.header('x-forwarded-proto')
    c.set('overTls', options.isOverTls?.({ encrypted, peer, proto }) ?? encrypted)
    await next()
    c.header('X-Request-Id', requestId)
    for (const [name, value] of onEveryAnswer) if (!c.res.headers.has(name)) c.header(name, value)
    const seconds = (performance.now() - startedMs) / 1000
    options.onAnswer?.({ method: c.req.method, route: routeOf(c.req.matchedRoutes), status: c.res.status, seconds })
    c.get('log').debug({ method: c.req.method, path: c.req.path, status: c.res.status, seconds }, 'answered')
  })
  // Answered, not thrown: what is thrown here would pass the middleware above by.
  root.notFound((c) => answerRefusal(c, refusalAt(root, c.req.path, c.req.method)))
  root.onError((error, c) => {
    const refusal = asAppError(error)
    if (refusal.status >= 500) refusals.write(c.get('log'), refusal, error)
    return answerRefusal(c, refusal)
  })
  return root
}

function answerRefusal(c: Context<AppEnv>, refusal: AppError) {
  if (refusal.retryAfterSeconds !== undefined) c.header('Retry-After', String(refusal.retryAfterSeconds))
  if (refusal.status === 405 && refusal.details) c.header('Allow', refusal.details)
  if (refusal.status === 416) c.header('Content-Range', refusal.details)
  if (refusal.status === 401) c.header('WWW-Authenticate', 'Bearer realm="gatehouse"')
  return c.json(errorBody(refusal, c.get('requestId')), refusal.status)
}

/** Anything thrown, as a refusal: what is not ours becomes INTERNAL_ERROR with its cause for the log only. */
function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (error instanceof HTTPException && error.status === 415) {
    return new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the media type that the operation names', { cause: error })
  }
  if (error instanceof HTTPException && error.status === 400) {
    return new AppError('MALFORMED_JSON', 'The request could not be read', { cause: error })
  }
  return new AppError('INTERNAL_ERROR', 'Something went wrong inside the gateway', { cause: error })
}

function refusalAt(root: Api, path: string, method: string): AppError {
  const methods = new Set(
    root.routes.filter((r) => r.method !== 'ALL' && patternOf(r.path).test(path)).map((r) => r.method.toUpperCase()),
  )
  if (methods.size > 0 && !methods.has(method)) {
    return new AppError('METHOD_NOT_ALLOWED', `${method} is not possible here`, {
      details: [...methods].sort().join(', '),
    })
  }
  return new AppError('NOT_FOUND', 'There is nothing at this path')
}

function patternOf(route: string): RegExp {
  const body = route
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/')
  return new RegExp(`^${body}$`)
}

/** The pattern that answered, never the path itself: metrics must not grow with ids. */
function routeOf(matched: readonly { path: string }[]): string {
  const pattern = matched.at(-1)?.path ?? '*'
  return pattern.includes('*') ? 'unmatched' : pattern
}
