import { AppError } from '../errors/index.ts'
import { normaliseInstance, type Presented } from './credentials.ts'
import type { CredentialVerifier, Verified } from './verifier.ts'

/** Finds who vouches for the names of an instance, and asks there; nobody else is asked. */
export class Authenticator {
  readonly #verifiers: readonly CredentialVerifier[]
  readonly #instances: () => readonly string[]

  /**
   * @param options.verifiers in the order in which they are looked through
   * @param options.instances what X-Storage-Instance may be; for who names another
   */
  constructor(options: { verifiers: readonly CredentialVerifier[]; instances: () => readonly string[] }) {
    this.#verifiers = options.verifiers
    this.#instances = options.instances
  }

  /** Rejects with STORAGE_INSTANCE_NOT_ALLOWED, and what `CredentialVerifier.verify` throws. */
  verify(presented: Presented, address: string): Promise<Verified> {
    const instance = normaliseInstance(presented.instance)
    const verifier = this.#verifierOf(instance, presented.username)
    if (instance === undefined || !verifier) {
      const message = 'X-Storage-Instance is not an instance of this gateway'
      const details = `${shown(presented.instance)} is none of them: send ${this.#instances().join(' or ')}`
      return Promise.reject(new AppError('STORAGE_INSTANCE_NOT_ALLOWED', message, { details }))
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

/** A header as it may stand in an answer: short, and without what may be a password before an @. */
function shown(instance: string): string {
  const told = instance.includes('@') ? 'an address with an @ in it' : JSON.stringify(instance.slice(0, 200))
  return instance.length > 200 ? `${told}…` : told
}
