import type { Context } from 'hono'
import {
  csrfTokenOf,
  giveSessionCookie,
  isCsrfTokenOf,
  longestSessionMs,
  sessionToken,
  takeSessionCookie,
} from '../../auth/index.ts'
import { consoleFiles, NewSession, sendPublic, wantsPage } from '../../console/index.ts'
import { AppError } from '../../errors/index.ts'
import type { SlidingWindow } from '../../flow/index.ts'
import { type Api, type AppEnv, type Caller, readBodyInTime, validationError } from '../../http/index.ts'
import type { PageSessions } from './sessions.ts'

const sessionPath = '/api/session'
const largestSignInBytes = 8 * 1024
const signInsAMinute = 30
const filesAMinute = 6000
/** Each one is looked for in the database. */
const sessionsAMinute = 120
/** The views of the page; each address opens the same file. */
export const views = ['/', '/find', '/recall', '/alerts', '/sites/:siteId', '/logs/:logId']

export type PageRouteParts = {
  readonly sessions: PageSessions
  readonly window: SlidingWindow
  readonly site: { readonly siteId: string; readonly instance: string; readonly storageInstances: readonly string[] }
}

/**
 * The page for an address where nothing is, with status 404: for browsers that show pages. Undefined for everything else. Rejects
 * with RATE_LIMITED.
 */
export function missingOfficePage(c: Context<AppEnv>, window: SlidingWindow): Promise<Response> | undefined {
  return wantsPage(c) ? sendMissing(c, window) : undefined
}

async function sendMissing(c: Context<AppEnv>, window: SlidingWindow): Promise<Response> {
  takeOne(c, window, 'files', filesAMinute)
  const file = (await consoleFiles()).get('hub.html')
  if (!file) throw AppError.notFound('File')
  c.status(404)
  const answer = sendPublic(c, file)
  answer.headers.set('Vary', 'Accept, Accept-Encoding')
  return answer
}

function takeOne(c: Context<AppEnv>, window: SlidingWindow, kind: string, limit: number): void {
  const retryAfterSeconds = window.take(`${kind} ${c.get('address')}`, limit)
  if (retryAfterSeconds > 0) throw new AppError('RATE_LIMITED', 'Too many requests', { retryAfterSeconds })
}

/** Serves the page of the head office, its files, and the sign-in that gives a browser its session. */
export function pageRoutes(api: Api, { sessions, window, site }: PageRouteParts): void {
  const take = (c: Context<AppEnv>, kind: string, limit: number) => takeOne(c, window, kind, limit)
  const serve = async (c: Context<AppEnv>, name: string) => {
    take(c, 'files', filesAMinute)
    const file = (await consoleFiles()).get(name)
    if (!file) throw AppError.notFound('File')
    return sendPublic(c, file)
  }
  for (const path of views) api.get(path, (c) => serve(c, 'hub.html'))
  api.get('/assets/:name', (c) => serve(c, `assets/${c.req.param('name')}`))
  const answer = (caller: Caller | undefined, token: string | undefined) => ({
    success: true,
    ...site,
    providers: [],
    caller: caller && token !== undefined ? personOf(caller) : null,
    csrfToken: caller && token !== undefined ? csrfTokenOf(token) : null,
  })
  api.get(sessionPath, async (c) => {
    take(c, 'files', filesAMinute)
    const token = sessionToken(c)
    if (token !== undefined && !sessions.wasRight(token)) take(c, 'session', sessionsAMinute)
    return c.json(answer(token === undefined ? undefined : await sessions.callerOf(token, c.get('address')), token))
  })
  api.post(sessionPath, async (c) => {
    take(c, 'sign-in', signInsAMinute)
    const { token, caller } = await sessions.begin(await readSignIn(c), c.get('address'))
    const earlier = sessionToken(c)
    if (earlier !== undefined) await sessions.end(earlier)
    giveSessionCookie(c, token, longestSessionMs / 1000)
    return c.json(answer(caller, token), 201, { Location: sessionPath })
  })
  api.delete(sessionPath, async (c) => {
    const token = sessionToken(c)
    if (token !== undefined && !isCsrfTokenOf(token, c.req.header('x-csrf-token'))) {
      throw new AppError('PERMISSION_DENIED', 'Send the csrfToken of the session as X-CSRF-Token')
    }
    if (token !== undefined) {
      take(c, 'session', sessionsAMinute)
      await sessions.end(token)
    }
    takeSessionCookie(c)
    return c.body(null, 204)
  })
}

function personOf({ username, instance, role, permissions }: Caller) {
  return { username, instance, role, permissions: [...permissions] }
}

/** A page of another origin cannot send this type without asking first, which nothing here allows. */
async function readSignIn(c: Context<AppEnv>) {
  if (!/^application\/json\b/.test(c.req.header('content-type') ?? '')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send application/json')
  }
  const bytes = await readBodyInTime(c.req.raw, largestSignInBytes)
  const read = NewSession.safeParse(jsonOf(bytes))
  if (!read.success) throw validationError(read.error.issues, undefined)
  return read.data
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new AppError('MALFORMED_JSON', 'The body is not JSON in UTF-8', { cause })
  }
}
