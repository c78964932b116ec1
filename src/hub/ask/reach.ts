import { isMember } from '../../auth/index.ts'
import { type HubConfig, type Permission, permissionsOf, type Role, roleWhileUnconfirmed } from '../../config/index.ts'
import type { Caller } from '../../http/index.ts'
import { namesOf } from '../sign-in/names.ts'
import type { Sites } from './store.ts'

type Grant = { readonly role: Role; readonly sites: Sites; readonly regions: Sites }
type Known = Pick<Caller, 'username' | 'instance' | 'groups' | 'authMode'>
type Settings = Pick<HubConfig, 'auth' | 'hub' | 'site' | 'storage'>

/**
 * Returns the sites at which a caller has a permission; null: at all of them. None for a caller whom the config does not know. While
 * the storage server cannot confirm a caller, an admin is a supervisor. Pure.
 */
export function reachOf(config: Settings, caller: Known, permission: Permission): Sites {
  const isUnconfirmed = caller.authMode === 'offline-cache'
  const grants = grantsOf(config, caller).filter(({ role }) =>
    permissionsOf(isUnconfirmed ? roleWhileUnconfirmed(role) : role).has(permission),
  )
  const reaches = grants.map(({ sites, regions }) => {
    if (sites === null && regions === null) return null
    return [...(sites ?? []), ...(regions ?? []).flatMap((region) => config.hub.regions[region] ?? [])]
  })
  return reaches.includes(null) ? null : [...new Set(reaches.flatMap((reach) => reach ?? []))]
}

/** Returns the caller's entries in the config: those of an account, or those of all groups of a user of a storage server. Pure. */
export function grantsOf(config: Settings, { username, instance, groups }: Known): Grant[] {
  const { auth } = config
  const names = namesOf(config)
  const account = auth.users.find((u) => u.username === username)
  const entries =
    instance === names.siteUrl
      ? [account].filter((one) => one !== undefined)
      : auth.groups.filter(({ group }) => isMember(group, { instance, groups }, names))
  return entries.flatMap((entry) => [entry, ...entry.elsewhere])
}
