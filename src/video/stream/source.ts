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
 * Returns the list that ffmpeg's concat demuxer reads from stdin. This keeps credentials out of the process list.
 */
export function concatList(
  source: StreamSource,
  relayPort: number,
  dialect: FfmpegDialect,
  silentMs = usualSilenceMs,
): string {
  const lines = ['ffconcat version 1.0', `file ${quoted(relayedUrl(source, relayPort))}`]
  if (dialect.listOptions) {
    lines.push('option rtsp_transport tcp', `option timeout ${silentMs * 1000}`, `option analyzeduration ${analyzeUs}`)
    lines.push('option fpsprobesize 0')
  }
  return `${lines.join('\n')}\n`
}

/** Returns the URL of the stream at the relay, with its credentials, percent-encoded. */
export function relayedUrl(source: StreamSource, relayPort: number): string {
  const url = new URL(source.url)
  const rest = source.url.slice(source.url.indexOf('//') + 2).replace(/^[^/?#]*/, '')
  const given = url.username ? `${url.username}${url.password ? `:${url.password}` : ''}@` : ''
  const credentials = source.username === null ? given : `${credential(source.username, source.password)}@`
  return `rtsp://${credentials}127.0.0.1:${relayPort}${rest}`
}

/**
 * Resolves with the address of the stream's host; undefined when the host is an address already. Rejects for an unknown
 * name.
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

/** Quotes a text for the list. A quote inside is closed, escaped, and opened again. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
