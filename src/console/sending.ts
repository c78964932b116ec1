import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Context } from 'hono'
import { AppError } from '../errors/index.ts'
import type { AppEnv } from '../http/index.ts'
import type { ConsoleFile } from './files.ts'

/** Allows the gateway's own files only; no script can turn text into markup. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  // Live pictures: the page passes them to its video element under a blob: address that it makes itself.
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
]

/** Policy of a worker: it may run WebAssembly, and send no request. Its data come from the page and go back there. */
const workerPolicy = [
  "default-src 'none'",
  "script-src 'wasm-unsafe-eval'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/**
 * Sends a file that everybody may read, with the headers that block foreign code. The page may make the one policy in
 * `trustedTypes`; without it none. A packed file is only sent packed. Throws VALIDATION_ERROR to a client that refuses gzip for
 * it.
 */
export function sendPublic(c: Context<AppEnv>, file: ConsoleFile, trustedTypes = "'none'") {
  const accepted = c.req.header('accept-encoding')
  const takesGzip = weightOfGzip(accepted ?? '') > 0
  // A client that sends no Accept-Encoding takes any coding (RFC 9110, 12.5.3).
  if (file.packed && accepted !== undefined && !takesGzip) throw gzipNeeded()
  const policy = [...contentSecurityPolicy, `trusted-types ${trustedTypes}`].join('; ')
  c.header('Content-Security-Policy', file.isWorker ? workerPolicy : policy)
  c.header('Permissions-Policy', 'camera=(self), microphone=(), geolocation=()')
  // Its own requests name the page, so that a refusal never opens the browser's password box.
  c.header('Referrer-Policy', 'same-origin')
  c.header('Cross-Origin-Opener-Policy', 'same-origin')
  c.header('Cross-Origin-Resource-Policy', 'same-origin')
  c.header('Content-Type', file.type)
  c.header('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
  c.header('Vary', 'Accept-Encoding')
  if (!file.packed && !takesGzip) return c.body(file.text)
  c.header('Content-Encoding', 'gzip')
  return c.body(file.packed ? packedOf(file.packed) : zippedOf(file))
}

const gzipNeeded = () =>
  AppError.field('Accept-Encoding', 'this file is sent with gzip only; send Accept-Encoding: gzip')

/** Returns the weight that an Accept-Encoding header gives gzip: by name, or covered by `*`; 0 when it is not taken. */
function weightOfGzip(header: string): number {
  const weights = new Map(
    header
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [coding = '', weight = '1'] = part.split(/;\s*q\s*=/)
        return [coding.trim(), Number(weight)]
      }),
  )
  return weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0
}

type Bytes = Uint8Array<ArrayBuffer>
const packed = new Map<string, Bytes>()
const zipped = new WeakMap<ConsoleFile, Bytes>()

/** Returns a file of megabytes as it lies on the disk: read once, and the same bytes for every request. */
function packedOf(path: string): Bytes {
  const bytes = packed.get(path) ?? readFileSync(path)
  packed.set(path, bytes)
  return bytes
}

function zippedOf(file: ConsoleFile): Bytes {
  const bytes = zipped.get(file) ?? gzipSync(file.text, { level: 9 })
  zipped.set(file, bytes)
  return bytes
}
