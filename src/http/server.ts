import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { ExitError } from '../errors/index.ts'
import type { Api } from './app.ts'

export type ListenOptions = {
  readonly host: string
  readonly port: number
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | null
}

const drainMs = 10_000

/** One listening socket. `stop` takes no new connection, lets answers under way finish, then closes what is left. */
export class HttpListener {
  readonly #server: Server
  readonly #options: ListenOptions
  readonly #sockets = new Set<Socket>()
  /** Connections without a request under way, also those that browsers open in advance, which Node takes for busy. */
  readonly #idle = new Set<Socket>()

  constructor(options: ListenOptions, api: Api) {
    this.#options = options
    const listener = getRequestListener(api.fetch as Parameters<typeof getRequestListener>[0], {
      overrideGlobalObjects: false,
    })
    const limits = { requestTimeout: 120_000, headersTimeout: 20_000, keepAliveTimeout: 65_000, maxHeaderSize: 16_384 }
    this.#server = options.tls
      ? (createTlsServer({ ...limits, ...tlsFiles(options.tls), minVersion: 'TLSv1.2' }, listener) as unknown as Server)
      : createServer(limits, listener)
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.#server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#idle.add(socket)
      socket.once('close', () => this.#idle.delete(socket))
    })
    this.#server.on('request', ({ socket }, response) => {
      this.#idle.delete(socket)
      response.once('close', () => !socket.destroyed && this.#idle.add(socket))
    })
    this.#server.on('clientError', answerBrokenRequest)
  }

  /** Resolves with the bound port. Throws ExitError when the address is taken or not ours. */
  start(): Promise<number> {
    const { host, port } = this.#options
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        const why = error.code === 'EADDRINUSE' ? 'another program uses that port' : error.message
        reject(new ExitError(1, `can't listen on ${host}:${port}: ${why}`, error))
      })
      this.#server.listen({ host, port }, () => resolve((this.#server.address() as AddressInfo).port))
    })
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#idle) socket.destroy()
    const giveUp = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, drainMs)
    await closed
    clearTimeout(giveUp)
  }
}

function tlsFiles(tls: { certFile: string; keyFile: string }): { cert: Buffer; key: Buffer } {
  try {
    return { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }
  } catch (error) {
    throw new ExitError(1, `the certificate can't be read: ${(error as Error).message}`, error)
  }
}

/** What is not HTTP at all still gets the envelope. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const message = error.code === 'HPE_HEADER_OVERFLOW' ? 'The headers are too large' : 'This is not an HTTP request'
  const body = JSON.stringify({
    success: false,
    error: { code: 'VALIDATION_ERROR', message, details: error.code ?? '', requestId: '' },
  })
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
