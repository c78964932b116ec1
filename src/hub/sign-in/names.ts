import { type NameSettings, normaliseInstance } from '../../auth/index.ts'
import { type HubConfig, type Role, roleNames } from '../../config/index.ts'

/** Returns the instances that vouch for callers, and the highest role that each group has anywhere. Pure. */
export function namesOf({ auth, site, storage }: Pick<HubConfig, 'auth' | 'site' | 'storage'>): NameSettings {
  return {
    siteUrl: normaliseInstance(site.url) ?? site.url,
    instances: storage.instances.map(({ url }) => url),
    groupRoles: Object.fromEntries(auth.groups.map((entry) => [entry.group, highest([entry, ...entry.elsewhere])])),
  }
}

const highest = (entries: readonly { readonly role: Role }[]): Role =>
  roleNames.findLast((role) => entries.some((entry) => entry.role === role)) ?? 'viewer'
