import { promisify } from 'node:util'
import { gunzip as gunzipCallback, gunzipSync } from 'node:zlib'
import type { Context, MiddlewareHandler, Next } from 'hono'
import { AppError } from '../../errors/index.ts'
import { errorCode, errorMessage } from '../../platform/faults.ts'
import { type AppEnv, measured } from '../context.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
export const jsonBodyLimitBytes = 256 * 1024

/**
 * Reads a body up to `limitBytes`; more is refused without reading on. A declared length is refused before a byte.
 * Throws BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE for a compressed body, VALIDATION_ERROR for one that breaks off.
 */
export async function readBody(request: Request, limitBytes: number): Promise<Uint8Array> {
  const declared = demandAcceptable(request, limitBytes)
  // The parser lets no more through than was declared; read at once it costs no web stream.
  if (declared <= jsonBodyLimitBytes) return new Uint8Array(await request.arrayBuffer().catch(brokenOff))
  const parts: Uint8Array[] = []
  for await (const part of bodyParts(request, limitBytes)) parts.push(part)
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
}

const gunzip = promisify(gunzipCallback)

/**
 * As `readBody`, for programs that send gzip: at most `limitBytes` on the wire and `limitBytes` unpacked. Returns the function that
 * unpacks, so that a body may wait packed. Unpacking stops at the limit: a small body that unpacks to gigabytes takes no more memory
 * than an honest one.
 */
export async function readPackedBody(request: Request, limitBytes: number): Promise<() => Promise<Uint8Array>> {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== 'gzip') {
    const body = await readBody(request, limitBytes)
    return () => Promise.resolve(body)
  }
  const packed = await readPieces(request, limitBytes)
  return () => unpack(packed, limitBytes)
}

/** Bytes as they come, whatever packs them. */
async function readPieces(request: Request, limitBytes: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared <= Math.min(jsonBodyLimitBytes, limitBytes)) {
    return new Uint8Array(await request.arrayBuffer().catch(brokenOff))
  }
  const parts: Uint8Array[] = []
  for await (const part of partsUpTo(request, limitBytes)) parts.push(part)
  return Buffer.concat(parts)
}

/** With the pieces of zlib's default a megabyte comes in 64 turns of the event loop. */
const pieceBytes = (packed: Uint8Array): number => Math.min(Math.max(16 * 1024, 2 * packed.length), 1024 * 1024)

/** A body that unpacks to at most this is unpacked on this thread: asking a thread of the pool would take longer. */
const quickBytes = 128 * 1024

async function unpack(packed: Uint8Array, limitBytes: number): Promise<Uint8Array> {
  const quick = packed.length <= quickBytes / 4 ? unpackedAtOnce(packed, Math.min(quickBytes, limitBytes)) : undefined
  if (quick) return quick
  try {
    return await gunzip(packed, { maxOutputLength: limitBytes, chunkSize: pieceBytes(packed) })
  } catch (cause) {
    if (errorCode(cause) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limitBytes)
    throw new AppError('VALIDATION_ERROR', 'The body is not gzip', { cause })
  }
}

/** Undefined for more than `mostBytes`, and for bytes that are not gzip. */
function unpackedAtOnce(packed: Uint8Array, mostBytes: number): Uint8Array | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: mostBytes })
  } catch {
    return undefined
  }
}

/** As `readBody`, piece by piece: the next one is taken from the client when it is asked for. */
export async function* bodyParts(request: Request, limitBytes: number): AsyncGenerator<Uint8Array, void> {
  demandAcceptable(request, limitBytes)
  yield* partsUpTo(request, limitBytes)
}

async function* partsUpTo(request: Request, limitBytes: number): AsyncGenerator<Uint8Array, void> {
  let size = 0
  try {
    for await (const part of request.body ?? []) {
      size += part.length
      if (size > limitBytes) throw tooLarge(limitBytes)
      yield part
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    brokenOff(error)
  }
}

/** Returns the declared length, NaN without one. Throws BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE. */
function demandAcceptable(request: Request, limitBytes: number): number {
  const encoding = request.headers.get('content-encoding')
  if (encoding && encoding !== 'identity') throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body uncompressed')
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > limitBytes) throw tooLarge(limitBytes)
  return declared
}

const tooLarge = (limitBytes: number) => new AppError('BODY_TOO_LARGE', `A body may have at most ${limitBytes} bytes`)

function brokenOff(cause: unknown): never {
  throw new AppError('VALIDATION_ERROR', 'The body broke off before its end', { cause })
}

/** Somebody who is not known yet has to send a name and a password, which takes no minutes. */
const strangersBodyMs = 5000
const strangersBodyBytes = 8 * 1024

/** As `readBody`, for a client that no one knows: the whole body has to arrive within 5 s. Throws VALIDATION_ERROR. */
export async function readBodyInTime(request: Request, limitBytes: number): Promise<Uint8Array> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = () => reject(new AppError('VALIDATION_ERROR', 'The request took too long to arrive'))
  const timer = setTimeout(late, strangersBodyMs)
  try {
    return await Promise.race([readBody(request, limitBytes), promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * For every request that carries JSON: reads it within the limit, insists on the media type and on UTF-8, and leaves
 * it to the validators. A body that cannot be taken is refused by the operation, not here: routes without a body
 * ignore it. Bodies of other media types are left to the routes that take them.
 * @param limitOf most bytes of a known caller's body, by path
 */
export function jsonBodies(
  takesBytes: (path: string) => boolean,
  limitOf: (path: string) => number = () => jsonBodyLimitBytes,
): MiddlewareHandler<AppEnv> {
  const read = async (c: Context<AppEnv>, next: Next) => {
    const isKnown = c.get('caller') !== undefined
    const reading = isKnown ? readBody(c.req.raw, limitOf(c.req.path)) : readBodyInTime(c.req.raw, strangersBodyBytes)
    const bytes = await reading.catch((error) => refuseLater(c, error))
    return measured(c, () => {
      if (bytes) takeJson(c, bytes)
      return next()
    })
  }
  return (c, next) => {
    const { method } = c.req
    const hasNone = method === 'GET' || method === 'HEAD' || method === 'DELETE' || takesBytes(c.req.path)
    return hasNone ? next() : read(c, next)
  }
}

/** Keeps the refusal for the operation. Throws any other error. */
function refuseLater(c: Context<AppEnv>, error: unknown): void {
  if (!(error instanceof AppError)) throw error
  c.set('bodyRefusal', error)
}

function takeJson(c: Context<AppEnv>, bytes: Uint8Array): void {
  try {
    c.set('rawBody', bytes)
    if (bytes.length > 0) insistOnJson(c.req.header('content-type'))
    const body = bytes.length > 0 ? parseJson(bytes) : {}
    c.set('jsonBody', body)
    // It answers what was read already, whatever type the caller asks for.
    c.req.json = async () => body as never
    // The validators have narrower ideas of what JSON may be called; the question is settled.
    if (c.req.header('content-type') !== 'application/json') c.req.raw.headers.set('Content-Type', 'application/json')
  } catch (error) {
    refuseLater(c, error)
  }
}

/**
 * Accepts application/json or a type that ends in +json, with any parameters. An absent or empty type counts as JSON. A page of
 * another site can send a body without a type anyway, so the type guards nothing. Its cookie needs the CSRF token.
 */
function insistOnJson(header: string | undefined): void {
  if (!header) return
  const type = header.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/json' || /^application\/[\w!#$&^.+-]+\+json$/.test(type)) return
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send application/json', {
    details: `content-type: ${type || 'absent'}`,
  })
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (error) {
    throw new AppError('MALFORMED_JSON', 'The body is not JSON in UTF-8', {
      details: errorMessage(error),
      cause: error,
    })
  }
}
