import type { Config, plan } from '../config/index.ts'

/** Keys that decide who may do or see what, besides the accounts themselves. */
const decidesAccess = /^auth\.(defaultRole|groupRoles)|^warehouses\b|^cameras(\[[^\]]*\])?(\.(viewers|owner).*)?$/

/**
 * Returns the audit entry of a reload: keys, never values, and no names of people in them.
 * @param files key paths of files whose content changed
 */
export function reloadFacts({ live, restart }: ReturnType<typeof plan>, files: readonly string[]) {
  return { live: unlike(live), restart: unlike(restart), ...(files.length > 0 && { files: unlike(files) }) }
}

/** Returns what a reload changes about who may see or do something; undefined when nothing. */
export function accessFacts(old: Config, next: Config, { live }: ReturnType<typeof plan>) {
  const keys = unlike(live.filter((path) => decidesAccess.test(path)))
  if (keys.length === 0) return undefined
  const values = (name: 'defaultRole' | 'groupRoles') =>
    keys.some((key) => key.startsWith(`auth.${name}`)) && { [name]: { from: old.auth[name], to: next.auth[name] } }
  return { keys, ...values('defaultRole'), ...values('groupRoles') }
}

function unlike(paths: readonly string[]): string[] {
  return [...new Set(paths.map(withoutNames))]
}

function withoutNames(path: string): string {
  return path.replace(/^auth\.users\[[^\]]*\]/, 'auth.users[…]').replace(/^rateLimit\.users\..*$/, 'rateLimit.users.…')
}
