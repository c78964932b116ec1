import type { CredentialVerifier, Presented, Verified } from '../../auth/index.ts'
import { permissionsOf, type Role, roleWhileUnconfirmed } from '../../config/index.ts'
import { AppError } from '../../errors/index.ts'
import type { Caller } from '../../http/index.ts'

type GroupUsersNeeds = {
  /** The users of the storage servers, all of them. */
  readonly users: CredentialVerifier
  /** The roles that the groups of a caller give anywhere. */
  readonly rolesOf: (caller: Caller) => readonly Role[]
}

/** Vouches for the users of the storage servers who are in a group of the config, and for no other. */
export class GroupUsers implements CredentialVerifier {
  readonly #needs: GroupUsersNeeds

  constructor(needs: GroupUsersNeeds) {
    this.#needs = needs
  }

  vouchesFor(instance: string, username: string): boolean {
    return this.#needs.users.vouchesFor(instance, username)
  }

  /** Verifies a credential; throws PERMISSION_DENIED for a user in none of the groups, besides what the storage users throw. */
  async verify(presented: Presented, instance: string, address: string): Promise<Verified> {
    const { caller } = await this.#needs.users.verify(presented, instance, address)
    const roles = this.#needs.rolesOf(caller)
    if (roles.length === 0) {
      throw new AppError('PERMISSION_DENIED', 'This user is in no group that may ask at the head office', {
        details: 'auth.groups of its config names the groups of the storage server',
      })
    }
    const inForce = caller.authMode === 'offline-cache' ? roles.map(roleWhileUnconfirmed) : roles
    return { caller: { ...caller, permissions: new Set(inForce.flatMap((role) => [...permissionsOf(role)])) } }
  }

  recall(username: string, instance: string): Verified | undefined {
    return this.#needs.users.recall(username, instance)
  }

  knows(username: string, instance: string): boolean {
    return this.#needs.users.knows(username, instance)
  }
}
