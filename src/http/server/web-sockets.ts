import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { AppError } from '../../errors/index.ts'
import { errorBody } from '../answers/envelope.ts'
import type { Opening, OutSocket } from './out-socket.ts'

export type SocketLimits = {
  /** Between two pings. A client that did not answer the last one is gone. */
  readonly pingMs: number
  /** Time for a client to answer the end of its connection. */
  readonly closeMs: number
}

export const socketLimits: SocketLimits = { pingMs: 20_000, closeMs: 2000 }

/** Clients send nothing but pongs and the end of the connection. */
const mostBytesFromClients = 1024
/** RFC 6455: a control frame has at most 125 bytes, two of which are the code. */
const mostReasonBytes = 123
/** Added to the HTTP status of a refusal: a browser can read the code of a socket that was open, and nothing else. */
const refusalCodes = 4000
const goingAway = 1001

type Fetch = (request: Request, env: object) => Response | Promise<Response>

/** Says whether a request is a handshake. Anything else with an Upgrade header is served as a usual request. */
export const isHandshake = (request: IncomingMessage): boolean =>
  request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket'

/**
 * The WebSockets of a listener. A handshake passes through the same checks as every request: host, caller, rate,
 * permission, parameters. A refusal is sent after the handshake, as close code 4000 + HTTP status, with its message as
 * the reason.
 */
export class WebSockets {
  readonly #fetch: Fetch
  readonly #limits: SocketLimits
  readonly #server: WebSocketServer
  /** Whether each open socket has answered the last ping. */
  readonly #alive = new Map<WebSocket, boolean>()
  readonly #pings: NodeJS.Timeout

  constructor(fetch: Fetch, limits: SocketLimits = socketLimits) {
    this.#fetch = fetch
    this.#limits = limits
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Video is compressed already.
      perMessageDeflate: false,
      maxPayload: mostBytesFromClients,
    })
    this.#server.on('wsClientError', (error, socket) => refuseHandshake(socket, error.message))
    this.#pings = setInterval(() => this.#ping(), limits.pingMs).unref()
  }

  /** Answers a handshake. Never rejects. */
  async open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const asked = requestOf(request)
    if (!asked) {
      refuseHandshake(socket, 'The address or the Host header is malformed')
      return
    }
    const opening: Opening = {}
    const refusal = await this.#ask(asked, { incoming: request, opening })
    this.#server.handleUpgrade(request, socket, head, (accepted) => {
      this.#keep(accepted)
      const { take } = opening
      if (refusal) accepted.close(refusal.code, refusal.reason)
      else take?.(outSocketOf(accepted))
    })
  }

  /** Says goodbye to every client, and ends the connections of those that do not answer. */
  async stop(): Promise<void> {
    clearInterval(this.#pings)
    const open = [...this.#alive.keys()]
    const closed = open.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())))
    for (const socket of open) socket.close(goingAway, 'The gateway stops')
    const giveUp = setTimeout(() => open.forEach((socket) => void socket.terminate()), this.#limits.closeMs)
    await Promise.all(closed)
    clearTimeout(giveUp)
  }

  /** Passes the handshake through the API. Returns why it is refused; undefined when an operation takes the socket. */
  async #ask(
    asked: Request,
    env: { readonly incoming: IncomingMessage; readonly opening: Opening },
  ): Promise<{ code: number; reason: string } | undefined> {
    try {
      const answer = await this.#fetch(asked, env)
      if (answer.status < 400 && env.opening.take) return undefined
      if (answer.status < 400) {
        await answer.body?.cancel()
        return { code: refusalCodes + 400, reason: 'There is no WebSocket at this address' }
      }
      return { code: refusalCodes + answer.status, reason: cut(await reasonOf(answer)) }
    } catch {
      return { code: refusalCodes + 500, reason: 'Something went wrong inside the gateway' }
    }
  }

  #keep(socket: WebSocket): void {
    this.#alive.set(socket, true)
    socket.on('pong', () => this.#alive.set(socket, true))
    // The library closes the connection after an error, such as a message that is too large.
    socket.on('error', () => {})
    socket.once('close', () => this.#alive.delete(socket))
  }

  #ping(): void {
    for (const [socket, answered] of this.#alive) {
      if (!answered) {
        socket.terminate()
        continue
      }
      this.#alive.set(socket, false)
      socket.ping()
    }
  }
}

function outSocketOf(socket: WebSocket): OutSocket {
  return {
    get bufferedBytes() {
      return socket.bufferedAmount
    },
    // A failure to send ends the connection, which `onClose` reports.
    send: (bytes) => socket.send(bytes, { binary: true }, () => {}),
    close: (code, reason) => socket.close(code, cut(reason)),
    onClose: (listener) => {
      if (socket.readyState === socket.CLOSED) queueMicrotask(listener)
      else socket.once('close', listener)
    },
  }
}

/** Returns the request as the API takes it; undefined when its address or its Host header cannot be read. */
function requestOf({ headers, rawHeaders, socket, url = '/' }: IncomingMessage): Request | undefined {
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
  if (names.filter((name) => name === 'host').length !== 1 || !url.startsWith('/')) return undefined
  const scheme = 'encrypted' in socket ? 'https' : 'http'
  try {
    const given = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')] as [string, string])
    return new Request(`${scheme}://${headers.host}${url}`, { headers: given })
  } catch {
    return undefined
  }
}

async function reasonOf(answer: Response): Promise<string> {
  const body = (await answer.json().catch(() => ({}))) as { error?: { message?: string } }
  return body.error?.message ?? `The gateway answered with status ${answer.status}`
}

/** Cuts a text to the size of a close frame, between two characters. */
function cut(reason: string): string {
  let kept = reason
  while (Buffer.byteLength(kept) > mostReasonBytes) kept = [...kept].slice(0, -1).join('')
  return kept
}

let refused = 0

/** Answers a handshake that is none with the documented body. */
function refuseHandshake(socket: Duplex, message: string): void {
  refused += 1
  const body = JSON.stringify(errorBody(new AppError('VALIDATION_ERROR', message), `handshake-${refused}`))
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`
  socket.end(`HTTP/1.1 400 Bad Request\r\n${type}\r\nConnection: close\r\n\r\n${body}`)
}
