import type { Context, MiddlewareHandler, Next } from 'hono'
import { AppError } from '../errors/index.ts'
import { type AppEnv, type Caller, connectionOf, identityOf, isOpening, measured, noteKnown } from '../http/index.ts'
import { asAsker, type Clock } from '../platform/index.ts'
import type { Authenticator } from './authenticator.ts'
import { readCredentials } from './credentials.ts'
import type { SecondFactors } from './factors/second-factors.ts'
import type { FirstUses } from './first-uses.ts'
import type { Admission, TellRate, Way } from './rates/admission.ts'
import type { Refusals } from './refusals.ts'
import type { Sessions } from './sessions/sessions.ts'
import { isCsrfTokenOf, sessionToken } from './sessions/token.ts'
import type { Verified } from './verifier.ts'

type Keys = {
  readonly authenticator: Pick<Authenticator, 'verify'>
  readonly sessions: Pick<Sessions, 'callerOf'>
  readonly firstUses: FirstUses
  /** Absent where accounts have no second factor. */
  readonly secondFactors?: Pick<SecondFactors, 'refuseHeaders'>
  readonly refusals: Refusals
  /** Returns the caller of a signed address; undefined when it is not one. */
  readonly signedUrls: { callerOf(method: string, url: string): Caller | undefined }
  readonly site: () => { /** `site.url`. */ readonly instance: string }
}

/** Longest wait for the caller of a public path: a probe soon gives up. */
const publicPatienceMs = 500

type Recognised = { readonly caller: Caller; readonly by: Way }

/**
 * Verifies and counts every request to /api and sets `caller`. It refuses before any route is looked up, so an unknown
 * caller does not learn which paths exist.
 */
export function door(
  options: Keys & {
    admission: Admission
    clock: Pick<Clock, 'after'>
    isPublic: (path: string, method: string) => boolean
    /** Says whether a public path answers more to a caller. */
    isFullerForCallers: (path: string) => boolean
    /** Says whether the path shows live pictures, which have a separate rate bucket. */
    isLive: (path: string) => boolean
    /** Says whether a caller without the second factor that the role demands may use the path, to set one up. */
    isForSettingUp?: (path: string) => boolean
  },
): MiddlewareHandler<AppEnv> {
  const { admission, isPublic, isFullerForCallers, isLive, isForSettingUp } = options
  const admit = ({ caller, by }: Recognised, c: Context<AppEnv>, next: Next) => {
    c.set('caller', caller)
    c.set('callerNow', async () => (await whoAsks(c, options)).caller)
    noteKnown(c)
    if (caller.secondFactor === 'missing' && !isForSettingUp?.(c.req.path)) throw factorMissing()
    admission.caller(caller, by !== 'signed' && isLive(c.req.path) ? 'live' : by, tellRate(c))
    return asAsker(identityOf(caller), () => (by === 'signed' ? signed(c, next) : next()))
  }
  return (c, next) => {
    if (isPublic(c.req.path, c.req.method)) {
      admission.anybody('public', c.get('address'), tellRate(c))
      c.set('spent', admission.stranger(c.get('address')))
      return measured(c, () => (isFullerForCallers(c.req.path) ? knownIfPossible(c, next, options) : next()))
    }
    let known: Recognised | Promise<Recognised>
    try {
      known = whoAsks(c, options)
    } catch (error) {
      return refuse(c, error, options)
    }
    // Most callers are known, and a promise for each request costs more than knowing them.
    if (!(known instanceof Promise)) return admit(known, c, next)
    return known.then(
      (found) => admit(found, c, next),
      (error) => refuse(c, error, options),
    )
  }
}

/**
 * Sets `caller` where the request has a valid credential. The request goes on without a caller where the credential is wrong,
 * cannot be verified now, or takes too long. A probe with a stale credential must not read "down".
 */
async function knownIfPossible(
  c: Context<AppEnv>,
  next: Next,
  options: Keys & { admission: Admission; clock: Pick<Clock, 'after'> },
): Promise<void> {
  if (c.req.header('authorization') === undefined && sessionToken(c) === undefined) return next()
  const late = Promise.withResolvers<undefined>()
  const found = callerOrNone(c, options)
  const cancel = options.clock.after(publicPatienceMs, () => late.resolve(undefined))
  const caller = await Promise.race([found, late.promise])
  cancel()
  if (caller) {
    c.set('caller', caller)
    noteKnown(c)
  }
  return next()
}

/**
 * Verifies the credential. A wrong one counts as on any other path, even after the answer was sent, so a public path cannot be used
 * for guessing.
 */
async function callerOrNone(c: Context<AppEnv>, options: Keys & { admission: Admission }): Promise<Caller | undefined> {
  try {
    return (await whoAsks(c, options)).caller
  } catch (error) {
    try {
      return refuse(c, error, options)
    } catch {
      return undefined
    }
  }
}

const factorMissing = () =>
  new AppError('SECOND_FACTOR_MISSING', 'Your role needs a second factor', {
    details: 'set one up at /people; then everything works again',
  })

/** A browser must not store content that a signed address shows. */
async function signed(c: Context<AppEnv>, next: Next): Promise<void> {
  await next()
  c.header('Cache-Control', 'private, no-store')
}

/** The fields of the IETF's draft "RateLimit header fields for HTTP", in its form of structured fields. */
function tellRate(c: Context<AppEnv>): TellRate {
  return ({ bucket, limit, left, seconds }) => {
    const headers = c.get('otherHeaders')
    headers['ratelimit-policy'] = `"${bucket}";q=${limit};w=60`
    headers['ratelimit'] = `"${bucket}";r=${left};t=${seconds}`
  }
}

/** Counts a refusal and notes it in the audit trail. An unclear answer of the storage server does not count. */
function refuse(
  c: Context<AppEnv>,
  error: unknown,
  { admission, refusals }: { admission: Admission; refusals: Refusals },
): never {
  if (error instanceof AppError && error.status === 401) countRefusal(c, error, { admission, refusals })
  throw error
}

/** Throws RATE_LIMITED for too many from one network. */
function countRefusal(
  c: Context<AppEnv>,
  { code }: AppError,
  { admission, refusals }: { admission: Admission; refusals: Refusals },
): void {
  const from = { requestId: c.get('requestId'), address: c.get('address') }
  if (code !== 'SESSION_ENDED') refusals.note(code, from)
  admission.refused(from.address)
}

/**
 * Finds the caller by the X-Storage headers or, without Authorization, by a signed address or the console's cookie. At once where the
 * credential is known.
 */
function whoAsks(c: Context<AppEnv>, keys: Keys): Recognised | Promise<Recognised> {
  const authorization = c.req.header('authorization')
  if (authorization === undefined) {
    const caller = keys.signedUrls.callerOf(c.req.method, c.req.url)
    if (caller) return { caller, by: 'signed' }
    const token = sessionToken(c)
    if (token !== undefined) {
      demandOwnPage(c, keys.site().instance)
      return bySession(c, token, keys.sessions)
    }
  }
  const names = { instance: c.req.header('x-storage-instance'), username: c.req.header('x-storage-username') }
  const presented = readCredentials({ authorization, ...names }, connectionOf(c))
  const verified = keys.authenticator.verify(presented, c.get('address'))
  if (verified instanceof Promise) return verified.then((found) => byHeaders(c, found, keys))
  return byHeaders(c, verified, keys)
}

function byHeaders(c: Context<AppEnv>, { caller }: Verified, { firstUses, secondFactors }: Keys): Recognised {
  secondFactors?.refuseHeaders(caller)
  firstUses.note({ caller, requestId: c.get('requestId'), address: c.get('address') })
  return { caller, by: 'headers' }
}

/**
 * Throws AUTH_REQUIRED when a page of another origin opens a WebSocket with our cookie. Browsers let every page open one, and may
 * send the cookie from a sibling host too. Programs send no Origin.
 */
function demandOwnPage(c: Context<AppEnv>, siteUrl: string): void {
  const origin = c.req.header('origin')
  if (!isOpening(c) || origin === undefined) return
  const ours = [c.req.header('host')?.toLowerCase(), new URL(siteUrl).host]
  if (URL.canParse(origin) && ours.includes(new URL(origin).host)) return
  throw new AppError('AUTH_REQUIRED', 'The sign-in of the console is for its own pages only')
}

/**
 * Finds the caller by cookie. Browsers send cookies for other sites too, so a change needs the token that only our page
 * has.
 */
async function bySession(c: Context<AppEnv>, token: string, sessions: Keys['sessions']): Promise<Recognised> {
  const caller = await sessions.callerOf(token, { requestId: c.get('requestId'), address: c.get('address') })
  if (!caller) throw new AppError('SESSION_ENDED', 'Sign in again: the session has ended')
  const changesNothing = c.req.method === 'GET' || c.req.method === 'HEAD'
  if (!changesNothing && !isCsrfTokenOf(token, c.req.header('x-csrf-token'))) {
    throw new AppError('CSRF_TOKEN_WRONG', 'With the session cookie this needs the header X-CSRF-Token')
  }
  return { caller, by: 'session' }
}
