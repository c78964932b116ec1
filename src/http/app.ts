import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { AppError } from '../errors/index.ts'
import { type Clock, type Logger, systemClock } from '../platform/index.ts'
import { Answer } from './answers/answer.ts'
import { errorBody } from './answers/envelope.ts'
import { isFromOwnPage } from './answers/own-page.ts'
import { RefusalLog } from './answers/refusal-log.ts'
import { afterwards } from './answers/steps.ts'
import type { AppEnv } from './context.ts'
import { RememberingRouter } from './remembering-router.ts'
import { probePaths } from './server/probes.ts'

export type Api = OpenAPIHono<AppEnv>

/** A router whose refusals all leave in the documented envelope. Rooms add their routes to one of these. */
export function newApi(router = new RememberingRouter()): Api {
  const api = new OpenAPIHono<AppEnv>({ router })
  const route = api.openapi
  // Described with its input, and routed without: `operation` checks the input by itself.
  api.openapi = (({ middleware, ...described }: Parameters<typeof route>[0], handler: Parameters<typeof route>[1]) => {
    api.openAPIRegistry.registerPath(described)
    const { request: _, ...routed } = described
    return route({ ...routed, ...(middleware && { middleware }), hide: true }, handler)
  }) as typeof route
  return api
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
  /** Whether the host of a request's address is this gateway; absent: every host is. */
  readonly isOurHost?: (host: string) => boolean
  /** Whether other machines are served without TLS too: then a browser must not be asked to use nothing else. */
  readonly servesPlainHttp?: () => boolean
  /** A page for people, at an address where nothing is; undefined: this request gets the envelope. */
  readonly missingPage?: (c: Context<AppEnv>) => Promise<Response> | undefined
  readonly onAnswer?: (answer: { method: string; route: string; status: number; seconds: number }) => void
}

type Socket = { readonly remoteAddress?: string; readonly encrypted?: boolean }

const oneYear = 'max-age=31536000'
const requestIdForm = /^[A-Za-z0-9._-]{8,64}$/

/** Unless an answer says otherwise: it is data for one caller, and no page may show, frame or run it. */
const onEveryAnswer = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** The root: request ids, the access log, error envelopes, 404 and 405. Authentication and routes are added to it. */
export function newRoot(options: RootOptions): Api {
  const router = new RememberingRouter()
  const root = newApi(router)
  const refusals = new RefusalLog({ clock: options.clock ?? systemClock })
  root.use('*', (c, next) => {
    const startedMs = performance.now()
    const given = c.req.header('x-request-id')
    const requestId = given && requestIdForm.test(given) ? given : options.makeRequestId()
    const socket = (c.env as { incoming?: { socket?: Socket } } | undefined)?.incoming?.socket
    const peer = socket?.remoteAddress
    c.set('requestId', requestId)
    c.set('log', () => options.log.child({ requestId }))
    c.set('address', options.addressOf({ peer, forwarded: c.req.header('x-forwarded-for') }))
    const encrypted = socket?.encrypted === true
    const proto = c.req.header('x-forwarded-proto')
    c.set('overTls', options.isOverTls?.({ encrypted, peer, proto }) ?? encrypted)
    const otherHeaders: Record<string, string> = { 'x-request-id': requestId, ...onEveryAnswer }
    if (c.get('overTls') && options.servesPlainHttp?.() === false) otherHeaders['strict-transport-security'] = oneYear
    c.set('otherHeaders', otherHeaders)
    const answered = () => {
      addHeaders(c, otherHeaders)
      const seconds = (performance.now() - startedMs) / 1000
      options.onAnswer?.({ method: c.req.method, route: routeOf(c.req.matchedRoutes), status: c.res.status, seconds })
      if (options.log.isLevelEnabled('debug'))
        c.get('log')().debug({ method: c.req.method, path: c.req.path, status: c.res.status, seconds }, 'answered')
    }
    return afterwards(next(), answered)
  })
  root.use('*', (c, next) => {
    const [, host = ''] = c.req.url.match(/^https?:\/\/([^/?#]*)/) ?? []
    if (options.isOurHost?.(host) !== false || probePaths.has(c.req.path)) return next()
    throw new AppError('VALIDATION_ERROR', `"${host}" is not a name of this gateway`, {
      details: 'Use the address in site.url, or add the name to http.hostNames in the config.',
    })
  })
  // Answered, not thrown: what is thrown here would pass the middleware above by.
  const notFound = async (c: Context<AppEnv>) => {
    const methods = methodsAt(root, c.req.path)
    if (methods.length === 0) {
      const missing = new AppError('NOT_FOUND', 'There is nothing at this path')
      try {
        return (await options.missingPage?.(c)) ?? answerRefusal(c, missing)
      } catch (error) {
        return answerRefusal(c, asAppError(error))
      }
    }
    c.header('Allow', methods.join(', '))
    return answerRefusal(c, notAllowed(c.req.method, methods))
  }
  const onError = (error: unknown, c: Context<AppEnv>) => {
    const refusal = asAppError(error)
    if (refusal.status === 405) c.header('Allow', methodsAt(root, c.req.path).join(', '))
    if (refusal.status >= 500) refusals.write(c.get('log')(), refusal, error)
    return answerRefusal(c, refusal)
  }
  root.notFound(notFound)
  root.onError(onError)
  router.join({ notFound, onError })
  return root
}

/** On the response of the listener, since an object for the headers of each answer costs more than most answers. */
function addHeaders(c: Context<AppEnv>, otherHeaders: Readonly<Record<string, string>>): void {
  const { outgoing } = (c.env ?? {}) as { outgoing?: unknown }
  if (outgoing instanceof Answer) {
    outgoing.otherHeaders = otherHeaders
    return
  }
  const { headers } = c.res
  for (const name in otherHeaders) if (!headers.has(name)) headers.set(name, otherHeaders[name] ?? '')
}

const bothSchemes = 'Bearer, Basic realm="gatehouse"'

/** Offered Basic, a browser would open its own password box above the console. Only a page has the cookie of a session. */
const hasPage = (c: Context<AppEnv>, { code }: AppError): boolean => code === 'SESSION_ENDED' || isFromOwnPage(c)

function answerRefusal(c: Context<AppEnv>, refusal: AppError) {
  if (refusal.retryAfterSeconds !== undefined) c.header('Retry-After', String(refusal.retryAfterSeconds))
  if (refusal.status === 416) c.header('Content-Range', refusal.details)
  if (refusal.status === 426) c.header('Upgrade', 'websocket')
  if (refusal.status === 401) c.header('WWW-Authenticate', hasPage(c, refusal) ? 'Bearer' : bothSchemes)
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

const notAllowed = (method: string, methods: readonly string[]) =>
  new AppError('METHOD_NOT_ALLOWED', `${method} is not possible here`, { details: methods.join(', ') })

const refusing = new WeakSet<object>()

/** A handler that only ever refuses: its methods are not in `Allow`. */
export function always(refusal: () => AppError): () => never {
  const handler = () => {
    throw refusal()
  }
  refusing.add(handler)
  return handler
}

/**
 * The methods that can succeed at a path, in alphabetical order. Where a path is spelled out by a route, only that
 * route counts: `batch` is no id of an event.
 */
function methodsAt(root: Api, path: string): string[] {
  const serving = root.routes.filter((r) => r.method !== 'ALL' && !refusing.has(r.handler))
  const spelled = serving.filter((r) => r.path === path)
  const fitting = spelled.length > 0 ? spelled : serving.filter((r) => patternOf(r.path).test(path))
  return [...new Set(fitting.map((r) => r.method))].sort()
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
