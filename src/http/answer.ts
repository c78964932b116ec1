import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createGzip, gzip } from 'node:zlib'
import { takesGzip } from './accept-encoding.ts'

/** Shorter bodies fit in one packet and are not compressed. */
const leastBytes = 1024

/** How long a client that is still sending may take to read its refusal. */
const lingerMs = 5000

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]
type Whenever = (error?: Error | null) => void

/**
 * An HTTP response that compresses itself. Text of 1 KiB or more is sent with gzip when the client accepts it: a body of
 * known length in one piece, a stream as it comes, both compressed off the main thread. A response to a request whose body
 * has not arrived ends the connection, and leaves the client time to read it.
 */
export class Answer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  #packing: 'whole' | 'stream' | undefined
  #isEndless = false
  /** Of a body that is packed whole. */
  readonly #parts: Buffer[] = []
  #head: { readonly status: number; readonly headers: OutgoingHttpHeaders } | undefined
  #gzip: ReturnType<typeof createGzip> | undefined

  /** Whether the response is a stream of events, which ends only with its connection. */
  get isEndless(): boolean {
    return this.#isEndless
  }

  override writeHead(status: number, reason?: string | Headers, more?: Headers): this {
    const given = typeof reason === 'string' ? more : reason
    // Headers as a list are not written by this program; they pass unchanged.
    if (Array.isArray(given)) return super.writeHead(status, given)
    const headers = lowerCased(given)
    if (!this.req.complete) this.#endConnection(headers)
    if (isPackable(headers)) {
      headers['vary'] = headers['vary'] ? `${headers['vary']}, Accept-Encoding` : 'Accept-Encoding'
      this.#packing = this.#packingOf(status, headers)
    }
    this.#isEndless = String(headers['content-type'] ?? '').startsWith('text/event-stream')
    if (this.#packing === undefined) return super.writeHead(status, headers)
    headers['content-encoding'] = 'gzip'
    delete headers['content-length']
    this.#head = { status, headers }
    if (this.#packing === 'stream') this.#beginStream(status, headers)
    return this
  }

  override write(chunk: unknown, encoding?: BufferEncoding | Whenever, done?: Whenever): boolean {
    const bytes = this.#packing && bytesOf(chunk)
    if (!bytes) return typeof encoding === 'string' ? super.write(chunk, encoding, done) : super.write(chunk, encoding)
    if (this.#gzip) return this.#gzip.write(bytes)
    this.#parts.push(bytes)
    return true
  }

  override end(chunk?: unknown, encoding?: BufferEncoding | (() => void), done?: () => void): this {
    if (this.#packing === undefined) {
      return typeof encoding === 'string' ? super.end(chunk, encoding, done) : super.end(chunk, encoding)
    }
    const bytes = bytesOf(chunk)
    if (this.#gzip) {
      if (bytes) this.#gzip.write(bytes)
      this.#gzip.end()
      return this
    }
    if (bytes) this.#parts.push(bytes)
    this.#packWhole()
    return this
  }

  #packingOf(status: number, headers: OutgoingHttpHeaders): 'whole' | 'stream' | undefined {
    if (this.req.method === 'HEAD' || status === 204 || status === 206 || status === 304) return undefined
    if (!takesGzip(this.req.headers['accept-encoding'])) return undefined
    const length = headers['content-length']
    if (length === undefined) return 'stream'
    return Number(length) >= leastBytes ? 'whole' : undefined
  }

  #packWhole(): void {
    gzip(Buffer.concat(this.#parts), (error, packed) => {
      if (this.destroyed || !this.#head) return
      if (error) {
        this.destroy(error)
        return
      }
      const { status, headers } = this.#head
      super.writeHead(status, { ...headers, 'content-length': packed.length })
      super.end(packed)
    })
  }

  #beginStream(status: number, headers: OutgoingHttpHeaders): void {
    super.writeHead(status, headers)
    const packed = createGzip()
    this.#gzip = packed
    packed.on('data', (bytes: Buffer) => {
      if (super.write(bytes)) return
      packed.pause()
      this.once('drain', () => packed.resume())
    })
    packed.on('end', () => super.end())
    packed.on('drain', () => this.emit('drain'))
    packed.on('error', (error) => this.destroy(error))
    this.once('close', () => packed.destroy())
  }

  #endConnection(headers: OutgoingHttpHeaders): void {
    headers['connection'] = 'close'
    const { req } = this
    const { socket } = req
    // Closing while bytes arrive would reset the connection, and the client would lose its answer.
    socket.destroySoon = () => linger(socket, req)
  }
}

/** Ends our side, and keeps reading until the client has seen it, at most 5 s. */
function linger(socket: Socket, request: IncomingMessage): void {
  if (socket.writableEnded) return
  socket.end()
  request.removeAllListeners('data').resume()
  const giveUp = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(giveUp))
}

function lowerCased(headers: OutgoingHttpHeaders | undefined): OutgoingHttpHeaders {
  const lower: OutgoingHttpHeaders = {}
  for (const name in headers) lower[name.toLowerCase()] = headers[name]
  return lower
}

const packableType =
  /^(text\/(?!event-stream)|image\/svg\+xml|application\/((.+\+)?(json|xml)|x-ndjson|javascript|zpl)\b)/

/** Whether a body is text that is not compressed yet, and not a file with ranges. */
function isPackable(headers: OutgoingHttpHeaders): boolean {
  if (headers['content-encoding'] !== undefined || headers['accept-ranges'] !== undefined) return false
  return packableType.test(String(headers['content-type'] ?? ''))
}

function bytesOf(chunk: unknown): Buffer | undefined {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return chunk instanceof Uint8Array ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : undefined
}
