import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import { takesGzip } from './accept-encoding.ts'

/** Shorter bodies fit in one packet and are not compressed. */
export const leastPackedBytes = 1024

/** A longer body is packed quickly rather than as small as can be: the LAN has room, a small box has not. */
const manyBytes = 32 * 1024
const usualLevel = 6
const quickLevel = 1

const gzipped = promisify(gzip)

/** How long a client that is still sending may take to read its refusal. */
const lingerMs = 5000

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]
type Head = { readonly status: number; readonly headers: OutgoingHttpHeaders }
type Whenever = (error?: Error | null) => void

/** Bodies that many answers send, with their compressed form; undefined: not compressed yet. */
const manyTimes = new WeakMap<Buffer, Promise<Buffer> | undefined>()

/** Notes that these bytes, which do not change any more, are the body of many answers: they are compressed once. */
export function sentToMany<Body extends Buffer>(body: Body): Body {
  manyTimes.set(body, undefined)
  return body
}

/** Compresses a body off the main thread; one that many answers send only for the first of them. */
function pack(body: Buffer): Promise<Buffer> {
  const known = manyTimes.get(body)
  if (known) return known
  const packed = gzipped(body, { level: body.length < manyBytes ? usualLevel : quickLevel })
  if (manyTimes.has(body)) {
    manyTimes.set(body, packed)
    packed.catch(() => manyTimes.set(body, undefined))
  }
  return packed
}

/**
 * An HTTP response that compresses itself. Text of 1 KiB or more is sent with gzip when the client accepts it. A body in one piece
 * is compressed as a whole, any other as it comes, both off the main thread. A response to a request whose body has not arrived
 * ends the connection, and leaves the client time to read it.
 */
export class Answer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Sent unless the answer itself has a header of that name; names in lower case. */
  otherHeaders: Readonly<Record<string, string>> = {}
  #isEndless = false
  /** Held back until it is known how the body comes. */
  #head: Head | undefined
  #gzip: ReturnType<typeof createGzip> | undefined

  /** Whether the response is a stream of events, which ends only with its connection. */
  get isEndless(): boolean {
    return this.#isEndless
  }

  override writeHead(status: number, reason?: string | Headers, more?: Headers): this {
    const given = typeof reason === 'string' ? more : reason
    // Headers as a list are not written by this program; they pass unchanged.
    if (Array.isArray(given)) return super.writeHead(status, given)
    const headers = { ...this.otherHeaders, ...lowerCased(given) }
    if (!hasArrived(this.req)) this.#endConnection(headers)
    this.#isEndless = String(headers['content-type'] ?? '').startsWith('text/event-stream')
    if (isPackable(headers)) {
      headers['vary'] = headers['vary'] ? `${headers['vary']}, Accept-Encoding` : 'Accept-Encoding'
      if (this.#isPacked(status, headers)) {
        this.#head = { status, headers }
        return this
      }
    }
    return super.writeHead(status, headers)
  }

  override flushHeaders(): void {
    if (this.#head) this.#beginStream(this.#head)
    else super.flushHeaders()
  }

  override write(chunk: unknown, encoding?: BufferEncoding | Whenever, done?: Whenever): boolean {
    if (this.#head) this.#beginStream(this.#head)
    const bytes = this.#gzip && bytesOf(chunk)
    if (this.#gzip && bytes) return this.#gzip.write(bytes)
    return typeof encoding === 'string' ? super.write(chunk, encoding, done) : super.write(chunk, encoding)
  }

  override end(chunk?: unknown, encoding?: BufferEncoding | (() => void), done?: () => void): this {
    const bytes = this.#head || this.#gzip ? bytesOf(chunk) : undefined
    if (this.#head) this.#sendWhole(this.#head, bytes ?? Buffer.alloc(0))
    else if (this.#gzip) this.#gzip.end(bytes)
    else return typeof encoding === 'string' ? super.end(chunk, encoding, done) : super.end(chunk, encoding)
    return this
  }

  #isPacked(status: number, headers: OutgoingHttpHeaders): boolean {
    if (this.req.method === 'HEAD' || status === 204 || status === 206 || status === 304) return false
    const length = headers['content-length']
    if (length !== undefined && Number(length) < leastPackedBytes) return false
    return takesGzip(this.req.headers['accept-encoding'])
  }

  #sendWhole({ status, headers }: Head, bytes: Buffer): void {
    this.#head = undefined
    if (bytes.length < leastPackedBytes) {
      super.writeHead(status, { ...headers, 'content-length': bytes.length })
      super.end(bytes)
      return
    }
    const send = (packed: Buffer) => {
      if (this.destroyed) return
      super.writeHead(status, { ...headers, 'content-encoding': 'gzip', 'content-length': packed.length })
      super.end(packed)
    }
    pack(bytes)
      .then(send)
      .catch((error: Error) => this.destroy(error))
  }

  #beginStream({ status, headers: { 'content-length': _, ...headers } }: Head): void {
    this.#head = undefined
    super.writeHead(status, { ...headers, 'content-encoding': 'gzip' })
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

/** One without a body may be answered before the parser says that it is complete. */
function hasArrived({ complete, headers }: IncomingMessage): boolean {
  if (complete) return true
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return encoding === undefined && length === '0'
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
  if (Buffer.isBuffer(chunk)) return chunk
  return chunk instanceof Uint8Array ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : undefined
}
