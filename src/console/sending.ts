import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Context } from 'hono'
import type { AppEnv } from '../http/index.ts'
import { type AssetName, assetPath } from '../platform/bundle.ts'
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

/** Of a worker: it may run WebAssembly, and ask for nothing at all. What it works on comes from the page and goes back there. */
const workerPolicy = [
  "default-src 'none'",
  "script-src 'wasm-unsafe-eval'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/**
 * Answers with a file that everybody may read, with the headers that keep foreign code out. `trustedTypes` names the one
 * policy that the page may make; without it the page makes none.
 */
export function sendPublic(c: Context<AppEnv>, file: ConsoleFile, trustedTypes = "'none'") {
  const policy = [...contentSecurityPolicy, `trusted-types ${trustedTypes}`].join('; ')
  c.header('Content-Security-Policy', file.isWorker ? workerPolicy : policy)
  c.header('Permissions-Policy', 'camera=(self), microphone=(), geolocation=()')
  c.header('Referrer-Policy', 'no-referrer')
  c.header('Cross-Origin-Opener-Policy', 'same-origin')
  c.header('Cross-Origin-Resource-Policy', 'same-origin')
  c.header('Content-Type', file.type)
  c.header('Cache-Control', file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache')
  c.header('Vary', 'Accept-Encoding')
  const takesGzip = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
  if (!takesGzip) return c.body(file.packed ? new Uint8Array(gunzipSync(packedOf(file.packed))) : file.text)
  const bytes = file.packed ? packedOf(file.packed) : (zipped.get(file) ?? gzipSync(file.text, { level: 9 }))
  if (!file.packed) zipped.set(file, bytes)
  c.header('Content-Encoding', 'gzip')
  return c.body(new Uint8Array(bytes))
}

/** Read at each request: it is megabytes, and a browser keeps it. */
const packedOf = (name: AssetName): Buffer => readFileSync(assetPath(name))

const zipped = new WeakMap<ConsoleFile, Buffer>()
