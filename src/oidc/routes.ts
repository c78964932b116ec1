import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import {
  type Admission,
  giveSessionCookie,
  longestSessionMs,
  type Refusals,
  type Sessions,
  sessionToken,
  takeSessionCookie,
} from '../auth/index.ts'
import { AppError } from '../errors/index.ts'
import { type Api, type AppEnv, acceptsPage, operation, originOf, sendResource } from '../http/index.ts'
import { failureOf, ProviderFailure, refusalOf } from './failures.ts'
import { ProviderAddress, ProviderSignIn, ProviderSignOut, ProviderStepUp } from './schema.ts'
import type { SignIns } from './sign-ins.ts'

const tag = 'Console'
export const providerPath = '/api/session/provider'

/** Says whether a request of this path comes before any sign-in. */
export const isProviderSignIn = (path: string, method: string): boolean =>
  method === 'POST' ? path === providerPath : path.startsWith(`${providerPath}/`) && /^(GET|HEAD)$/.test(method)

const beginning = operation({
  id: 'beginProviderSignIn',
  method: 'post',
  path: providerPath,
  access: 'public',
  tag,
  summary: 'Begin a sign-in at an OpenID provider',
  description:
    'For browsers alone: it gives a cookie for 15 minutes, and the browser opens `location`. The provider sends the browser back to `/api/session/provider/NAME`. Works only at the address of site.url.',
  input: { body: ProviderSignIn },
  success: { 200: { description: 'The address of the provider', schema: ProviderAddress } },
  errors: ['VALIDATION_ERROR', 'PROVIDER_SIGN_IN_FAILED', 'AUTH_BACKEND_UNREACHABLE', 'NOT_READY'],
})

const steppingUp = operation({
  id: 'stepUpAtProvider',
  method: 'post',
  path: `${providerPath}/step-up`,
  access: 'caller',
  tag,
  summary: 'Sign in again at the OpenID provider',
  description:
    'For people of an OpenID provider. The provider asks for the credential anew. For ten minutes the new session may then give secrets and footage away.',
  input: { body: ProviderStepUp },
  success: { 200: { description: 'The address of the provider', schema: ProviderAddress } },
  errors: [
    'VALIDATION_ERROR',
    'INVALID_TRANSITION',
    'PROVIDER_SIGN_IN_FAILED',
    'AUTH_BACKEND_UNREACHABLE',
    'NOT_READY',
  ],
})

const signingOut = operation({
  id: 'signOutAtProvider',
  method: 'post',
  path: `${providerPath}/sign-out`,
  access: 'caller',
  tag,
  summary: 'Sign out here, and get the address that signs out at the OpenID provider',
  description: 'Ends the session of this browser, as DELETE /api/session does.',
  input: { body: z.object({}) },
  success: { 200: { description: 'Signed out here', schema: ProviderSignOut } },
  errors: ['STORAGE_FULL'],
})

export type ProviderParts = {
  readonly providerSignIns: SignIns
  readonly sessions: Pick<Sessions, 'end'>
  readonly admission: Pick<Admission, 'refused'>
  readonly refusals: Pick<Refusals, 'note'>
}

/** Adds the sign-in at OpenID providers. */
export function providerRoutes(api: Api, parts: ProviderParts): void {
  const { providerSignIns, sessions } = parts
  api.openapi(beginning, async (c) => {
    const { issuer, returnTo } = c.req.valid('json')
    const location = await refusing(() =>
      providerSignIns.begin(c, { issuer, returnTo: returnTo ?? '/', earlier: sessionToken(c) }),
    )
    return sendResource(c, { location })
  })
  api.openapi(steppingUp, async (c) => {
    const { returnTo } = c.req.valid('json')
    const location = await refusing(() => providerSignIns.beginAnew(c, returnTo ?? '/', sessionToken(c)))
    return sendResource(c, { location })
  })
  api.openapi(signingOut, async (c) => {
    const token = sessionToken(c)
    const location = token === undefined ? undefined : await sessions.end(token, originOf(c))
    takeSessionCookie(c)
    return sendResource(c, { location: location ?? null })
  })
  // Browsers alone come here, from the provider; programs have no use for a description of it.
  api.get(`${providerPath}/:provider`, (c) => backFromProvider(c, parts))
}

async function backFromProvider(
  c: Context<AppEnv>,
  { providerSignIns, admission, refusals }: ProviderParts,
): Promise<Response> {
  try {
    const done = await providerSignIns.end(c, c.req.param('provider') ?? '')
    if ('token' in done) giveSessionCookie(c, done.token, longestSessionMs / 1000)
    return c.redirect(done.location, 303)
  } catch (error) {
    const failure = error instanceof AppError ? undefined : failureOf(error)
    const refusal = failure ? refusalOf(failure) : error
    if (refusal instanceof AppError && refusal.status === 401) {
      refusals.note(refusal.code, { requestId: c.get('requestId'), address: c.get('address') })
      admission.refused(c.get('address'))
    }
    if (!failure || !acceptsPage(c)) throw refusal
    return c.redirect(`/sign-in?failed=${failure.reason}`, 303)
  }
}

/** Turns failures of the provider into errors of the answer. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ProviderFailure ? refusalOf(error) : error
  }
}
