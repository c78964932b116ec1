import { randomBytes } from 'node:crypto'

/** `size` bytes of chance; tests hand in their own. */
export type RandomBytes = (size: number) => Buffer

const pool = { bytes: Buffer.alloc(0), used: 0 }
const poolBytes = 4096
const pooledUpTo = 64

/** Small amounts come out of a pool: a call into the system for each id costs more than all that the id is for. */
export const systemRandom: RandomBytes = (size) => {
  if (size > pooledUpTo) return randomBytes(size)
  if (pool.used + size > pool.bytes.length) {
    pool.bytes = randomBytes(poolBytes)
    pool.used = 0
  }
  const taken = Buffer.from(pool.bytes.subarray(pool.used, pool.used + size))
  // What was handed out must not be found here again.
  pool.bytes.fill(0, pool.used, pool.used + size)
  pool.used += size
  return taken
}

/** A secret as text: URL-safe, `bytes` of entropy. */
export function randomSecret(random: RandomBytes, bytes = 24): string {
  return random(bytes).toString('base64url')
}
