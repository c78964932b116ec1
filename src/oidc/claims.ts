import type { Claims } from './names.ts'

const mostGroups = 1000
const longestGroup = 256

/** Values of `amr` (RFC 8176) that are, or need, more than a password; `mfa` says it in one word. */
const factors = ['mfa', 'otp', 'hwk', 'swk', 'fpt', 'face', 'iris', 'pop', 'sc', 'sms', 'tel']

/** Says whether the provider says that the person showed more than a password. Pure. */
export function hasFactor(claims: Claims): boolean {
  const shown = claims['amr']
  return Array.isArray(shown) && shown.some((one) => factors.includes(one))
}

/**
 * Returns the groups in a claim; undefined when the claims do not have it. A claim of exactly this name counts first, because names
 * may have dots. Pure.
 */
export function groupsIn(claims: Claims, path: string): readonly string[] | undefined {
  const value = claims[path] ?? path.split('.').reduce<unknown>(within, claims)
  if (value === undefined || value === null) return undefined
  const groups = [value].flat().filter((group) => typeof group === 'string')
  return [...new Set(groups)].filter((group) => group.length <= longestGroup).slice(0, mostGroups)
}

const within = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined

/** Says whether the provider left the groups out because they are too many (Entra: over 200). Pure. */
export function hasTooManyGroups(claims: Claims, path: string): boolean {
  const elsewhere = claims['_claim_names']
  return claims['hasgroups'] === true || within(elsewhere, path) !== undefined
}
