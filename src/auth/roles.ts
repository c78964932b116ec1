import { roleNames as roles } from '../config/index.ts'
import { type Permission, permissions } from '../http/index.ts'

export { roles }
export type Role = (typeof roles)[number]

const viewer: readonly Permission[] = ['whms:read', 'cameras:read']
const operator: readonly Permission[] = [...viewer, 'events:create', 'units:advance', 'incidents:create']
const supervisor: readonly Permission[] = [
  ...operator,
  'events:verify',
  'units:override',
  'incidents:resolve',
  'reports',
  'audit:read',
  'cameras:control',
]

const granted: Record<Role, ReadonlySet<Permission>> = {
  viewer: new Set(viewer),
  operator: new Set(operator),
  supervisor: new Set(supervisor),
  admin: new Set(permissions),
}

/** What a role may do. Every role has what the one before it has. */
export function permissionsOf(role: Role): ReadonlySet<Permission> {
  return granted[role]
}
