import type { Caller } from '../http/index.ts'
import type { Presented } from './credentials.ts'

/** A caller whom somebody vouched for. */
export type Verified = {
  readonly caller: Caller
  /**
   * Changes with the secret, and tells nothing of it: a session rests on it, and ends when it is another one. Absent
   * where nobody here holds it: then a session rests on the credential itself, sealed.
   */
  readonly mark?: Buffer
}

/** Somebody who vouches for the users of an instance: the config's accounts, a storage server. The first that does is asked. */
export type CredentialVerifier = {
  /** @param instance normalised */
  vouchesFor(instance: string, username: string): boolean
  /**
   * Throws INVALID_CREDENTIALS or USER_MISMATCH when it says no, AUTH_BACKEND_UNREACHABLE when it can't tell, RATE_LIMITED
   * or NOT_READY when it does not look yet.
   * @param instance normalised
   * @param address of who asks: guesses from one address hold up nobody at another
   */
  verify(presented: Presented, instance: string, address: string): Promise<Verified>
  /** The user as the account is now, without a secret; undefined when there is none, or nothing without a secret. */
  recall(username: string, instance: string): Verified | undefined
  /** Whether a user of this name is known here, for the audit trail. */
  knows(username: string, instance: string): boolean
}
