import { closeSync, createReadStream, fstatSync, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import type { Context } from 'hono'
import { AppError, diskFault } from '../../errors/index.ts'
import { errorCode } from '../../platform/faults.ts'
import { ownFile } from '../../platform/index.ts'
import type { AppEnv } from '../context.ts'
import { isKnown } from '../requests/known-tag.ts'
import { type RawAnswer, rawAnswer } from './envelope.ts'

export type FileAnswer = {
  readonly path: string
  readonly mediaType: string
  readonly sizeBytes: number
  /** Names the content: the same hash is the same bytes for ever. */
  readonly sha256: string
}

type Span = { readonly first: number; readonly last: number }

/**
 * Answers with a file of fixed content, or with the one range that was requested (RFC 9110, section 14). The status is 200, 206,
 * 304, or 416 as RANGE_NOT_SATISFIABLE. Several ranges at once, and units other than bytes, get the whole file. The file is opened
 * before anything is answered. One that is missing, is a link, or has another size, is logged and is NOT_FOUND.
 */
export function sendFile(c: Context<AppEnv>, file: FileAnswer): RawAnswer {
  const etag = `"${file.sha256}"`
  const headers = new Headers({
    'Content-Type': file.mediaType,
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Cache-Control': 'private, max-age=31536000, immutable',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  })
  if (isKnown(c, etag)) return rawAnswer(c.newResponse(null, 304, Object.fromEntries(headers)))
  const span = spanOf(askedRange(c, etag), file.sizeBytes)
  const { first, last } = span ?? { first: 0, last: file.sizeBytes - 1 }
  const fd = openWhole(c, file)
  headers.set('Content-Length', String(last - first + 1))
  if (span) headers.set('Content-Range', `bytes ${first}-${last}/${file.sizeBytes}`)
  const status = span ? 206 : 200
  if (c.req.method === 'HEAD' || file.sizeBytes === 0) {
    closeSync(fd)
    return rawAnswer(c.newResponse(null, status, Object.fromEntries(headers)))
  }
  const stream = createReadStream('', { fd, start: first, end: last })
  return rawAnswer(c.newResponse(Readable.toWeb(stream) as ReadableStream, status, Object.fromEntries(headers)))
}

/** Returns the range that counts. A Range has a meaning for GET alone, and If-Range compares strongly. */
function askedRange(c: Context<AppEnv>, etag: string): string | undefined {
  const { 'if-range': condition = etag, range } = c.req.header()
  return c.req.method === 'GET' && condition === etag ? range : undefined
}

const lostWords: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ELOOP: 'is a symbolic link, which is not followed',
}

function openWhole(c: Context<AppEnv>, file: FileAnswer): number {
  const lost = (why: string, cause?: unknown) => {
    c.get('log')().error({ err: cause, sha256: file.sha256 }, `a file that is written down ${why}`)
    return AppError.notFound('File')
  }
  let fd: number
  try {
    fd = openSync(file.path, ownFile.read)
  } catch (error) {
    const why = lostWords[errorCode(error) ?? '']
    if (!why) throw diskFault(error, 'The file cannot be read', 'NOT_READY')
    throw lost(why, error)
  }
  if (fstatSync(fd).size === file.sizeBytes) return fd
  closeSync(fd)
  throw lost('has another size')
}

/** The span of a Range header; undefined when the whole file is meant. */
function spanOf(range: string | undefined, size: number): Span | undefined {
  const [, from = '', to = ''] = range?.match(/^bytes=(\d*)-(\d*)$/i) ?? []
  if (from === '' && to === '') return undefined
  const first = from === '' ? Math.max(size - Number(to), 0) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  const isBackward = from !== '' && to !== '' && Number(to) < Number(from)
  if (isBackward) return undefined
  if (first >= size || (from === '' && Number(to) === 0)) {
    throw new AppError('RANGE_NOT_SATISFIABLE', 'The file ends before that', { details: `bytes */${size}` })
  }
  return { first, last }
}
