import { createHmac, timingSafeEqual } from 'node:crypto'

/** Values of RFC 6238 that every authenticator app supports. */
const stepSeconds = 30
const digits = 6
/** Steps before and after the current one that count: a phone's clock may be off, and typing takes time. */
const slackSteps = 1

/** Returns the code of a time step: HOTP (RFC 4226, 5.3) of the step, with HMAC-SHA-1. */
export function totpOf(secret: Uint8Array, step: number, length = digits): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hmac = createHmac('sha1', secret).update(counter).digest()
  const offset = (hmac.at(-1) ?? 0) & 0xf
  return String((hmac.readUInt32BE(offset) & 0x7fffffff) % 10 ** length).padStart(length, '0')
}

export const stepAt = (ms: number): number => Math.floor(ms / 1000 / stepSeconds)

/**
 * Returns the time step of a code; undefined when it is wrong, too old, or not after the last used one (RFC 6238, 5.2: a code works
 * once).
 */
export function stepOfCode(secret: Uint8Array, code: string, nowMs: number, lastStep: number): number | undefined {
  const given = Buffer.from(code)
  const now = stepAt(nowMs)
  for (let step = now - slackSteps; step <= now + slackSteps; step += 1) {
    const expected = Buffer.from(totpOf(secret, step))
    if (given.length === expected.length && timingSafeEqual(given, expected) && step > lastStep) return step
  }
  return undefined
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Writes bytes in base32 (RFC 4648) without padding. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

/** Returns the address that an authenticator app reads from a QR code (the Key URI format of Google Authenticator). */
export function totpUri(secret: Uint8Array, issuer: string, username: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(username)}`
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
}
