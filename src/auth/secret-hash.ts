import { scrypt, timingSafeEqual } from 'node:crypto'
import { FairTurns } from '../flow/index.ts'
import { networkOf, type RandomBytes } from '../platform/index.ts'

/** `scrypt:N:r:p:salt:hash`, salt and hash in base64url. 16 MiB and some 50 ms a check on a small box. */
const cost = { N: 16_384, r: 8, p: 1 }
const hashBytes = 32

/** Message for a sign-in that is refused because too many wait. */
export const tooManySignIns = 'Too many sign-ins at once'

/** At most two checks at a time, one for each network, so that guesses do not delay other requests. */
const turns = new FairTurns({ atOnce: 2, waitingOfLane: 8, waiting: 256 }, tooManySignIns)

export async function hashSecret(secret: string, random: RandomBytes): Promise<string> {
  const salt = random(16)
  const hash = await derive(secret, salt, cost)
  return `scrypt:${cost.N}:${cost.r}:${cost.p}:${salt.toString('base64url')}:${hash.toString('base64url')}`
}

/** Hash for names without an account. It matches no secret, and costs as much to check as the hash of an account. */
export const nobodysHash = ''

/**
 * Says whether the secret matches the hash, in constant time. A malformed hash never matches, and
 * costs as much as a whole one, so that time shows no one which name has it. Throws NOT_READY when too many checks wait.
 * @param from the asker: turns go round by network, and inside a network by identity
 */
export async function checkSecret(
  secret: string,
  secretHash: string,
  { address, identity = '' }: { readonly address: string; readonly identity?: string },
): Promise<boolean> {
  const { salt, hash, parameters } = partsOf(secretHash) ?? ofNobody
  const found = await turns.run(networkOf(address), () => derive(secret, salt, parameters), identity)
  return hash.length === found.length && timingSafeEqual(hash, found)
}

type Parts = { readonly salt: Buffer; readonly hash: Buffer; readonly parameters: typeof cost }

/** No secret has an empty hash. */
const ofNobody: Parts = { salt: Buffer.alloc(16), hash: Buffer.alloc(0), parameters: cost }
const mostBytes = 256 * 1024 * 1024

/** Undefined when the hash is cut off, or scrypt cannot work with its numbers. */
function partsOf(secretHash: string): Parts | undefined {
  const [, N = 0, r = 0, p = 0] = (/^scrypt:(\d+):(\d+):(\d+):/.exec(secretHash) ?? []).map(Number)
  const [salt, hash] = secretHash.split(':').slice(4)
  const isPowerOfTwo = N > 1 && Number.isInteger(Math.log2(N))
  if (!salt || !hash || !isPowerOfTwo || r < 1 || p < 1 || 128 * r * (N + p) >= mostBytes) return undefined
  return { salt: Buffer.from(salt, 'base64url'), hash: Buffer.from(hash, 'base64url'), parameters: { N, r, p } }
}

function derive(secret: string, salt: Buffer, parameters: { N: number; r: number; p: number }): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    // Keyboards write ö as one character or as two; both are the same password (NIST SP 800-63B).
    scrypt(secret.normalize('NFC'), salt, hashBytes, { ...parameters, maxmem: mostBytes }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
