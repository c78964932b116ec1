import { stringify } from 'csv-stringify/sync'
import type { Context, MiddlewareHandler } from 'hono'
import { z } from 'zod'
import {
  type Authenticator,
  isCsrfTokenOf,
  readCredentials,
  type SlidingWindow,
  sessionToken,
} from '../../auth/index.ts'
import type { Permission } from '../../config/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Api, type AppEnv, type Caller, demand, identityOf, noteKnown, validationError } from '../../http/index.ts'
import type { PageSessions } from '../page/sessions.ts'
import type { AskService } from './service.ts'
import type { Sites } from './store.ts'

const requestsAMinute = 300
const refusalsAMinute = 60

/** PostgreSQL compares no text with a zero character. */
const asked = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\0]*$/, 'a zero character is in no code')
const Search = z.strictObject({ code: asked(256).min(1) })
const Recall = z.strictObject({
  gtin: z.string().max(14),
  lot: asked(64).min(1).optional(),
  cursor: asked(256).default(''),
  format: z.enum(['json', 'csv']).default('json'),
})
const Floor = z.strictObject({ at: z.iso.datetime({ offset: true }).optional() })
const Nothing = z.strictObject({})
const Listed = z.strictObject({ format: z.enum(['json', 'csv']).default('json') })
const logId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export type AskRouteParts = {
  readonly asks: AskService
  readonly authenticator: Pick<Authenticator, 'verify'>
  readonly sessions: Pick<PageSessions, 'callerOf'>
  readonly window: SlidingWindow
  /** The sites at which a caller has a permission; null: all. */
  readonly sitesOf: (caller: Caller, permission: Permission) => Sites
}

/** Serves what people ask at the head office, with the sign-in of the gateways' API. */
export function askRoutes(api: Api, parts: AskRouteParts): void {
  const { asks } = parts
  const sitesOf = (c: Context<AppEnv>, permission: Permission = 'whms:read'): Sites =>
    parts.sitesOf(c.get('caller'), permission)
  for (const path of ['search', 'recall', 'sites', 'sites/*', 'alerts', 'alerts/*', 'logs/*'])
    api.use(`/api/hub/${path}`, signIn(parts))
  api.use('/api/metrics', signIn(parts))
  api.get('/api/hub/search', async (c) => {
    const { code } = read(c, Search)
    return c.json({ success: true, ...(await asks.search(code, sitesOf(c), sitesOf(c, 'audit:read'))) })
  })
  api.get('/api/hub/recall', async (c) => {
    const { gtin, lot = null, cursor, format } = read(c, Recall)
    const sites = sitesOf(c)
    const first = await asks.recall({ gtin, lot, after: cursor }, sites)
    if (format === 'json') return c.json({ success: true, ...first })
    return sendRows(c, 'recall', recallColumns, async function* () {
      let { data, nextCursor } = first
      for (;;) {
        yield data.map(recallRow)
        if (nextCursor === null) return
        ;({ data, nextCursor } = await asks.recall({ gtin, lot, after: nextCursor }, sites))
      }
    })
  })
  api.get('/api/hub/sites', async (c) => {
    const { format } = read(c, Listed)
    const data = await asks.sites(sitesOf(c))
    if (format === 'json') return c.json({ success: true, data })
    return sendCsv(c, 'sites', data.map(siteRow), Object.keys(data.map(siteRow)[0] ?? { siteId: '' }))
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
  api.get('/api/hub/logs/:logId/entries/:seq', async (c) => {
    read(c, Nothing)
    const seq = Number(c.req.param('seq'))
    const place = { logId: c.req.param('logId'), seq }
    const allowed = sitesOf(c, 'evidence:read')
    if (allowed?.length === 0) throw new AppError('PERMISSION_DENIED', 'This needs the permission evidence:read')
    if (!logId.test(place.logId) || !Number.isSafeInteger(seq) || seq < 1) throw AppError.notFound('Leaf')
    const bundle = await asks.entry(place, allowed)
    return c.body(`${JSON.stringify(bundle, undefined, 2)}\n`, 200, {
      'Content-Type': 'application/json',
      'Content-Disposition': `attachment; filename="leaf-${seq}.proof.json"`,
    })
  })
  api.post('/api/hub/alerts/:logId/:id/close', async (c) => {
    const asked = { logId: c.req.param('logId'), id: c.req.param('id') }
    if (!logId.test(asked.logId)) throw AppError.notFound('Alert')
    const managed = sitesOf(c, 'alerts:manage')
    // The role of the account may be another one elsewhere, so the sites decide.
    if (managed?.length === 0) throw new AppError('PERMISSION_DENIED', 'This needs the permission alerts:manage')
    await asks.closeAlert(asked, identityOf(c.get('caller')), managed)
    return c.body(null, 204)
  })
}

/** A cell that a spreadsheet would take for a formula gets an apostrophe. */
function sendCsv(c: Context<AppEnv>, name: string, rows: readonly object[], columns: readonly string[]) {
  return c.body(stringify([...rows], { ...csvOptions, header: true, columns: [...columns] }), 200, csvHeaders(name))
}

const csvHeaders = (name: string) => ({
  'Content-Type': 'text/csv; charset=utf-8',
  'Content-Disposition': `attachment; filename="${name}.csv"`,
})

const csvOptions = { record_delimiter: 'windows', escape_formulas: true } as const

/** Sends a list by and by, which may be longer than the memory would like. */
function sendRows(
  c: Context<AppEnv>,
  name: string,
  columns: readonly string[],
  slices: () => AsyncGenerator<readonly object[]>,
) {
  const lines = async function* () {
    yield stringify([], { ...csvOptions, header: true, columns: [...columns] })
    for await (const rows of slices()) yield stringify([...rows], { ...csvOptions, columns: [...columns] })
  }
  return c.body(ReadableStream.from(lines()).pipeThrough(new TextEncoderStream()), 200, csvHeaders(name))
}

const recallColumns = ['siteId', 'asset_barcode', 'slot', 'since', 'state', 'unit']

function recallRow({ unit, ...row }: Awaited<ReturnType<AskService['recall']>>['data'][number]) {
  return { ...row, unit: unit === null ? '' : (unit.reference ?? unit.unitId) }
}

function siteRow({ fleet, config, ...site }: Awaited<ReturnType<AskService['sites']>>[number]) {
  return {
    ...{ siteId: site.siteId, name: site.name, state: site.state, health: site.health, version: site.version },
    ...{
      size: site.size,
      fedAt: site.fedAt,
      lagSeconds: site.lagSeconds,
      leavesBehind: site.leavesBehind,
      openAlerts: site.openAlerts,
    },
    troubles: site.troubles.map(({ message }) => message).join('; '),
    ...{ cameras: fleet?.cameras.configured, withoutPictures: fleet?.cameras.withoutPictures },
    ...{ freeBytes: fleet?.freeBytes, certificateUntil: fleet?.certificateUntil, backupAt: fleet?.backupAt },
    ...{ rehearsedAt: fleet?.rehearsedAt, configHash: fleet?.configHash, configDiffersIn: config.differsIn.join(' ') },
  }
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

function read<S extends z.ZodType>(c: Context<AppEnv>, schema: S): z.output<S> {
  const found = schema.safeParse(c.req.query())
  if (!found.success) throw validationError(found.error.issues, c.req.query())
  return found.data
}
