import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { AppEnv } from '../../http/index.ts'
import { type RandomBytes, randomSecret, secretBox } from '../../platform/index.ts'

/** Over TLS the prefix keeps siblings of the host and plain HTTP from setting it (RFC 6265bis, 4.1.3.2). */
const cookieName = (overTls: boolean) => (overTls ? '__Host-gatehouse' : 'gatehouse')

const tokenForm = /^[A-Za-z0-9_-]{43}$/

/** Makes a token of 256 random bits, as the cookie holds it. */
export const newSessionToken = (random: RandomBytes): string => randomSecret(random, 32)

/** Returns the hash that the database holds instead of the token. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/**
 * Seals a text for one session. The key is derived from the token, which only the browser's cookie holds, so the
 * database alone cannot open it.
 */
export function sealFor(token: string, text: string, random: RandomBytes): Buffer {
  return secretBox(sessionKey(token), random).seal(text, 'console session')
}

/** Opens a sealed text. Throws when it was sealed for another token. */
export function openFor(token: string, sealed: Uint8Array, random: RandomBytes): string {
  return secretBox(sessionKey(token), random).open(sealed, 'console session')
}

const sessionKey = (token: string) => new Uint8Array(hkdfSync('sha256', token, '', 'gatehouse console session', 32))

/** Returns the CSRF token of a session: an HMAC of a token that no script can read, so it needs no storage. */
export const csrfTokenOf = (token: string): string => createHmac('sha256', token).update('csrf').digest('base64url')

export function isCsrfTokenOf(token: string, presented: string | undefined): boolean {
  const expected = Buffer.from(csrfTokenOf(token))
  const given = Buffer.from(presented ?? '')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Returns the token in the request's cookie; undefined when there is none or it has another form. */
export function sessionToken(c: Context<AppEnv>): string | undefined {
  const token = getCookie(c, cookieName(c.get('overTls')))
  return token !== undefined && tokenForm.test(token) ? token : undefined
}

export function giveSessionCookie(c: Context<AppEnv>, token: string, maxAgeSeconds: number): void {
  const secure = c.get('overTls')
  const attributes = { httpOnly: true, sameSite: 'Strict', path: '/', secure, maxAge: maxAgeSeconds } as const
  setCookie(c, cookieName(secure), token, attributes)
}

export function takeSessionCookie(c: Context<AppEnv>): void {
  const secure = c.get('overTls')
  deleteCookie(c, cookieName(secure), { path: '/', secure })
}
