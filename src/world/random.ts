import { randomBytes } from 'node:crypto'

/** `size` bytes of chance; tests hand in their own. */
export type RandomBytes = (size: number) => Buffer

export const systemRandom: RandomBytes = (size) => randomBytes(size)

/** A secret as text: URL-safe, `bytes` of entropy. */
export function randomSecret(random: RandomBytes, bytes = 24): string {
  return random(bytes).toString('base64url')
}
