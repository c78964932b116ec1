import { type HubConfig, type Permission, permissionsOf, type Role } from '../../config/index.ts'
import type { Sites } from './store.ts'

type Grant = { readonly role: Role; readonly sites: Sites; readonly regions: Sites }

/**
 * Returns the sites at which an account of the config has a permission; null: at all of them. None for a name that is no account. Pure.
 */
export function reachOf(
  { auth, hub }: Pick<HubConfig, 'auth' | 'hub'>,
  username: string,
  permission: Permission,
): Sites {
  const account = auth.users.find((u) => u.username === username)
  if (!account) return []
  const grants: Grant[] = [account, ...account.elsewhere].filter(({ role }) => permissionsOf(role).has(permission))
  const reaches = grants.map(({ sites, regions }) => {
    if (sites === null && regions === null) return null
    return [...(sites ?? []), ...(regions ?? []).flatMap((region) => hub.regions[region] ?? [])]
  })
  return reaches.includes(null) ? null : [...new Set(reaches.flatMap((reach) => reach ?? []))]
}
