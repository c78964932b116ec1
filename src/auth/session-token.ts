import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { AppEnv } from '../http/index.ts'
import { type RandomBytes, randomSecret, secretBox } from '../platform/index.ts'

/** Over TLS the prefix keeps siblings of the host and plain HTTP from setting it (RFC 6265bis, 4.1.3.2). */
const cookieName = (overTls: boolean) => (overTls ? '__Host-gatehouse' : 'gatehouse')

const tokenForm = /^[A-Za-z0-9_-]{43}$/

/** 256 bits, as the cookie holds them. */
export const newSessionToken = (random: RandomBytes): string => randomSecret(random, 32)

/** What the database holds instead of the token. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/**
 * Seals what only this session may open again: the key is made of the token, which is in the browser's cookie and
 * nowhere here. Whoever has the database has no secret of it.
 */
export function sealFor(token: string, text: string, random: RandomBytes): Buffer {
  return secretBox(sessionKey(token), random).seal(text, 'console session')
}

/** Throws when it was sealed for another token. */
export function openFor(token: string, sealed: Uint8Array, random: RandomBytes): string {
  return secretBox(sessionKey(token), random).open(sealed, 'console session')
}

const sessionKey = (token: string) => new Uint8Array(hkdfSync('sha256', token, '', 'gatehouse console session', 32))

/** Belongs to one session and needs no storage: a one-way function of a token that no script can read. */
export const csrfTokenOf = (token: string): string => createHmac('sha256', token).update('csrf').digest('base64url')

export function isCsrfTokenOf(token: string, presented: string | undefined): boolean {
  const expected = Buffer.from(csrfTokenOf(token))
  const given = Buffer.from(presented ?? '')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The token in the request's cookie; undefined when there is none, or nothing that could be one. */
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
