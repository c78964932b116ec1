import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { certificate } from './receiver.ts'
import { DavFiles, type DavResponse, davHeader, decoded } from './storage-dav.ts'
import * as faults from './storage-faults.ts'

/** A user of the server, by its canonical name. */
export type StorageUser = {
  readonly id: string
  groups: string[]
  /** Login password: by Basic only. */
  password?: string
  /** Application passwords that were made under the id: by Basic with it, and as bearer tokens. */
  appPasswords?: string[]
  /** App passwords of a user who had signed in by e-mail: valid with the address alone, by Basic. */
  appPasswordsByEmail?: string[]
  /** OAuth access tokens. */
  tokens?: string[]
  disabled?: boolean
  /** The login password is taken with it too, and the answer tells it. */
  email?: string
  /** The login password alone is not enough. */
  hasSecondFactor?: boolean
  /** No one has used the account: its first request for files fails. */
  isUnused?: boolean
  /** Further logins by Basic, such as a directory has them. */
  logins?: string[]
}

/**
 * Answer to every request in place of the usual one.
 *
 * - `hang`: nothing until `release`; the password is still counted at once
 * - `hang-body`: headers, and a body without an end
 * - `huge`: a body without end, as fast as the client takes it
 */
export type Misbehaviour =
  | 'maintenance'
  | 'untrusted host'
  | 'html'
  | 'no json'
  | 'wrong shape'
  | 'redirect'
  | 'reset'
  | 'hang'
  | 'hang-body'
  | 'huge'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }

/**
 * - `lost answer`: done, and the connection is cut instead of the answer
 * - `cut`: the connection is cut, nothing is done
 * - `hang`: no answer
 * - `stall`: done, the head of the answer and the first half of its body, and no more
 * - `drip`: as `stall`, and then a blank now and then, without end
 */
export type Fate =
  | 'lost answer'
  | 'cut'
  | 'hang'
  | 'stall'
  | 'drip'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }

export type StorageRequest = {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** Scheme of its Authorization. */
  readonly scheme: 'bearer' | 'basic' | 'none'
}

export type StorageServerOptions = {
  readonly users: StorageUser[]
  /** With its own certificate (`caPem`); default: plain HTTP. */
  readonly tls?: boolean
  readonly port?: number
  /** For the half hour of the lock-out. */
  readonly now?: () => number
  /** Where `redirect` sends to. */
  readonly redirectTo?: string
}

const lockOutMs = 30 * 60_000
/** How long a server knows a password that another process has deleted. */
const cachedMs = 10_000
const otherKeys =
  'additional_mail additional_mailScope address addressScope avatarScope backend backendCapabilities biography biographyScope bluesky blueskyScope display-name displaynameScope emailScope fediverse fediverseScope firstLoginTimestamp headline headlineScope language lastLogin lastLoginTimestamp locale manager notify_email organisation organisationScope phone phoneScope profile_enabled profile_enabledScope pronouns pronounsScope quota role roleScope subadmin timezone twitter twitterScope website websiteScope'
const failuresAllowed = 10
const dripMs = 2

/**
 * The company's file storage server on loopback, as a real one was recorded (`test/fixtures/storage-server`): verification of users,
 * lock-out, maintenance, and the WebDAV that uploads need. It can be made to misbehave.
 */
export class StorageServer {
  readonly users: StorageUser[]
  /** Everything that came, in the order of arrival. */
  readonly requests: StorageRequest[] = []
  /** The authority to trust, PEM; empty without TLS. */
  readonly caPem: string
  readonly dav = new DavFiles()
  /** Chooses the fate of single requests, by method and path below /remote.php/dav; undefined: the usual answer. */
  fate: ((method: string, path: string) => Fate | undefined) | undefined
  readonly #server: Server
  readonly #options: StorageServerOptions
  readonly #sockets = new Set<Socket>()
  readonly #hanging = new Set<() => void>()
  /** Wrong Basic passwords that still count, by login. */
  #failures: { readonly atMs: number; readonly login: string }[] = []
  /** Deleted secrets in the server's cache. */
  readonly #lingering = new Map<string, { readonly user: StorageUser; readonly untilMs: number }>()
  #misbehaviour: Misbehaviour | undefined
  #port = 0

  private constructor(options: StorageServerOptions, tls: { key: string; cert: string } | undefined) {
    this.#options = options
    this.users = options.users
    this.dav.now = () => this.#nowMs()
    this.dav.accountOf = (name) => this.users.find(({ id, email = '' }) => same(id, name) || same(email, name))?.id
    this.caPem = tls?.cert ?? ''
    const answer = (request: IncomingMessage, response: ServerResponse) => this.#take(request, response)
    this.#server = tls ? (createTlsServer(tls, answer) as unknown as Server) : createServer(answer)
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  static async start(options: StorageServerOptions): Promise<StorageServer> {
    const server = new StorageServer(options, options.tls ? await certificate() : undefined)
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject)
      server.#server.listen(options.port ?? 0, '127.0.0.1', resolve)
    })
    server.#port = (server.#server.address() as AddressInfo).port
    return server
  }

  get url(): string {
    return `${this.caPem ? 'https' : 'http'}://127.0.0.1:${this.#port}`
  }

  get port(): number {
    return this.#port
  }

  /** Changes how the next requests are answered; undefined: as they should be. */
  misbehave(how: Misbehaviour | undefined): void {
    this.#misbehaviour = how
  }

  /** Answers the hanging requests with their usual answers. */
  release(): void {
    this.#misbehaviour = undefined
    for (const answer of this.#hanging) answer()
    this.#hanging.clear()
  }

  /** Whether Basic is refused for now because too many passwords were wrong. */
  get isLockedOut(): boolean {
    return this.#counted() > failuresAllowed
  }

  /** Number of requests, or of those by this scheme. */
  asked(scheme?: StorageRequest['scheme']): number {
    return this.requests.filter((request) => scheme === undefined || request.scheme === scheme).length
  }

  /** Cuts every connection and closes: from then on connections are refused. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = []
    request.on('error', () => response.destroy())
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const raw = (request.url ?? '').split('?')[0] ?? ''
      const path = decoded(raw)
      const { method = '', headers } = request
      this.requests.push({ method, path, headers, scheme: schemeOf(headers) })
      const answer = () => this.#answer(method, path, headers, Buffer.concat(parts), response)
      if (this.#misbehaviour === 'hang') this.#count(headers)
      if (this.#misbehaviour === undefined) ofWebServer(raw, headers, response) || answer()
      else this.#misbehaved(this.#misbehaviour, path, headers, response)
    })
  }

  #misbehaved(how: Misbehaviour, path: string, headers: IncomingHttpHeaders, response: ServerResponse): void {
    const html = (status: number, text: string) =>
      response.writeHead(status, { 'Content-Type': 'text/html; charset=UTF-8' }).end(`<!DOCTYPE html><p>${text}</p>`)
    const json = (value: unknown) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
    if (typeof how === 'object') response.writeHead(how.status, how.headers).end(how.body)
    else if (how === 'maintenance') inMaintenance(path, response)
    else if (how === 'untrusted host') page(response, 400, 'Access through untrusted domain')
    else if (how === 'html') html(200, 'Log in')
    else if (how === 'no json') response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"ocs":{"data"')
    else if (how === 'wrong shape') json({ ocs: { meta: { statuscode: 200 }, data: { id: ['olga'], groups: 'all' } } })
    else if (how === 'redirect') response.writeHead(302, { Location: this.#options.redirectTo ?? '/elsewhere' }).end()
    else if (how === 'reset') response.socket?.destroy()
    else if (how === 'hang')
      this.#hanging.add(() => this.#answer('GET', path, headers, Buffer.alloc(0), response, true))
    else if (how === 'hang-body') response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"ocs":')
    else pourOut(response)
  }

  #answer(
    method: string,
    path: string,
    headers: IncomingHttpHeaders,
    body: Buffer,
    response: ServerResponse,
    isCounted = false,
  ): unknown {
    if (path === '/ocs/v2.php/cloud/user') return this.#describeUser(headers, response, isCounted)
    if (path === '/ocs/v2.php/core/apppassword') return this.#dropPassword(headers, response)
    const [, own] = path.match(/^\/remote\.php\/dav(?:\/(.*?))?\/?$/) ?? []
    if (own === undefined) return elsewhere(method, path, response)
    const user = this.#davUser(headers, response)
    if (!user) return undefined
    if (own.split('/').includes('..'))
      return refuse(response, faults.badPath(`Invalid path "${own.replace(/^files\/[^/]+/, '')}"`))
    const request = { method, path: own.replace(/(\/\.)+$/, ''), user: user.id, headers, body }
    const fate = this.fate?.(method, own)
    if (fate === undefined) return this.dav.answer(request, response)
    if (fate === 'lost answer') this.dav.answer(request, { writeHead: () => ({ end: () => {} }) })
    if (fate === 'stall' || fate === 'drip') return this.dav.answer(request, halfOf(response, fate))
    if (typeof fate === 'object') return response.writeHead(fate.status, fate.headers).end(fate.body)
    if (fate !== 'hang') response.socket?.destroy()
  }

  /** Returns the user of a request for files; undefined once the refusal is sent. */
  #davUser(headers: IncomingHttpHeaders, response: ServerResponse): StorageUser | undefined {
    const scheme = schemeOf(headers)
    if (scheme === 'basic' && this.isLockedOut) return refuse(response, faults.tooMany())
    const user = this.#userBy(headers)
    this.#count(headers)
    if (!user) {
      if (this.#isPasswordAlone(headers)) return refuse(response, faults.passwordLogin())
      return refuse(response, faults.notSignedIn(whyNot[scheme]), {
        'WWW-Authenticate': 'Basic realm="Nextcloud", charset="UTF-8"',
      })
    }
    if (user.disabled) return refuse(response, faults.disabled(scheme === 'basic' ? 'basic' : 'bearer'))
    if (!user.isUnused) return user
    user.isUnused = false
    return refuse(response, faults.firstUse(), { DAV: davHeader, 'X-User-Id': user.id })
  }

  #counted(): number {
    const nowMs = this.#nowMs()
    this.#failures = this.#failures.filter(({ atMs }) => atMs > nowMs - lockOutMs)
    return this.#failures.length
  }

  #nowMs(): number {
    return this.#options.now?.() ?? Date.now()
  }

  /** A wrong Basic password counts, and a right one has those of its login forgotten. */
  #count(headers: IncomingHttpHeaders): void {
    if (schemeOf(headers) !== 'basic' || this.isLockedOut) return
    const login = basicOf(headers).name
    if (this.#userBy(headers)) this.#failures = this.#failures.filter((failure) => failure.login !== login)
    else if (!this.#isPasswordAlone(headers)) this.#failures.push({ atMs: this.#nowMs(), login })
  }

  /** Forgets the wrong passwords, as an administrator can. */
  forgetFailures(): void {
    this.#failures = []
  }

  /** Revokes an application password or a token. With `another process`, the server's cache accepts it for some seconds more. */
  revoke(secret: string, by: 'the server' | 'another process' = 'the server'): void {
    for (const user of this.users) {
      for (const secrets of [user.appPasswords, user.appPasswordsByEmail, user.tokens]) {
        const at = secrets?.indexOf(secret) ?? -1
        if (at < 0) continue
        secrets?.splice(at, 1)
        if (by === 'another process') this.#lingering.set(secret, { user, untilMs: this.#nowMs() + cachedMs })
      }
    }
  }

  /** After more than ten wrong ones no one comes in by Basic, right or wrong. */
  #describeUser(headers: IncomingHttpHeaders, response: ServerResponse, isCounted: boolean): unknown {
    const scheme = schemeOf(headers)
    if (scheme === 'basic' && this.isLockedOut) return ocsRefusal(response, 429, 429, 'Reached maximum delay')
    const user = this.#userBy(headers)
    if (!isCounted) this.#count(headers)
    const isWrongPassword = scheme === 'basic' && !this.#isPasswordAlone(headers)
    if (user?.disabled || (!user && isWrongPassword))
      return ocsRefusal(response, 401, 997, 'Unauthorised', {
        'WWW-Authenticate': 'Basic realm="Authorisation Required"',
      })
    if (!user) return ocsRefusal(response, 401, 997, 'Current user is not logged in')
    if (scheme === 'basic' && headers['ocs-apirequest'] === undefined)
      return json(response, 412, { message: 'CSRF check failed' }, { 'X-User-Id': user.id })
    const { id, groups, email = null } = user
    const others = Object.fromEntries(otherKeys.split(' ').map((key) => [key, '']))
    ocs(response, 200, accepted, { ...others, id, enabled: true, displayname: id, email, groups }, { 'X-User-Id': id })
  }

  /** An application password that gives itself up. */
  #dropPassword(headers: IncomingHttpHeaders, response: ServerResponse): unknown {
    const user = this.#userBy(headers)
    if (!user) return ocsRefusal(response, 401, 997, 'Current user is not logged in')
    this.revoke(basicOf(headers).secret)
    return ocs(response, 200, accepted, [], { 'X-User-Id': user.id })
  }

  /** The right login password of a user who needs a second factor. */
  #isPasswordAlone(headers: IncomingHttpHeaders): boolean {
    const { name, secret } = basicOf(headers)
    return this.users.some((u) => u.hasSecondFactor && same(u.id, name) && u.password === secret)
  }

  #userBy(headers: IncomingHttpHeaders): StorageUser | undefined {
    const [, scheme, value = ''] = (headers.authorization ?? '').match(/^(Bearer|Basic) (.+)$/) ?? []
    if (scheme === 'Bearer') {
      const has = (u: StorageUser) =>
        [u.tokens, u.appPasswords, u.appPasswordsByEmail].some((all) => all?.includes(value))
      return this.users.find(has) ?? this.#cached(value)
    }
    const { name, secret } = basicOf(headers)
    const found = this.users.find(
      (u) =>
        ([u.id, ...(u.logins ?? [])].some((login) => same(login, name)) &&
          ((u.password === secret && !u.hasSecondFactor) ||
            [u.appPasswords, u.tokens].some((all) => all?.includes(secret)))) ||
        (u.email !== undefined &&
          same(u.email, name) &&
          (u.password === secret || u.appPasswordsByEmail?.includes(secret) === true)),
    )
    const cached = found ? undefined : this.#cached(secret)
    return found ?? (cached && same(cached.id, name) ? cached : undefined)
  }

  #cached(secret: string): StorageUser | undefined {
    const { user, untilMs = 0 } = this.#lingering.get(secret) ?? {}
    return untilMs > this.#nowMs() ? user : undefined
  }
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

function schemeOf({ authorization = '' }: IncomingHttpHeaders): StorageRequest['scheme'] {
  if (/^Bearer ./.test(authorization)) return 'bearer'
  return authorization.startsWith('Basic ') && basicOf({ authorization }).name !== '' ? 'basic' : 'none'
}

function basicOf({ authorization = '' }: IncomingHttpHeaders): { name: string; secret: string } {
  const text = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString('utf8')
  const [, name = '', secret = ''] = text.match(/^([^:]*):(.*)$/s) ?? []
  return { name, secret }
}

const whyNot = {
  none: "No 'Authorization: Basic' header found, No 'Authorization: Bearer' header found",
  basic: "Username or password was incorrect, No 'Authorization: Bearer' header found",
  bearer: "No 'Authorization: Basic' header found, Bearer token was incorrect",
}

type Headers = Record<string, string>

/** Sends an error of the files. Returns undefined, so that a caller can end with it. */
function refuse(response: ServerResponse, fault: faults.DavFault, headers: Headers = {}): undefined {
  response.writeHead(fault.status, { 'Content-Type': 'application/xml; charset=utf-8', ...headers }).end(fault.xml)
}

function json(response: ServerResponse, status: number, body: unknown, headers: Headers = {}): void {
  response
    .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body))
}

const accepted = { status: 'ok', statuscode: 200, message: 'OK' }

function ocs(response: ServerResponse, status: number, meta: object, data: object, headers: Headers = {}): void {
  json(response, status, { ocs: { meta, data } }, headers)
}

const ocsRefusal = (response: ServerResponse, status: number, statuscode: number, message: string, headers?: Headers) =>
  ocs(response, status, { status: 'failure', statuscode, message }, [], headers)

/** A page of the server for people. */
const page = (response: ServerResponse, status: number, heading: string, headers: Headers = {}) =>
  response
    .writeHead(status, { 'Content-Type': 'text/html; charset=UTF-8', ...headers })
    .end(`<!DOCTYPE html><title>Nextcloud</title><h2>${heading}</h2>`)

/** An error of the web server in front. */
function webServerPage(response: ServerResponse, title: string): void {
  response
    .writeHead(Number.parseInt(title, 10), { 'Content-Type': 'text/html' })
    .end(`<html><title>${title}</title></html>`)
}

/** Sends the refusals of the web server itself, under any host name. Returns whether it answered. */
function ofWebServer(raw: string, { host = '' }: IncomingHttpHeaders, response: ServerResponse): boolean {
  if (/%00/.test(raw)) webServerPage(response, '400 Bad Request')
  else if (/%0a/i.test(raw)) webServerPage(response, '404 Not Found')
  else if (/\.example(:|$)/.test(host)) page(response, 400, 'Access through untrusted domain')
  else return false
  return true
}

/** Answers paths that are neither files nor users. */
function elsewhere(method: string, path: string, response: ServerResponse): unknown {
  if (path === '/' && !['GET', 'HEAD', 'POST'].includes(method)) return webServerPage(response, '405 Not Allowed')
  return page(response, 404, method === 'GET' ? 'Page not found' : 'Error')
}

/** JSON on OCS, XML on WebDAV, a page elsewhere, which alone says when to come again. */
function inMaintenance(path: string, response: ServerResponse): unknown {
  const mode = { 'X-Nextcloud-Maintenance-Mode': '1' }
  if (path.startsWith('/ocs/')) return ocsRefusal(response, 503, 503, 'Service unavailable', mode)
  if (path.startsWith('/remote.php/')) return refuse(response, faults.inMaintenance())
  return page(response, 503, 'Maintenance mode', { ...mode, 'Retry-After': '120' })
}

/** Sends the head of an answer and the first half of its body. */
function halfOf(response: ServerResponse, then: 'stall' | 'drip'): DavResponse {
  return {
    writeHead: (status, headers = {}) => ({
      end: (body = '') => {
        const whole = Buffer.from(body)
        response.writeHead(status, { ...headers, 'Content-Length': String(Math.max(whole.length, 1) * 1000) })
        response.flushHeaders()
        response.write(whole.subarray(0, whole.length / 2))
        if (then === 'stall') return
        const dripping = setInterval(() => response.write(' '), dripMs)
        response.once('close', () => clearInterval(dripping))
      },
    }),
  }
}

/** Never ends by itself: the client has to stop. */
function pourOut(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  const part = Buffer.alloc(64 * 1024, ' ')
  // Each part takes a turn of the event loop: within one loop, the end of the connection would never arrive.
  const pour = () => {
    if (!response.destroyed && response.write(part)) setImmediate(pour)
  }
  response.on('drain', pour)
  pour()
}
