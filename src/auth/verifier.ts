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
