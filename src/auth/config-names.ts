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
import { Recent } from './recent.ts'

export type NameSettings = {
  readonly siteUrl: string
  readonly instances: readonly string[]
  readonly groupRoles: Readonly<Record<string, Role>>
}

type Known = Pick<Caller, 'username' | 'instance' | 'groups'>

/** Read once: a floor list compares the same few names for every slot. */
const read = new Recent<ConfigName>(4096)

function nameOf(text: string): ConfigName {
  const known = read.get(text)
  if (known) return known
  const name = readName(text)
  read.set(text, name)
  return name
}

/**
 * Whom the names of the config mean: owners, viewers, groups, rates. Every room asks here, and nothing else compares
 * names: two users of one name at different instances are different people.
 */
export class ConfigNames {
  readonly #settings: () => NameSettings
  readonly #isLocal: (name: string) => boolean

  /** @param options.isLocal whether a local account, a device or a badge has or had the name; asks no database */
  constructor(options: { settings: () => NameSettings; isLocal: (name: string) => boolean }) {
    this.#settings = options.settings
    this.#isLocal = options.isLocal
  }

  /** Whether one of the names means this caller, or a group of theirs. */
  mean(names: readonly string[], caller: Known): boolean {
    return names.some((text) => this.#identities(text).some((identity) => isOf(identity, caller)))
  }

  /** Whether the name means this caller, and no group. */
  meanUser(text: string | null, caller: Known): boolean {
    return text !== null && this.#identities(text).some((one) => one.kind === 'user' && isOf(one, caller))
  }

  /**
   * Whether a bare name, kept before names had an instance, is this caller's: a local one's always, a storage user's
   * only where no local one has it and there is one storage server.
   */
  ownsBareName(caller: Pick<Caller, 'username' | 'instance'>): boolean {
    return this.meanUser(caller.username, { ...caller, groups: [] })
  }

  #identities(text: string): readonly Identity[] {
    return identitiesOf(nameOf(text), spaceOf(this.#settings(), this.#isLocal))
  }
}

/** The role that the groups of a storage user make: the highest of several; where none has a role, the default. */
export function roleOfGroups(
  groups: readonly string[],
  instance: string,
  { defaultRole, ...settings }: NameSettings & { readonly defaultRole: Role },
): Role {
  const space = spaceOf(settings, () => false)
  const member = { username: '', instance, groups }
  const named = Object.entries(settings.groupRoles).flatMap(([text, role]) => {
    const meant = identitiesOf({ ...nameOf(text), kind: 'group' }, space)
    return meant.some((one) => isOf(one, member)) ? [role] : []
  })
  return roleNames.findLast((role) => named.includes(role)) ?? defaultRole
}

const spaceOf = ({ siteUrl, instances, groupRoles }: NameSettings, isLocal: (name: string) => boolean): Namespace => ({
  siteUrl,
  instances,
  isLocal,
  isGroup: (name) => Object.keys(groupRoles).some((text) => nameOf(text).name === name),
})

const isOf = ({ kind, name, instance }: Identity, caller: Known): boolean =>
  instance === caller.instance && (kind === 'group' ? caller.groups.includes(name) : name === caller.username)
