import { AppError } from '../errors/index.ts'
import { normaliseInstance, type Presented } from './credentials.ts'
import type { CredentialVerifier, Verified } from './verifier.ts'

/** Finds who vouches for the names of an instance, and asks there; nobody else is asked. */
export class Authenticator {
  readonly #verifiers: readonly CredentialVerifier[]

  /** @param options.verifiers in the order in which they are looked through */
  constructor(options: { verifiers: readonly CredentialVerifier[] }) {
    this.#verifiers = options.verifiers
  }

  /** Throws STORAGE_INSTANCE_NOT_ALLOWED, and what `CredentialVerifier.verify` throws. */
  async verify(presented: Presented, address: string): Promise<Verified> {
    const instance = normaliseInstance(presented.instance)
    const verifier = this.#verifierOf(instance, presented.username)
    if (instance === undefined || !verifier) {
      throw new AppError('STORAGE_INSTANCE_NOT_ALLOWED', 'X-Storage-Instance is not an instance of this gateway')
    }
    return verifier.verify(presented, instance, address)
  }

  /** Who a signed-in user is by now; undefined when the account is gone, or can't be told without its secret. */
  recall(username: string, instance: string): Verified | undefined {
    return this.#verifierOf(instance, username)?.recall(username, instance)
  }

  /** Whether the name is a user's; any other may be a secret in the wrong field. */
  knows(username: string, instance: string): boolean {
    const normalised = normaliseInstance(instance)
    const verifier = this.#verifierOf(normalised, username)
    return normalised !== undefined && verifier?.knows(username, normalised) === true
  }

  #verifierOf(instance: string | undefined, username: string): CredentialVerifier | undefined {
    if (instance === undefined) return undefined
    return this.#verifiers.find((verifier) => verifier.vouchesFor(instance, username))
  }
}
