import { gzipSync } from 'node:zlib'
import type { Context } from 'hono'
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

/**
 * Answers with a file that everybody may read, with the headers that keep foreign code out. `trustedTypes` names the one
 * policy that the page may make; without it the page makes none.
 */
export function sendPublic(c: Context<AppEnv>, file: ConsoleFile, trustedTypes = "'none'") {
  c.header('Content-Security-Policy', [...contentSecurityPolicy, `trusted-types ${trustedTypes}`].join('; '))
  c.header('Referrer-Policy', 'no-referrer')
  c.header('Cross-Origin-Opener-Policy', 'same-origin')
  c.header('Cross-Origin-Resource-Policy', 'same-origin')
  c.header('Content-Type', file.type)
  c.header('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
  c.header('Vary', 'Accept-Encoding')
  if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return c.body(file.text)
  const bytes = zipped.get(file) ?? gzipSync(file.text, { level: 9 })
  zipped.set(file, bytes)
  c.header('Content-Encoding', 'gzip')
  return c.body(new Uint8Array(bytes))
}

const zipped = new WeakMap<ConsoleFile, Buffer>()
