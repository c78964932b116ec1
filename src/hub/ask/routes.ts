import type { Context, MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { type Authenticator, isCsrfTokenOf, readCredentials, sessionToken } from '../../auth/index.ts'
import type { Permission } from '../../config/index.ts'
import { AppError } from '../../errors/index.ts'
import type { SlidingWindow } from '../../flow/index.ts'
import { type Api, type AppEnv, type Caller, demand, identityOf, noteKnown } from '../../http/index.ts'
import type { PageSessions } from '../page/sessions.ts'
import { sendCsv, sendRows } from './csv.ts'
import { logRoutes } from './log-routes.ts'
import { asked, format, logIdIn, readQuery } from './query.ts'
import {
  alertColumns,
  alertRow,
  behindRow,
  floorColumns,
  floorRow,
  moveColumns,
  moveRow,
  recallColumns,
  recallRow,
  siteColumns,
  siteRow,
} from './rows.ts'
import type { AskService } from './service.ts'
import { isListed, siteKinds } from './site-filter.ts'
import type { Sites } from './store.ts'

/** Permissions that an account may have at some sites and not at others. */
const besidesSeeing = ['audit:read', 'evidence:read', 'alerts:manage'] as const satisfies readonly Permission[]

const requestsAMinute = 300
const refusalsAMinute = 60

const Search = z.strictObject({ code: asked(256).min(1), format })
const Recall = z.strictObject({
  gtin: z.string().max(14).optional(),
  lot: asked(90).min(1).optional(),
  cursor: asked(2048).default(''),
  format,
})
const Floor = z.strictObject({ at: z.iso.datetime({ offset: true }).optional(), format })
const Listed = z.strictObject({
  q: asked(128).default(''),
  show: z.enum(siteKinds).default('all'),
  region: asked(128).default(''),
  format,
})
const Alerts = z.strictObject({ cursor: asked(256).default(''), format })

export type AskRouteParts = {
  readonly asks: AskService
  readonly authenticator: Pick<Authenticator, 'verify'>
  readonly sessions: Pick<PageSessions, 'callerOf' | 'wasRight'>
  readonly window: SlidingWindow
  /** The sites at which a caller has a permission; null: all. */
  readonly sitesOf: (caller: Caller, permission: Permission) => Sites
}

/** Serves what people ask at the head office, with the sign-in of the gateways' API. */
export function askRoutes(api: Api, parts: AskRouteParts): void {
  const { asks } = parts
  const sitesOf = (c: Context<AppEnv>, permission: Permission = 'whms:read'): Sites =>
    parts.sitesOf(c.get('caller'), permission)
  const mayAt = (c: Context<AppEnv>) => {
    const reaches = besidesSeeing.map((permission) => ({ permission, sites: sitesOf(c, permission) }))
    return (siteId: string) =>
      reaches.filter(({ sites }) => sites === null || sites.includes(siteId)).map(({ permission }) => permission)
  }
  for (const path of ['search', 'recall', 'sites', 'sites/*', 'alerts', 'alerts/*', 'logs/*'])
    api.use(`/api/hub/${path}`, signIn(parts))
  api.use('/api/metrics', signIn(parts))
  api.get('/api/hub/search', async (c) => {
    const { code, format } = readQuery(c, Search)
    const found = await asks.search(code, sitesOf(c), sitesOf(c, 'audit:read'))
    if (format === 'json') return c.json({ success: true, ...found })
    const moves = [...found.trail.map(moveRow(false)), ...found.behindFork.map(moveRow(true))]
    return sendCsv(c, `trail-${code}`, moveColumns, moves, (one) => one)
  })
  api.get('/api/hub/recall', async (c) => {
    const { gtin = null, lot = null, cursor, format } = readQuery(c, Recall)
    const sites = sitesOf(c)
    const pageOf = (after: string) => asks.recall({ gtin, lot, cursor: after }, sites)
    const first = await pageOf(cursor)
    if (format === 'json') return c.json({ success: true, ...first })
    return sendRows(c, 'recall', recallColumns, () => recallFile(first, pageOf))
  })
  api.get('/api/hub/sites', async (c) => {
    const { format, ...filter } = readQuery(c, Listed)
    const data = (await asks.sites(sitesOf(c), mayAt(c))).filter(isListed(filter))
    if (format === 'json') return c.json({ success: true, data })
    return sendCsv(c, 'sites', siteColumns, data, siteRow)
  })
  api.get('/api/hub/sites/:siteId/slots', async (c) => {
    const { at, format } = readQuery(c, Floor)
    const siteId = c.req.param('siteId')
    const atMs = at === undefined ? undefined : Date.parse(at)
    const data = await asks.floor(siteId, atMs, sitesOf(c))
    if (format === 'json') return c.json({ success: true, data })
    const time = at === undefined ? '' : `-${at}`
    return sendCsv(c, `floor-${siteId}${time}`, floorColumns, data, floorRow(siteId))
  })
  api.get('/api/hub/alerts', async (c) => {
    const { cursor, format } = readQuery(c, Alerts)
    const sites = sitesOf(c)
    const pageOf = (after: string) => asks.alerts(after, sites)
    const first = await pageOf(cursor)
    if (format === 'json') return c.json({ success: true, ...first })
    return sendRows(c, 'alerts', alertColumns, () => allPages(first, pageOf, alertRow))
  })
  logRoutes(api, { asks, sitesOf })
  api.post('/api/hub/alerts/:logId/:id/close', async (c) => {
    const asked = { logId: logIdIn(c, 'Alert'), id: c.req.param('id') }
    const managed = sitesOf(c, 'alerts:manage')
    // The role of the account may be another one elsewhere, so the sites decide.
    if (managed?.length === 0) throw new AppError('PERMISSION_DENIED', 'This needs the permission alerts:manage')
    await asks.closeAlert(asked, identityOf(c.get('caller')), managed)
    return c.body(null, 204)
  })
}

type RecallPage = Awaited<ReturnType<AskService['recall']>>

/** Gives the sites for which the list may be wrong, then the pallets. */
async function* recallFile(first: RecallPage, pageOf: (cursor: string) => Promise<RecallPage>) {
  yield first.behind.map(behindRow)
  yield* allPages(first, pageOf, recallRow)
}

/** Gives the rows of a list page by page, from the first one on. */
async function* allPages<T>(first: Page<T>, pageOf: (cursor: string) => Promise<Page<T>>, rowOf: (one: T) => object) {
  let { data, nextCursor } = first
  for (;;) {
    yield data.map(rowOf)
    if (nextCursor === null) return
    ;({ data, nextCursor } = await pageOf(nextCursor))
  }
}
type Page<T> = { readonly data: readonly T[]; readonly nextCursor: string | null }

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
    // After too many refusals, a guessed session is not looked up.
    if (token !== undefined && !sessions.wasRight(token)) demandLeft(`refused ${c.get('address')}`)
    const bySession = token === undefined ? undefined : await sessions.callerOf(token, c.get('address'))
    if (bySession && token !== undefined) {
      const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
      if (isRead || isCsrfTokenOf(token, c.req.header('x-csrf-token'))) return bySession
      throw new AppError('PERMISSION_DENIED', 'Send the csrfToken of the session as X-CSRF-Token')
    }
    if (token !== undefined) throw new AppError('SESSION_ENDED', 'The session has ended; sign in again')
    const names = { instance: c.req.header('x-storage-instance'), username: c.req.header('x-storage-username') }
    return (await authenticator.verify(readCredentials({ authorization, ...names }), c.get('address'))).caller
  }
  return async (c, next) => {
    try {
      c.set('caller', await callerOf(c))
    } catch (error) {
      // A database or a storage server that does not answer says nothing about who asks.
      if (error instanceof AppError && error.status < 500) take(`refused ${c.get('address')}`, refusalsAMinute)
      throw error
    }
    noteKnown(c)
    demand(c.get('caller'), 'whms:read')
    take(`user ${identityOf(c.get('caller'))}`, requestsAMinute)
    return next()
  }
}
