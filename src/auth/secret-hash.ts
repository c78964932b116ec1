import { scrypt, timingSafeEqual } from 'node:crypto'
import type { RandomBytes } from '../platform/index.ts'
import { FairTurns } from './fair-turns.ts'
import { networkOf } from './network-of.ts'

/** `scrypt:N:r:p:salt:hash`, salt and hash in base64url. 16 MiB and some 50 ms a check on a small box. */
const cost = { N: 16_384, r: 8, p: 1 }
const hashBytes = 32

/** At most two checks at a time, one for each network, so that guesses do not delay other requests. */
const turns = new FairTurns({ atOnce: 2, waitingOfLane: 8, waiting: 256 })

export async function hashSecret(secret: string, random: RandomBytes): Promise<string> {
  const salt = random(16)
  const hash = await derive(secret, salt, cost)
  return `scrypt:${cost.N}:${cost.r}:${cost.p}:${salt.toString('base64url')}:${hash.toString('base64url')}`
}

/**
 * Says whether the secret matches the hash, in constant time. A malformed hash never matches. Throws NOT_READY when too
 * many checks wait.
 * @param from the asker: turns go round by network, and inside a network by identity
 */
export async function checkSecret(
  secret: string,
  secretHash: string,
  { address, identity = '' }: { readonly address: string; readonly identity?: string },
): Promise<boolean> {
  const [scheme, n, r, p, salt, hash] = secretHash.split(':')
  if (scheme !== 'scrypt' || !salt || !hash) return false
  const expected = Buffer.from(hash, 'base64url')
  const parameters = { N: Number(n), r: Number(r), p: Number(p) }
  const look = () => derive(secret, Buffer.from(salt, 'base64url'), parameters)
  const found = await turns.run(networkOf(address), look, identity)
  return expected.length === found.length && timingSafeEqual(expected, found)
}

function derive(secret: string, salt: Buffer, parameters: { N: number; r: number; p: number }): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    scrypt(secret, salt, hashBytes, { ...parameters, maxmem: 256 * 1024 * 1024 }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
