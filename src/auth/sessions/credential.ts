import type { RandomBytes } from '../../platform/index.ts'
import type { Presented } from '../credentials.ts'
import { openFor, sealFor } from './token.ts'

type SignedIn = { readonly username: string; readonly secret: string }

/**
 * Seals the credential of a storage user for one session. Adds the login where the server knows the user by a login that differs
 * from the name.
 */
export function sealCredential(
  token: string,
  { username: login, secret }: SignedIn,
  { username }: { readonly username: string },
  random: RandomBytes,
): Buffer {
  // No secret begins with a NUL.
  return sealFor(token, login === username ? secret : `\0${login}\0${secret}`, random)
}

/** Opens a sealed credential, as it is presented again. Throws when it was sealed for another token. */
export function openCredential(
  token: string,
  sealed: Uint8Array,
  random: RandomBytes,
): Pick<Presented, 'scheme' | 'secret' | 'basicUser'> {
  const text = openFor(token, sealed, random)
  const [, basicUser, secret] = /^\0([^\0]*)\0(.*)$/s.exec(text) ?? []
  if (basicUser === undefined || secret === undefined) return { scheme: 'bearer', secret: text }
  return { scheme: 'basic', secret, basicUser }
}
