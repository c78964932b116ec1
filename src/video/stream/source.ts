import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { scrubText } from '../../platform/index.ts'
import type { FfmpegDialect } from '../ffmpeg/ffmpeg-dialect.ts'

/** Address and credentials of a stream. */
export type StreamSource = {
  /** rtsp:// or rtsps://; user and password in it are used when `username` is null. */
  readonly url: string
  readonly username: string | null
  readonly password: string | null
}

/** ffmpeg ends when nothing has come for so long. */
export const usualSilenceMs = 5000
const analyzeUs = 1_000_000

/**
 * Returns the list that ffmpeg's concat demuxer reads from stdin. This keeps credentials out of the process list. The option `?tcp`
 * asks for RTP inside the RTSP connection, in every version.
 */
export function concatList(
  source: StreamSource,
  address: string | undefined,
  dialect: FfmpegDialect,
  silentMs = usualSilenceMs,
): string {
  const lines = ['ffconcat version 1.0', `file ${quoted(streamUrl(source, address))}`]
  if (dialect.listOptions) {
    lines.push('option rtsp_transport tcp', `option timeout ${silentMs * 1000}`, `option analyzeduration ${analyzeUs}`)
    lines.push('option fpsprobesize 0')
  }
  return `${lines.join('\n')}\n`
}

/** Returns the URL with its credentials, percent-encoded. `address` replaces the host name. */
export function streamUrl(source: StreamSource, address?: string): string {
  const url = new URL(source.url)
  const rest = source.url.slice(source.url.indexOf('//') + 2).replace(/^[^/?#]*/, '')
  const given = url.username ? `${url.username}${url.password ? `:${url.password}` : ''}@` : ''
  const credentials = source.username === null ? given : `${credential(source.username, source.password)}@`
  const name = address === undefined ? url.hostname : isIP(address) === 6 ? `[${address}]` : address
  const host = url.port ? `${name}:${url.port}` : name
  return `${url.protocol}//${credentials}${host}${withTcp(rest)}`
}

/**
 * Resolves with the address of the stream's host; undefined when the host is an address already. Rejects for an unknown
 * name. Done here because the static 2018 build of ffmpeg crashes when it resolves a name itself.
 */
export async function resolveHost(source: StreamSource): Promise<string | undefined> {
  const host = new URL(source.url).hostname.replace(/^\[|\]$/g, '')
  if (isIP(host)) return undefined
  return (await lookup(host)).address
}

/** Returns a function that removes the source's credentials from a text, in every spelling. */
export function redactor(source: StreamSource): (text: string) => string {
  const url = new URL(source.url)
  const secrets = [source.password, url.password, decodeURIComponent(url.password)].filter((s): s is string => !!s)
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret), encoded(secret)])
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((clean, form) => clean.replaceAll(form, '***'), scrubText(text))
}

function credential(username: string, password: string | null): string {
  return password === null ? encoded(username) : `${encoded(username)}:${encoded(password)}`
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Adds `tcp` to the query: ffmpeg reads its options there and passes the rest on to the camera. */
function withTcp(rest: string): string {
  return `${rest}${rest.includes('?') ? '&' : '?'}tcp`
}

/** Quotes a text for the list. A quote inside is closed, escaped, and opened again. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
