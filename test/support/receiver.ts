import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { generate } from 'selfsigned'

/** A request as the receiver got it. */
export type Received = {
  readonly method: string
  readonly path: string
  /** The sender's port: the same as long as its connection is. */
  readonly port: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn, as they were on the wire. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** X-Service-Event, X-Service-Delivery; empty when absent. */
  readonly type: string
  readonly deliveryId: string
  /** Whether X-Service-Signature is the HMAC of the body under the receiver's secret. */
  readonly signatureValid: boolean
  /** The body as JSON. */
  readonly event: {
    id: string
    type: string
    timestamp: string
    data: Record<string, unknown>
    metadata: Record<string, unknown>
  }
}

/**
 * Answer to a request. `hang`: no answer until `release`. `hang-body`: status line, headers, and an endless body.
 * `reset`: the connection is cut.
 */
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer }
  | 'hang'
  | 'hang-body'
  | 'reset'

/** Decides on an answer; `nth` counts from 1. */
export type Behaviour = (request: Received, nth: number) => Answer

export type ReceiverOptions = {
  readonly secret: string
  /** Default: 204, and 401 when the signature is wrong. */
  readonly behave?: Behaviour
  /** Name or address in `url`; the certificate is for localhost and 127.0.0.1. */
  readonly host?: string
  readonly port?: number
}

export type Receiver = {
  /** `https://127.0.0.1:PORT/hook` */
  readonly url: string
  /** The authority to trust, PEM. */
  readonly caPem: string
  /** Everything that came, in the order of arrival. */
  readonly received: readonly Received[]
  /** The most requests that were ever open at once. */
  readonly mostAtOnce: number
  /** Changes how the next requests are answered. */
  behave(behaviour: Behaviour): void
  /** Answers each hanging request with the status. */
  release(status?: number, body?: string): void
  /** Returns the first request, past or to come, that fits. Rejects after `timeoutMs` with the requests that came. */
  waitFor(predicate: (request: Received, all: readonly Received[]) => boolean, timeoutMs?: number): Promise<Received>
  /** Cuts every connection and closes. */
  stop(): Promise<void>
}

/** Accepts rightly signed requests and rejects the rest, as the document demands of a receiver. */
export const acceptSigned: Behaviour = (request) => ({ status: request.signatureValid ? 204 : 401 })

/** A real HTTPS endpoint on loopback, with its own certificate, that checks each request. */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { key, cert } = await certificate()
  const state = new ReceiverState(options)
  const server = createServer({ key, cert }, (request, response) => state.take(request, response))
  const sockets = trackSockets(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `https://${options.host ?? '127.0.0.1'}:${port}/hook`,
    caPem: cert,
    received: state.received,
    get mostAtOnce() {
      return state.mostAtOnce
    },
    behave: (behaviour) => state.behave(behaviour),
    release: (status, body) => state.release(status, body),
    waitFor: (predicate, timeoutMs) => state.waitFor(predicate, timeoutMs),
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A self-signed certificate for localhost and 127.0.0.1: it is its own authority. PEM. */
export async function certificate(): Promise<{ key: string; cert: string }> {
  // Its own subject: of several trusted certificates with one subject, OpenSSL finds only the first.
  const made = await generate([{ name: 'commonName', value: `receiver ${randomUUID()}` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + 30 * 24 * 60 * 60 * 1000),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  return { key: made.private, cert: made.cert }
}

class ReceiverState {
  readonly received: Received[] = []
  mostAtOnce = 0
  readonly #secret: string
  #behaviour: Behaviour
  #open = 0
  readonly #hanging = new Set<ServerResponse>()
  readonly #watchers = new Set<() => void>()

  constructor(options: ReceiverOptions) {
    this.#secret = options.secret
    this.#behaviour = options.behave ?? acceptSigned
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    this.#open += 1
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open)
    response.once('close', () => {
      this.#open -= 1
      this.#hanging.delete(response)
    })
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('error', () => response.destroy())
    request.on('end', () => this.#answer(request, response, Buffer.concat(parts)))
  }

  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour
  }

  release(status = 204, body?: string): void {
    for (const response of this.#hanging) {
      if (!response.headersSent) response.writeHead(status)
      response.end(body)
    }
    this.#hanging.clear()
  }

  waitFor(predicate: (request: Received, all: readonly Received[]) => boolean, timeoutMs = 20_000): Promise<Received> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.received.find((request) => predicate(request, this.received))
        if (!found) return
        this.#watchers.delete(look)
        clearTimeout(timer)
        resolve(found)
      }
      const timer = setTimeout(() => {
        this.#watchers.delete(look)
        const came = this.received.map((r) => `${r.type} ${r.deliveryId}`).join(', ')
        reject(new Error(`no such request in ${timeoutMs} ms; came: ${came || 'nothing'}`))
      }, timeoutMs)
      this.#watchers.add(look)
      look()
    })
  }

  #answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const received = describe(request, body, this.#secret)
    this.received.push(received)
    const answer = this.#behaviour(received, this.received.length)
    if (answer === 'reset') request.socket.destroy()
    else if (answer === 'hang') this.#hanging.add(response)
    else if (answer === 'hang-body') this.#hangInBody(response)
    else response.writeHead(answer.status, answer.headers).end(answer.body)
    for (const look of this.#watchers) look()
  }

  #hangInBody(response: ServerResponse): void {
    this.#hanging.add(response)
    response.writeHead(200).write('…')
  }
}

function describe(request: IncomingMessage, body: Buffer, secret: string): Received {
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    port: request.socket.remotePort ?? 0,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    body,
    type: String(request.headers['x-service-event'] ?? ''),
    deliveryId: String(request.headers['x-service-delivery'] ?? ''),
    signatureValid: isSignedBy(secret, body, String(request.headers['x-service-signature'] ?? '')),
    event: parse(body),
  }
}

/** The check that the document asks of a receiver, in constant time. */
function isSignedBy(secret: string, body: Buffer, signature: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function parse(body: Buffer): Received['event'] {
  try {
    return JSON.parse(body.toString('utf8')) as Received['event']
  } catch {
    return { id: '', type: '', timestamp: '', data: {}, metadata: {} }
  }
}

function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}
