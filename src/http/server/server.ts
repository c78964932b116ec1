import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { AppError, ExitError } from '../../errors/index.ts'
import { Answer } from '../answers/answer.ts'
import { errorBody } from '../answers/envelope.ts'
import type { Api } from '../app.ts'
import { readCertificate, type TlsFiles } from './certificate.ts'
import { type ConnectionLimits, Connections } from './connections.ts'
import { probePaths } from './probes.ts'
import { isHandshake, type SocketLimits, socketLimits, WebSockets } from './web-sockets.ts'

export type ListenOptions = {
  readonly host: string
  readonly port: number
  readonly tls?: TlsFiles | null
}

/** Bounds of one client, in milliseconds and connections. */
export type WireLimits = ConnectionLimits &
  SocketLimits & {
    /** From the start of a request to the end of its headers. */
    readonly headersMs: number
    /** To the end of its body: a photo over bad Wi-Fi. */
    readonly requestMs: number
    /** Without a byte in either direction while a request is under way: a client that is gone, or takes no answer. */
    readonly stalledMs: number
    readonly keepAliveMs: number
    readonly handshakeMs: number
  }

export const wireLimits: WireLimits = {
  ...socketLimits,
  headersMs: 20_000,
  requestMs: 120_000,
  stalledMs: 60_000,
  keepAliveMs: 65_000,
  handshakeMs: 10_000,
  most: 2000,
  mostTogether: 200,
}

const drainMs = 10_000

/** Forward secrecy and authenticated encryption only. */
const modernTls = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_AES_128_GCM_SHA256',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
} as const

/** One listening socket. `stop` takes no new connection, ends streams of events, lets other answers finish, then closes what is left. */
export class HttpListener {
  readonly #server: Server
  readonly #options: ListenOptions
  readonly #connections: Connections
  readonly #sockets: WebSockets
  readonly #answers = new Set<Answer>()

  /** Throws ExitError when the certificate cannot be used. */
  constructor(options: ListenOptions, api: Pick<Api, 'fetch'>, limits: WireLimits = wireLimits) {
    this.#options = options
    this.#connections = new Connections(limits)
    this.#sockets = new WebSockets(api.fetch, limits)
    const answer = getRequestListener(api.fetch as Parameters<typeof getRequestListener>[0], {
      // Hono's own Response in place of the global one: it goes out without web streams.
      overrideGlobalObjects: true,
      errorHandler: () => unreadable('The address or the Host header is malformed'),
    })
    const listener = (request: IncomingMessage, response: Answer) => {
      // Behind a body that was refused: the client knows that this connection ends.
      if (request.socket.writableEnded) return void request.socket.destroy()
      this.#answers.add(response)
      response.once('close', () => this.#answers.delete(response))
      const hosts = hostsOf(request)
      // A probe may send any Host or, with HTTP/1.0, none.
      if (hosts <= 1 && isProbe(request.url)) request.headers.host = 'localhost'
      else if (hosts !== 1) return answerNow(response, 'Send exactly one Host header')
      return answer(request, response)
    }
    const settings = {
      ServerResponse: Answer,
      // Without Host, Node would answer by itself and without a body.
      requireHostHeader: false,
      requestTimeout: limits.requestMs,
      headersTimeout: limits.headersMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: Math.min(5000, limits.headersMs),
      maxHeaderSize: 16_384,
      // Every other Upgrade header is ignored, as HTTP allows.
      shouldUpgradeCallback: isHandshake,
    }
    const tls = { ...modernTls, handshakeTimeout: limits.handshakeMs, ALPNProtocols: ['http/1.1'] }
    this.#server = options.tls
      ? // An HTTPS server is used as an HTTP server: it has all that is called here.
        (createTlsServer({ ...settings, ...tls, ...contextOf(options.tls) }, listener) as unknown as Server)
      : createServer(settings, listener)
    this.#server.maxHeadersCount = 100
    this.#server.setTimeout(limits.stalledMs)
    this.#server.on('connection', (socket) => this.#connections.opened(socket))
    if (options.tls) this.#server.on('secureConnection', (socket: Socket) => this.#connections.opened(socket))
    this.#server.prependListener('request', (request, response) => this.#connections.busy(request, response))
    this.#server.on('upgrade', (request: IncomingMessage, socket, head) => {
      this.#connections.busy(request, socket)
      void this.#sockets.open(request, socket, head)
    })
    this.#server.on('clientError', answerBrokenRequest)
    this.#server.on('checkExpectation', (_request, response) =>
      answerNow(response, 'Send no Expect header but 100-continue'),
    )
  }

  get connections(): number {
    return this.#connections.size
  }

  /** Resolves with the bound port. Throws ExitError when the address is taken or not ours. */
  start(): Promise<number> {
    const { host, port } = this.#options
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        const why = error.code === 'EADDRINUSE' ? 'another program uses that port' : error.message
        reject(new ExitError(1, `cannot listen on ${host}:${port}: ${why}`, error))
      })
      this.#server.listen({ host, port }, () => resolve((this.#server.address() as AddressInfo).port))
    })
  }

  /** Reads the certificate anew; connections that are open keep theirs. Throws ExitError, and then the old one stays. */
  renewCertificate(): void {
    if (this.#options.tls)
      // With `tls` in the options it was made as one.
      (this.#server as unknown as TlsServer).setSecureContext({ ...modernTls, ...contextOf(this.#options.tls) })
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#connections.closeIdle()
    // Browsers open a stream of events again by themselves.
    for (const answer of this.#answers) if (answer.isEndless) answer.destroy()
    await this.#sockets.stop()
    const giveUp = setTimeout(() => this.#connections.closeAll(), drainMs)
    await closed
    clearTimeout(giveUp)
  }
}

/** Returns the number of Host headers. Two would mean one thing to a proxy and another to us. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    // Nearly every other name differs in its length.
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}

/** Whether the target of a request is health or ping; it may be a whole address, as proxies send it. */
function isProbe(target = ''): boolean {
  const [, path = ''] = target.match(/^(?:https?:\/\/[^/?#]*)?([^?#]*)/i) ?? []
  return probePaths.has(path)
}

function contextOf(tls: TlsFiles): { cert: Buffer; key: Buffer } {
  const { cert, key } = readCertificate(tls)
  return { cert, key }
}

const brokenness: Readonly<Record<string, { status: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: '400 Bad Request', message: 'The headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request took too long to arrive' },
}

let unread = 0

/** The documented body for a request that never became one. There is nothing in the log under its id. */
function refusalOf(message: string, details = ''): string {
  unread += 1
  return JSON.stringify(errorBody(new AppError('VALIDATION_ERROR', message, { details }), `unread-${unread}`))
}

function unreadable(message: string): Response {
  return new Response(refusalOf(message), { status: 400, headers: { 'Content-Type': 'application/json' } })
}

function answerNow(response: ServerResponse, message: string): void {
  const body = refusalOf(message)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
  response.writeHead(400, headers).end(body)
}

/** Answers bytes that are not HTTP with the envelope, too. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const { status, message } = brokenness[error.code ?? ''] ?? {
    status: '400 Bad Request',
    message: 'This is not an HTTP request',
  }
  const body = refusalOf(message, error.code)
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
