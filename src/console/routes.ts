import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import {
  type Admission,
  csrfTokenOf,
  giveSessionCookie,
  longestSessionMs,
  type SecondFactors,
  type Sessions,
  sessionToken,
  takeSessionCookie,
} from '../auth/index.ts'
import { AppError } from '../errors/index.ts'
import {
  type Api,
  type AppEnv,
  acceptsPage,
  type Caller,
  hashPath,
  operation,
  originOf,
  sendFile,
  sendResource,
} from '../http/index.ts'
import { consoleFiles } from './files.ts'
import type { DetectionModels } from './object-detection.ts'
import { NewSession, ObjectDetection, PasskeyChallenge, PasskeySignIn, Session, ShownFactor } from './schema.ts'
import { sendPublic } from './sending.ts'

export const sessionPath = '/api/session'
export const challengePath = `${sessionPath}/challenge`
export const passkeyPath = `${sessionPath}/passkey`
const tag = 'Console'

const describing = operation({
  id: 'getSession',
  method: 'get',
  path: sessionPath,
  access: 'public',
  tag,
  summary: 'The caller of the session cookie, and the gateway',
  description: 'Needs no sign-in. Without a session `caller` is null.',
  input: {},
  success: { 200: { description: 'The session; `caller` is null without one', schema: Session } },
  errors: ['AUTH_BACKEND_UNREACHABLE', 'SIGN_IN_TRIES_SPENT'],
})

const signingIn = operation({
  id: 'signIn',
  method: 'post',
  path: sessionPath,
  access: 'public',
  tag,
  summary: 'Exchange a credential for the session cookie of the console',
  description:
    'The cookie is HttpOnly and SameSite=Strict, and Secure over TLS. It is valid for 12 hours from its last use, ' +
    '30 days at most, and ends with the account or its secret. A storage server that vouched for the caller is asked again as for a request with headers. Requests that change something need the csrfToken of the answer as X-CSRF-Token.',
  input: { body: NewSession },
  success: { 201: { description: 'Signed in', schema: Session, location: true } },
  errors: [
    'INVALID_CREDENTIALS',
    'SECOND_FACTOR_REQUIRED',
    'SECOND_FACTOR_WRONG',
    'USER_MISMATCH',
    'STORAGE_INSTANCE_NOT_ALLOWED',
    'AUTH_BACKEND_UNREACHABLE',
    'SIGN_IN_TRIES_SPENT',
  ],
})

const signingOut = operation({
  id: 'signOut',
  method: 'delete',
  path: sessionPath,
  access: 'caller',
  tag,
  summary: 'Sign out',
  description: 'Ends the session of this browser; other sessions of the user continue.',
  input: {},
  success: { 204: { description: 'Signed out; the cookie is invalid' } },
  errors: ['STORAGE_FULL'],
})

const challenging = operation({
  id: 'beginPasskeySignIn',
  method: 'post',
  path: challengePath,
  access: 'public',
  tag,
  summary: 'The options with which a browser asks for a passkey',
  description: 'They name no account. Valid for five minutes, once.',
  input: {},
  success: { 200: { description: 'The options', schema: PasskeyChallenge } },
})

const signingInByPasskey = operation({
  id: 'signInByPasskey',
  method: 'post',
  path: passkeyPath,
  access: 'public',
  tag,
  summary: 'Sign in by a passkey alone',
  description:
    'For accounts whose admin allows it (passkeyAlone). Other accounts send the passkey beside the password.',
  input: { body: PasskeySignIn },
  success: { 201: { description: 'Signed in', schema: Session, location: true } },
  errors: ['SECOND_FACTOR_WRONG'],
})

const steppingUp = operation({
  id: 'stepUp',
  method: 'post',
  path: `${sessionPath}/step-up`,
  access: 'caller',
  tag,
  summary: 'Show the second factor again',
  description:
    'For ten minutes the session may then give secrets and footage away: operations that answer STEP_UP_REQUIRED.',
  input: { body: ShownFactor },
  success: { 200: { description: 'The session', schema: Session } },
  errors: ['SECOND_FACTOR_WRONG'],
})

const describingDetection = operation({
  id: 'getObjectDetection',
  method: 'get',
  path: '/api/console/object-detection',
  access: 'cameras:read',
  tag,
  summary: 'Settings of the object detection that runs in browsers',
  description:
    'The console finds objects in live pictures by itself, in the browser: no picture comes back to the gateway, and nothing of it is recorded. `model` is a file that the admin put on the box.',
  input: {},
  success: { 200: { description: 'The settings', schema: ObjectDetection } },
})

const givingModel = operation({
  id: 'getObjectDetectionModel',
  method: 'get',
  path: '/api/console/object-detection/models/{sha256}',
  access: 'cameras:read',
  tag,
  summary: 'The model of the object detection, an ONNX file',
  description: 'Supports Range and If-None-Match. 404 when the box has another model by now.',
  input: { params: z.object(hashPath) },
  success: {
    200: {
      description: 'The bytes',
      schema: z.string().openapi({ format: 'binary' }),
      mediaType: 'application/octet-stream',
      ranges: true,
    },
  },
})

export type ConsoleParts = {
  readonly sessions: Sessions
  readonly admission: Admission
  readonly site: () => Site
  readonly detectionModels: DetectionModels
  readonly secondFactors: SecondFactors
  readonly accounts: {
    /** Says whether a passkey alone signs the account in. */
    mayUsePasskeyAlone(username: string): boolean
  }
}

type PageParts = Pick<ConsoleParts, 'admission'>

type Site = {
  readonly siteId: string
  readonly instance: string
  readonly storageInstances: readonly string[]
  readonly providers: readonly string[]
}

/** Adds /api/session, the page at / and its files under /assets. */
export function consoleRoutes(api: Api, parts: ConsoleParts): void {
  addSession(api, parts)
  addDetection(api, parts.detectionModels)
  addPage(api, parts)
}

function addSession(api: Api, { sessions, site, secondFactors, accounts }: ConsoleParts): void {
  api.openapi(describing, async (c) => {
    const token = sessionToken(c)
    const from = { requestId: c.get('requestId'), address: c.get('address') }
    const caller = token === undefined ? undefined : await sessions.callerOf(token, from)
    return c.json(sessionOf(site(), caller, token), 200)
  })
  api.openapi(signingIn, async (c) => {
    const from = { requestId: c.get('requestId'), address: c.get('address') }
    const { token, caller } = await sessions.begin(c.req.valid('json'), sessionToken(c), from)
    giveSessionCookie(c, token, longestSessionMs / 1000)
    c.header('Location', sessionPath)
    return c.json(sessionOf(site(), caller, token), 201)
  })
  api.openapi(challenging, async (c) => {
    const options = await secondFactors.passkeys.request()
    return c.json({ success: true as const, options: { ...options } }, 200)
  })
  api.openapi(signingInByPasskey, async (c) => {
    const from = { requestId: c.get('requestId'), address: c.get('address') }
    const mayBeAlone = (username: string) => accounts.mayUsePasskeyAlone(username)
    const begun = await sessions.beginByPasskey(c.req.valid('json').passkey, mayBeAlone, sessionToken(c), from)
    giveSessionCookie(c, begun.token, longestSessionMs / 1000)
    c.header('Location', sessionPath)
    return c.json(sessionOf(site(), begun.caller, begun.token), 201)
  })
  api.openapi(steppingUp, async (c) => {
    const { secondFactor: _, ...caller } = c.get('caller')
    const token = sessionToken(c)
    if (token !== undefined) {
      await sessions.steppedUp(token, await secondFactors.show(caller, c.req.valid('json')))
    }
    return c.json(sessionOf(site(), caller, token), 200)
  })
  api.openapi(signingOut, async (c) => {
    const token = sessionToken(c)
    if (token !== undefined) await sessions.end(token, originOf(c))
    takeSessionCookie(c)
    return c.body(null, 204)
  })
}

function addDetection(api: Api, models: DetectionModels): void {
  api.openapi(describingDetection, async (c) => sendResource(c, await models.describe()))
  api.openapi(givingModel, async (c) => sendFile(c, await models.file(c.req.valid('param').sha256)))
}

function sessionOf(
  { siteId, instance: local, storageInstances, providers }: Site,
  caller: Caller | undefined,
  token: string | undefined,
): Session {
  const site = { siteId, instance: local, storageInstances: [...storageInstances], providers: [...providers] }
  if (!caller || token === undefined) return { success: true, ...site, caller: null, csrfToken: null }
  const { username, instance, role, permissions, withheld, secondFactor } = caller
  return {
    success: true,
    ...site,
    caller: {
      ...{ username, instance, role, permissions: [...permissions] },
      ...(withheld !== undefined && { withheld }),
      ...(secondFactor !== undefined && { secondFactor }),
    },
    csrfToken: csrfTokenOf(token),
  }
}

/** The addresses that the page shows a view for; `page/views.ts` says which. */
const viewPaths = [
  ...['/', '/find', '/find/:code', '/todo', '/verify', '/cameras', '/cameras/:id', '/receipt/:unit'],
  ...['/units', '/units/:id', '/incidents', '/incidents/:id', '/reports', '/reports/:id', '/plan'],
  ...['/alerts', '/system', '/devices', '/people', '/webhooks', '/webhooks/:id', '/uploads', '/audit'],
  ...['/counts', '/counts/:id', '/labels', '/wall', '/sign-in', '/pair/:code'],
]

/**
 * The page for an address where nothing is, with status 404: for browsers that show pages. Undefined for everything else, and
 * below /api. Rejects with RATE_LIMITED.
 */
export function missingPage(c: Context<AppEnv>, parts: PageParts): Promise<Response> | undefined {
  return wantsPage(c) ? sendMissing(c, parts) : undefined
}

/** Says whether a browser asks for a page, at an address that is neither of the API nor a file of the page. */
export function wantsPage(c: Context<AppEnv>): boolean {
  const { method, path } = c.req
  if ((method !== 'GET' && method !== 'HEAD') || /^\/(api|assets)(\/|$)/.test(path)) return false
  return acceptsPage(c)
}

async function sendMissing(c: Context<AppEnv>, { admission }: PageParts): Promise<Response> {
  admission.anybody('console', c.get('address'))
  const file = (await consoleFiles()).get('index.html')
  if (!file) throw AppError.notFound('File')
  c.status(404)
  const answer = sendPublic(c, file, 'own-workers')
  answer.headers.set('Vary', 'Accept, Accept-Encoding')
  return answer
}

function addPage(api: Api, { admission }: PageParts): void {
  const serve = async (c: Context<AppEnv>, name: string, trustedTypes?: string) => {
    admission.anybody('console', c.get('address'))
    const file = (await consoleFiles()).get(name)
    if (!file) throw AppError.notFound('File')
    return sendPublic(c, file, trustedTypes)
  }
  // The policy makes the addresses of the page's own workers, and no other.
  for (const path of viewPaths) api.get(path, (c) => serve(c, 'index.html', 'own-workers'))
  // The one policy makes the address of the service worker, and no other.
  for (const path of ['/scan', '/training']) api.get(path, (c) => serve(c, 'scan.html', 'scan-worker own-workers'))
  for (const name of ['scan-worker.js', 'alert-worker.js']) api.get(`/${name}`, (c) => serve(c, name))
  api.get('/assets/:name', (c) => serve(c, `assets/${c.req.param('name')}`))
}
