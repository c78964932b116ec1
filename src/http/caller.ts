import type { Permission, Role } from '../config/index.ts'

/** A sign-in that can end: kind, and hash of its token in base64url. */
export type SignIn = { readonly kind: 'session' | 'shift'; readonly hash: string }

/** A verified caller. The auth room makes it; every other room only reads it. */
export type Caller = {
  readonly username: string
  /** X-Storage-Instance that vouched for the name. */
  readonly instance: string
  readonly role: Role
  readonly groups: readonly string[]
  readonly permissions: ReadonlySet<Permission>
  /** A handheld or a wall screen itself: its name is never a person's. */
  readonly isDevice?: true
  /** When set, the caller sees only these warehouses, as a device of one hall does. */
  readonly warehouseIds?: readonly number[]
  /**
   * How it was verified:
   * - local: by an account of the config.
   * - storage: by a storage server.
   * - offline-cache: by the last answer of such a server before it became unreachable.
   * - session: by the console's cookie.
   */
  readonly authMode: string
  /** The console session or the shift of this request, by the hash of its token: a signed address ends with it. */
  readonly signIn?: SignIn
  /**
   * State of the second factor of a session of the console; absent where nothing is to do:
   * - missing: the role demands one, and the account has none.
   * - stale: it was not shown in the last minutes, so operations that give secrets or footage away ask for it.
   */
  readonly secondFactor?: 'missing' | 'stale'
  /** Why the caller has fewer permissions than usual; absent otherwise. */
  readonly withheld?: string
}

/**
 * Returns the identity of a caller, for code that stores or compares people: `name@<instance URL>`. Two users with one name at
 * different instances are different people.
 */
export function identityOf(caller: Pick<Caller, 'username' | 'instance'>): string {
  return `${caller.username}@${caller.instance}`
}
