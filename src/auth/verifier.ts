import type { Caller } from '../http/index.ts'
import type { Presented } from './credentials.ts'

/** A verified caller. */
export type Verified = {
  readonly caller: Caller
  /**
   * Changes with the secret without revealing it: a session ends when the mark changes. Absent for storage users, whose
   * session uses the sealed credential instead.
   */
  readonly mark?: Buffer
}

/**
 * Vouches for users of an instance: accounts of the config, devices, a storage server. The first that vouches is asked.
 */
export type CredentialVerifier = {
  /** @param instance normalised */
  vouchesFor(instance: string, username: string): boolean
  /**
   * Verifies a credential; at once, without a promise, where a yes is remembered. Rejects with INVALID_CREDENTIALS or USER_MISMATCH for a no, AUTH_BACKEND_UNREACHABLE without an
   * answer, RATE_LIMITED or NOT_READY when it has to wait.
   * @param instance normalised
   * @param address of the client: guesses from one address do not delay another
   */
  verify(presented: Presented, instance: string, address: string): Verified | Promise<Verified>
  /** Returns the user as the account is now, without a secret; undefined when there is none or a secret is needed. */
  recall(username: string, instance: string): Verified | undefined
  /** Says whether a user of this name is known, for the audit trail. */
  knows(username: string, instance: string): boolean
}

/** A session whose sign-in is a grant of an OpenID provider. */
export type SignedInByGrant = {
  readonly username: string
  readonly instance: string
  readonly grant: string
  /** Names the session while it lasts. */
  readonly session: string
}

/** Vouches for people whose sign-in is a grant in place of a secret. */
export type GrantVerifier = {
  /**
   * Returns the person as the provider last said; undefined when the sign-in has ended there. Throws AUTH_BACKEND_UNREACHABLE when
   * the provider does not answer and its last yes is too old.
   * @param keep stores a changed grant, also after this has resolved
   */
  standing(signedIn: SignedInByGrant, keep: (grant: string) => Promise<void>): Promise<Caller | undefined>
  /** Notes that the person has signed out. Returns the address that signs the browser out at the provider; undefined without one. */
  signedOut(signedIn: SignedInByGrant): string | undefined
}
