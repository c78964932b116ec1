import {
  type ConfigName,
  type Identity,
  identitiesOf,
  type Namespace,
  type Role,
  readName,
  roleNames,
} from '../config/index.ts'
import type { Caller } from '../http/index.ts'
import { Recent } from './rates/recent.ts'

export type NameSettings = {
  readonly siteUrl: string
  readonly instances: readonly string[]
  readonly groupRoles: Readonly<Record<string, Role>>
}

type Known = Pick<Caller, 'username' | 'instance' | 'groups' | 'isDevice'>

/** Parsed names: a list of slots compares the same few names for every slot. */
const read = new Recent<ConfigName>(4096)

function nameOf(text: string): ConfigName {
  const known = read.get(text)
  if (known) return known
  const name = readName(text)
  read.set(text, name)
  return name
}

type ConfigNamesNeeds = {
  settings: () => NameSettings
  /** Whether a local account or a badge has or had the name. It asks no database. */
  isLocal: (name: string) => boolean
}

/**
 * Decides whom the names of the config mean: owners, viewers, groups, rates. All rooms ask here, because two users of
 * one name at different instances are different people.
 */
export class ConfigNames {
  readonly #needs: ConfigNamesNeeds

  constructor(needs: ConfigNamesNeeds) {
    this.#needs = needs
  }

  /** Says whether one of the names means this caller, or one of the caller's groups. */
  mean(names: readonly string[], caller: Known): boolean {
    return names.some((text) => this.#identities(text).some((identity) => isOf(identity, caller)))
  }

  /** Says whether the name means this caller itself, as a user or a device. */
  meanUser(text: string | null, caller: Known): boolean {
    return text !== null && this.#identities(text).some((one) => one.kind !== 'group' && isOf(one, caller))
  }

  /**
   * Returns whether a bare name, stored before names had an instance, is this caller's. For a local caller it always is. For a
   * storage user it is when there is one storage server and no local caller has the name.
   */
  ownsBareName(caller: Pick<Caller, 'username' | 'instance' | 'isDevice'>): boolean {
    return caller.isDevice === true || this.meanUser(caller.username, { ...caller, groups: [] })
  }

  #identities(text: string): readonly Identity[] {
    return identitiesOf(nameOf(text), spaceOf(this.#needs.settings(), this.#needs.isLocal))
  }
}

/** Returns the role of a storage user: the highest of the groups' roles, or the default. */
export function roleOfGroups(
  groups: readonly string[],
  instance: string,
  { defaultRole, ...settings }: NameSettings & { readonly defaultRole: Role },
): Role {
  const named = Object.entries(settings.groupRoles).flatMap(([text, role]) =>
    isMember(text, { instance, groups }, settings) ? [role] : [],
  )
  return roleNames.findLast((role) => named.includes(role)) ?? defaultRole
}

/** Says whether the name of a group, as the config writes it, means one of a caller's groups. */
export function isMember(text: string, member: Pick<Known, 'instance' | 'groups'>, settings: NameSettings): boolean {
  const meant = identitiesOf(
    { ...nameOf(text), kind: 'group' },
    spaceOf(settings, () => false),
  )
  return meant.some((one) => isOf(one, { ...member, username: '' }))
}

const spaceOf = ({ siteUrl, instances, groupRoles }: NameSettings, isLocal: (name: string) => boolean): Namespace => ({
  siteUrl,
  instances,
  isLocal,
  isGroup: (name) => Object.keys(groupRoles).some((text) => nameOf(text).name === name),
})

function isOf({ kind, name, instance }: Identity, caller: Known): boolean {
  if (instance !== caller.instance) return false
  if (kind === 'group') return caller.groups.includes(name)
  return name === caller.username && (kind === 'device') === (caller.isDevice === true)
}
