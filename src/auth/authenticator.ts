import { AppError } from '../errors/index.ts'
import { normaliseInstance, type Presented } from './credentials.ts'
import type { CredentialVerifier, Verified } from './verifier.ts'

type AuthenticatorNeeds = {
  /** In the order in which they are asked. */
  verifiers: readonly CredentialVerifier[]
  /** Valid values of X-Storage-Instance, for the message about another one. */
  instances: () => readonly string[]
}

/** Finds the verifier that vouches for a name at an instance, and asks that one only. */
export class Authenticator {
  readonly #needs: AuthenticatorNeeds

  constructor(needs: AuthenticatorNeeds) {
    this.#needs = needs
  }

  /** Verifies a credential. Rejects with STORAGE_INSTANCE_NOT_ALLOWED, and with the errors of `CredentialVerifier.verify`. */
  verify(presented: Presented, address: string): Verified | Promise<Verified> {
    const instance = normaliseInstance(presented.instance)
    const verifier = this.#verifierOf(instance, presented.username)
    if (instance === undefined || !verifier) {
      const message = 'X-Storage-Instance is not an instance of this gateway'
      const details = `${shown(presented.instance)} is none of them: send ${this.#needs.instances().join(' or ')}`
      return Promise.reject(new AppError('STORAGE_INSTANCE_NOT_ALLOWED', message, { details }))
    }
    return verifier.verify(presented, instance, address)
  }

  /**
   * Returns a signed-in user as the account is now; undefined when it is gone, or cannot be looked up without its
   * secret.
   */
  recall(username: string, instance: string): Verified | undefined {
    return this.#verifierOf(instance, username)?.recall(username, instance)
  }

  /** Says whether the name is a known user's; any other may be a secret in the wrong field. */
  knows(username: string, instance: string): boolean {
    const normalised = normaliseInstance(instance)
    const verifier = this.#verifierOf(normalised, username)
    return normalised !== undefined && verifier?.knows(username, normalised) === true
  }

  #verifierOf(instance: string | undefined, username: string): CredentialVerifier | undefined {
    if (instance === undefined) return undefined
    return this.#needs.verifiers.find((verifier) => verifier.vouchesFor(instance, username))
  }
}

/** Returns a header as an answer may show it: short, and without a possible password before an @. */
function shown(instance: string): string {
  const quoted = instance.includes('@') ? 'an address with an @ in it' : JSON.stringify(instance.slice(0, 200))
  return instance.length > 200 ? `${quoted}…` : quoted
}
