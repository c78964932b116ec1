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
import { DavFiles, type DavResponse } from './storage-dav.ts'

/** A user of the server, by its canonical name. */
export type StorageUser = {
  readonly id: string
  groups: string[]
  /** Login password: by Basic only. */
  password?: string
  /** Application passwords: by Basic, and as bearer tokens. */
  appPasswords?: string[]
  /** OAuth access tokens: as bearer tokens only. */
  tokens?: string[]
  disabled?: boolean
  /** By Basic it is taken as a login too, and the answer tells it. */
  email?: string
  /** Further logins by Basic, such as a directory has them. */
  logins?: string[]
}

/**
 * What every request gets instead of its answer. `hang`: nothing, until `release`; what a password is worth is counted
 * at once all the same. `hang-body`: headers, and a body that does not end. `huge`: a body without end, as fast as it is taken.
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
 * `lost answer`: done, and the connection is cut instead of the answer. `cut`: the connection is cut, nothing is done.
 * `hang`: no answer. `stall`: done, the head of the answer and the first half of its body, and no more. `drip`: the same, and
 * then a blank now and then, without end.
 */
export type Fate =
  | 'lost answer'
  | 'cut'
  | 'hang'
  | 'stall'
  | 'drip'
  | { readonly status: number; readonly headers?: Record<string, string> }

export type StorageRequest = {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** How it asked: by the scheme of Authorization. */
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
const failuresAllowed = 10
const dripMs = 2

/**
 * The company's file storage server on loopback, as design notes say that the real one answers: OCS verification of
 * users, its lock-out, its maintenance, and the WebDAV that uploads need. It can be made to misbehave.
 */
export class StorageServer {
  readonly users: StorageUser[]
  /** Everything that came, in the order of arrival. */
  readonly requests: StorageRequest[] = []
  /** The authority to trust, PEM; empty without TLS. */
  readonly caPem: string
  readonly dav = new DavFiles()
  /** What happens to single requests, by method and path below /remote.php/dav; undefined: what should. */
  fate: ((method: string, path: string) => Fate | undefined) | undefined
  readonly #server: Server
  readonly #options: StorageServerOptions
  readonly #sockets = new Set<Socket>()
  readonly #hanging = new Set<() => void>()
  /** Wrong Basic passwords that still count, by login. */
  #failures: { readonly atMs: number; readonly login: string }[] = []
  #misbehaviour: Misbehaviour | undefined
  #port = 0

  private constructor(options: StorageServerOptions, tls: { key: string; cert: string } | undefined) {
    this.#options = options
    this.users = options.users
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

  /** Answers what hangs, as it should have been. */
  release(): void {
    this.#misbehaviour = undefined
    for (const answer of this.#hanging) answer()
    this.#hanging.clear()
  }

  /** Whether Basic is refused for now because too many passwords were wrong. */
  get isLockedOut(): boolean {
    return this.#counted() > failuresAllowed
  }

  /** Requests by this scheme so far. */
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
      const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '')
      const { method = '', headers } = request
      this.requests.push({ method, path, headers, scheme: schemeOf(headers) })
      const answer = () => this.#answer(method, path, headers, Buffer.concat(parts), response)
      if (this.#misbehaviour === 'hang') this.#count(headers)
      if (this.#misbehaviour === undefined) answer()
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
    else if (how === 'untrusted host') html(400, 'Access through untrusted domain')
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
    const [, own] = path.match(/^\/remote\.php\/dav\/(.+?)\/?$/) ?? []
    if (own === undefined) return response.writeHead(404).end()
    const user = this.#userBy(headers)
    if (schemeOf(headers) === 'basic' && this.isLockedOut) return response.writeHead(429).end()
    if (!user) return response.writeHead(401).end()
    if (user.disabled) return response.writeHead(503).end()
    const request = { method, path: own, user: user.id, headers, body }
    const fate = this.fate?.(method, own)
    if (fate === undefined) return this.dav.answer(request, response)
    if (fate === 'lost answer') this.dav.answer(request, { writeHead: () => ({ end: () => {} }) })
    if (fate === 'stall' || fate === 'drip') return this.dav.answer(request, halfOf(response, fate))
    if (typeof fate === 'object') return response.writeHead(fate.status, fate.headers).end()
    if (fate !== 'hang') response.socket?.destroy()
  }

  #counted(): number {
    const nowMs = this.#options.now?.() ?? Date.now()
    this.#failures = this.#failures.filter(({ atMs }) => atMs > nowMs - lockOutMs)
    return this.#failures.length
  }

  /** A wrong Basic password counts, and a right one has those of its login forgotten. */
  #count(headers: IncomingHttpHeaders): void {
    if (schemeOf(headers) !== 'basic' || this.isLockedOut) return
    const login = basicOf(headers).name
    const atMs = this.#options.now?.() ?? Date.now()
    if (!this.#userBy(headers)) this.#failures.push({ atMs, login })
    else this.#failures = this.#failures.filter((failure) => failure.login !== login)
  }

  /** After more than ten wrong ones no one comes in by Basic, right or wrong. */
  #describeUser(headers: IncomingHttpHeaders, response: ServerResponse, isCounted: boolean): unknown {
    const refuse = (status: number, statuscode: number, message: string) =>
      ocs(response, status, { status: 'failure', statuscode, message }, [])
    const scheme = schemeOf(headers)
    if (scheme === 'basic' && headers['ocs-apirequest'] !== 'true') return refuse(412, 412, 'CSRF check failed')
    if (scheme === 'basic' && this.isLockedOut) return refuse(429, 429, 'Too many requests')
    const user = this.#userBy(headers)
    if (!isCounted) this.#count(headers)
    if (!user || user.disabled) return refuse(401, 997, 'Current user is not logged in')
    const { id, groups, email = null } = user
    const data = { id, enabled: true, displayname: id, email, groups }
    ocs(response, 200, { status: 'ok', statuscode: 200, message: 'OK' }, data)
  }

  #userBy(headers: IncomingHttpHeaders): StorageUser | undefined {
    const [, scheme, value = ''] = (headers.authorization ?? '').match(/^(Bearer|Basic) (.+)$/) ?? []
    if (scheme === 'Bearer') {
      return this.users.find((u) => u.tokens?.includes(value) || u.appPasswords?.includes(value))
    }
    const { name, secret } = basicOf(headers)
    return this.users.find(
      (u) =>
        [u.id, u.email, ...(u.logins ?? [])].some((login) => login?.toLowerCase() === name.toLowerCase()) &&
        (u.password === secret || u.appPasswords?.includes(secret) === true),
    )
  }
}

function schemeOf({ authorization = '' }: IncomingHttpHeaders): StorageRequest['scheme'] {
  if (authorization.startsWith('Bearer ')) return 'bearer'
  return authorization.startsWith('Basic ') ? 'basic' : 'none'
}

function basicOf({ authorization = '' }: IncomingHttpHeaders): { name: string; secret: string } {
  const text = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString('utf8')
  const [, name = '', secret = ''] = text.match(/^([^:]*):(.*)$/s) ?? []
  return { name, secret }
}

function ocs(response: ServerResponse, status: number, meta: object, data: object, headers = {}): void {
  response
    .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify({ ocs: { meta, data } }))
}

/** JSON on OCS, XML on WebDAV, HTML elsewhere. */
function inMaintenance(path: string, response: ServerResponse): unknown {
  const headers = { 'X-Nextcloud-Maintenance-Mode': '1', 'Retry-After': '120' }
  if (path.startsWith('/ocs/')) {
    const meta = { status: 'failure', statuscode: 503, message: 'Service unavailable' }
    return ocs(response, 503, meta, [], headers)
  }
  const isDav = path.startsWith('/remote.php/')
  const body = isDav
    ? '<?xml version="1.0"?><d:error xmlns:d="DAV:"><s:message>System in maintenance mode.</s:message></d:error>'
    : '<!DOCTYPE html><p>maintenance</p>'
  response.writeHead(503, { ...headers, 'Content-Type': isDav ? 'application/xml' : 'text/html' }).end(body)
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

/** Never ends by itself: the one who listens has to stop. */
function pourOut(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  const part = Buffer.alloc(64 * 1024, ' ')
  // A turn for each part: in one loop the end of the connection would never be heard.
  const pour = () => {
    if (!response.destroyed && response.write(part)) setImmediate(pour)
  }
  response.on('drain', pour)
  pour()
}
