import type { MiddlewareHandler } from 'hono'
import { AppError } from '../errors/index.ts'
import type { AppEnv } from './context.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
export const jsonBodyLimitBytes = 256 * 1024

/**
 * Reads a body up to `limitBytes`; more is refused without reading on. A declared length is refused before a byte.
 * Throws BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE for a compressed body.
 */
export async function readBody(request: Request, limitBytes: number): Promise<Uint8Array> {
  const tooLarge = () => new AppError('BODY_TOO_LARGE', `A body may have at most ${limitBytes} bytes`)
  const encoding = request.headers.get('content-encoding')
  if (encoding && encoding !== 'identity') throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body uncompressed')
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) throw tooLarge()
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body ?? []) {
    size += part.length
    if (size > limitBytes) throw tooLarge()
    parts.push(part)
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
}

/**
 * For every request that carries JSON: reads it within the limit, insists on the media type and on UTF-8, and leaves
 * it to the validators. Bodies of other media types are left to the routes that take them.
 */
export function jsonBodies(takesBytes: (path: string) => boolean): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const { method } = c.req
    if (method === 'GET' || method === 'HEAD' || method === 'DELETE' || takesBytes(c.req.path)) return next()
    const bytes = await readBody(c.req.raw, jsonBodyLimitBytes)
    c.set('rawBody', bytes)
    if (bytes.length === 0) {
      c.req.json = async () => ({}) as never
      return next()
    }
    const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
    if (type !== 'application/json' && !/^application\/[a-z0-9.-]+\+json$/.test(type)) {
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send application/json', {
        details: `content-type: ${type || 'absent'}`,
      })
    }
    const body = parseJson(bytes)
    c.req.json = async () => body as never
    return next()
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (error) {
    throw new AppError('MALFORMED_JSON', 'The body is not JSON in UTF-8', {
      details: (error as Error).message,
      cause: error,
    })
  }
}
