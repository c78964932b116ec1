import { stringify } from 'csv-stringify/sync'
import type { Context, MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { type Authenticator, readCredentials, type SlidingWindow, sessionToken } from '../../auth/index.ts'
import type { Permission } from '../../config/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Api, type AppEnv, type Caller, demand, identityOf, validationError } from '../../http/index.ts'
import type { PageSessions } from '../page/sessions.ts'
import type { AskService } from './service.ts'
import type { Sites } from './store.ts'

const requestsAMinute = 300
const refusalsAMinute = 60

const code = z.string().min(1).max(256)
const Search = z.strictObject({ code })
const Recall = z.strictObject({
  gtin: z.string().max(14),
  lot: z.string().min(1).max(64).optional(),
  format: z.enum(['json', 'csv']).default('json'),
})
const Floor = z.strictObject({ at: z.iso.datetime({ offset: true }).optional() })
const Nothing = z.strictObject({})

export type AskRouteParts = {
  readonly asks: AskService
  readonly authenticator: Pick<Authenticator, 'verify'>
  readonly sessions: Pick<PageSessions, 'callerOf'>
  readonly window: SlidingWindow
  /** The sites at which an account has a permission; null: all. None for a name that is no account. */
  readonly sitesOf: (username: string, permission: Permission) => Sites
}

/** Serves what people ask at the head office, with the sign-in of the gateways' API. */
export function askRoutes(api: Api, parts: AskRouteParts): void {
  const { asks } = parts
  const sitesOf = (c: Context<AppEnv>, permission: Permission = 'whms:read'): Sites =>
    parts.sitesOf(c.get('caller').username, permission)
  for (const path of ['search', 'recall', 'sites', 'sites/*', 'alerts']) api.use(`/api/hub/${path}`, signIn(parts))
  api.use('/api/metrics', signIn(parts))
  api.get('/api/hub/search', async (c) => {
    const { code: asked } = read(c, Search)
    return c.json({ success: true, ...(await asks.search(asked, sitesOf(c), sitesOf(c, 'audit:read'))) })
  })
  api.get('/api/hub/recall', async (c) => {
    const { gtin, lot = null, format } = read(c, Recall)
    const data = await asks.recall(gtin, lot, sitesOf(c))
    if (format === 'json') return c.json({ success: true, data })
    const columns = ['siteId', 'asset_barcode', 'slot', 'since']
    const csv = stringify(data, { header: true, columns, record_delimiter: 'windows', escape_formulas: true })
    return c.body(csv, 200, {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="recall.csv"',
    })
  })
  api.get('/api/hub/sites', async (c) => {
    read(c, Nothing)
    return c.json({ success: true, data: await asks.sites(sitesOf(c)) })
  })
  api.get('/api/hub/sites/:siteId/slots', async (c) => {
    const { at } = read(c, Floor)
    const atMs = at === undefined ? undefined : Date.parse(at)
    return c.json({ success: true, data: await asks.floor(c.req.param('siteId'), atMs, sitesOf(c)) })
  })
  api.get('/api/hub/alerts', async (c) => {
    read(c, Nothing)
    return c.json({ success: true, data: await asks.alerts(sitesOf(c)) })
  })
}

function signIn({ authenticator, sessions, window }: AskRouteParts): MiddlewareHandler<AppEnv> {
  const take = (key: string, limit: number) => {
    const retryAfterSeconds = window.take(key, limit)
    if (retryAfterSeconds > 0) throw new AppError('RATE_LIMITED', 'Too many requests', { retryAfterSeconds })
  }
  const demandLeft = (key: string) => {
    const { left, seconds: retryAfterSeconds } = window.left(key, refusalsAMinute)
    if (left === 0) throw new AppError('RATE_LIMITED', 'Too many requests', { retryAfterSeconds })
  }
  const callerOf = async (c: Context<AppEnv>): Promise<Caller> => {
    const authorization = c.req.header('authorization')
    const token = authorization === undefined ? sessionToken(c) : undefined
    // What guesses sessions is not looked up.
    if (token !== undefined) demandLeft(`refused ${c.get('address')}`)
    const bySession = token === undefined ? undefined : await sessions.callerOf(token)
    if (bySession) return bySession
    if (token !== undefined) throw new AppError('SESSION_ENDED', 'The session has ended; sign in again')
    const names = { instance: c.req.header('x-storage-instance'), username: c.req.header('x-storage-username') }
    return (await authenticator.verify(readCredentials({ authorization, ...names }), c.get('address'))).caller
  }
  return async (c, next) => {
    try {
      c.set('caller', await callerOf(c))
    } catch (error) {
      take(`refused ${c.get('address')}`, refusalsAMinute)
      throw error
    }
    demand(c.get('caller'), 'whms:read')
    take(`user ${identityOf(c.get('caller'))}`, requestsAMinute)
    return next()
  }
}

function read<S extends z.ZodType>(c: Context<AppEnv>, schema: S): z.output<S> {
  const found = schema.safeParse(c.req.query())
  if (!found.success) throw validationError(found.error.issues, c.req.query())
  return found.data
}
