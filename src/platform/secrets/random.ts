import { randomBytes } from 'node:crypto'

/** Returns `size` random bytes. Tests pass their own function. */
export type RandomBytes = (size: number) => Buffer

const pool = { bytes: Buffer.alloc(0), used: 0 }
const poolBytes = 4096
const pooledUpTo = 64

/** Returns random bytes of the system. Small amounts come from a pool, because a system call for each id is slow. */
export const systemRandom: RandomBytes = (size) => {
  if (size > pooledUpTo) return randomBytes(size)
  if (pool.used + size > pool.bytes.length) {
    pool.bytes = randomBytes(poolBytes)
    pool.used = 0
  }
  const taken = Buffer.from(pool.bytes.subarray(pool.used, pool.used + size))
  // The bytes that were given out are overwritten.
  pool.bytes.fill(0, pool.used, pool.used + size)
  pool.used += size
  return taken
}

/** Returns a secret as text: URL-safe, `bytes` of entropy. */
export function randomSecret(random: RandomBytes, bytes = 24): string {
  return random(bytes).toString('base64url')
}
