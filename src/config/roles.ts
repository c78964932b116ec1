/** Every permission that an operation of the API can require. */
export const permissions = [
  'whms:read',
  'cameras:read',
  'incidents:read',
  'reports:read',
  'audit:read',
  'alerts:read',
  'metrics:read',
  'storage:read',
  'evidence:read',
  'events:create',
  'units:advance',
  'incidents:create',
  'events:verify',
  'units:override',
  'incidents:resolve',
  'reports:create',
  'cameras:control',
  'cameras:export',
  'whms:write',
  'webhooks:manage',
  'alerts:manage',
  'storage:manage',
  'accounts:manage',
] as const

export type Permission = (typeof permissions)[number]

type RoleEntry = {
  readonly grants: readonly Permission[]
  /** Whether a handheld device may have it. */
  readonly isForDevices: boolean
  /** Role of its holder while the storage server that vouches for the holder is unreachable. Default: the same. */
  readonly whileUnconfirmed?: string
}

const viewer = ['whms:read', 'cameras:read'] as const
const operator = [...viewer, 'incidents:read', 'events:create', 'units:advance', 'incidents:create'] as const
const supervisor = [
  ...operator,
  'events:verify',
  'units:override',
  'incidents:resolve',
  'reports:read',
  'reports:create',
  'audit:read',
  'evidence:read',
  'cameras:control',
  'cameras:export',
] as const

/**
 * The roles of callers, from lowest to highest. A user whose groups map to several has the last one here. An auditor reads
 * everything but the metrics, which are the admin's, and changes nothing. Each of the other four has all permissions of the one
 * before it.
 */
const roles = {
  auditor: {
    grants: permissions.filter((one) => one.endsWith(':read') && one !== 'metrics:read'),
    isForDevices: false,
  },
  viewer: { grants: viewer, isForDevices: true },
  operator: { grants: operator, isForDevices: true },
  supervisor: { grants: supervisor, isForDevices: true },
  admin: { grants: permissions, isForDevices: false, whileUnconfirmed: 'supervisor' },
} as const satisfies Record<string, RoleEntry>

export type Role = keyof typeof roles
export type DeviceRole = { [R in Role]: (typeof roles)[R]['isForDevices'] extends true ? R : never }[Role]

const entries: Record<Role, RoleEntry> = roles
export const roleNames = Object.keys(roles) as [Role, ...Role[]]
export const deviceRoles = roleNames.filter((role) => entries[role].isForDevices) as [DeviceRole, ...DeviceRole[]]

const granted = new Map(roleNames.map((role) => [role, new Set<Permission>(entries[role].grants)]))
const nothing: ReadonlySet<Permission> = new Set()

export function permissionsOf(role: Role): ReadonlySet<Permission> {
  return granted.get(role) ?? nothing
}

/** Returns the role that remains of this one while no server confirms that its holder still has it. */
export const roleWhileUnconfirmed = (role: Role): Role => (entries[role].whileUnconfirmed as Role | undefined) ?? role
