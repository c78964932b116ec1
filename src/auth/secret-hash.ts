import { scrypt, timingSafeEqual } from 'node:crypto'
import { AppError } from '../errors/index.ts'
import type { RandomBytes } from '../world/index.ts'

/** `scrypt:N:r:p:salt:hash`, salt and hash in base64url. 16 MiB and some 50 ms a check on a small box. */
const cost = { N: 16_384, r: 8, p: 1 }
const hashBytes = 32

/** At most this many checks at once, and as many waiting: sign-in floods must not stop the floor. */
const atOnce = 2
const waitingLimit = 64

let running = 0
const waiting: (() => void)[] = []

export async function hashSecret(secret: string, random: RandomBytes): Promise<string> {
  const salt = random(16)
  const hash = await derive(secret, salt, cost)
  return `scrypt:${cost.N}:${cost.r}:${cost.p}:${salt.toString('base64url')}:${hash.toString('base64url')}`
}

/** Whether the secret is the hashed one, in constant time. A malformed hash is never right. */
export async function checkSecret(secret: string, secretHash: string): Promise<boolean> {
  const [scheme, n, r, p, salt, hash] = secretHash.split(':')
  if (scheme !== 'scrypt' || !salt || !hash) return false
  const expected = Buffer.from(hash, 'base64url')
  const found = await derive(secret, Buffer.from(salt, 'base64url'), { N: Number(n), r: Number(r), p: Number(p) })
  return expected.length === found.length && timingSafeEqual(expected, found)
}

async function derive(secret: string, salt: Buffer, parameters: { N: number; r: number; p: number }): Promise<Buffer> {
  await turn()
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      scrypt(secret, salt, hashBytes, { ...parameters, maxmem: 256 * 1024 * 1024 }, (error, key) =>
        error ? reject(error) : resolve(key),
      )
    })
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}

function turn(): Promise<void> | undefined {
  if (running < atOnce) {
    running += 1
    return undefined
  }
  if (waiting.length >= waitingLimit) {
    throw new AppError('NOT_READY', 'Too many sign-ins at once', { retryAfterSeconds: 2 })
  }
  return new Promise((resolve) => {
    waiting.push(resolve)
  })
}
