/**
 * A name as the config writes it: `alice`, `alice@https://cloud…`, `group:wh-ops`, `group:wh-ops@https://cloud…`, `device:wall-1`,
 * `group:wh-ops@oidc:https://login…`.
 */
export type ConfigName = {
  /** `unsaid`: a form without prefix. */
  readonly kind: 'group' | 'device' | 'unsaid'
  readonly name: string
  /** The instance URL behind the name; undefined in a short form. */
  readonly instance: string | undefined
}

/** One user, group or device of one instance. */
export type Identity = { readonly kind: 'user' | 'group' | 'device'; readonly name: string; readonly instance: string }

/** Names that a short form is compared with. */
export type Namespace = {
  /** The instance of the local accounts, devices and badges; undefined: not known yet. */
  readonly siteUrl: string | undefined
  /** The configured storage servers. */
  readonly instances: readonly string[]
  /** Says whether the name is a local account or a badge. */
  readonly isLocal: (name: string) => boolean
  /** Says whether the name is a group of `auth.groupRoles`. */
  readonly isGroup: (name: string) => boolean
}

const prefixes = { group: 'group:', device: 'device:' } as const
const prefixed = ['group', 'device'] as const
/** No URL of an instance has an @ in it, and no name ends in one of these. */
const form = /^(.+)@(oidc:)?(https?:\/\/[^@\s]+)$/is

const withoutSlash = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

const oidcScheme = 'oidc:'

/**
 * Returns the instance of the people of an OpenID provider. The scheme keeps them apart from the users of a storage server that has
 * the same address.
 */
export const oidcInstance = (issuer: string): string => `${oidcScheme}${withoutSlash(issuer)}`

/**
 * Returns the last part of the address at which a provider's answers come back: `login.example.com-realms-floor`. Each provider has
 * a separate one, so that no provider can pass on the answer of another (RFC 9700, 4.4.2.2).
 */
export const callbackNameOf = (issuer: string): string =>
  withoutSlash(issuer)
    .replace(/^https?:\/\//, '')
    .replace(/[^A-Za-z0-9.]+/g, '-')

export const isOidcInstance = (instance: string): boolean => instance.startsWith(oidcScheme)

export function readName(text: string): ConfigName {
  const kind = prefixed.find((one) => text.startsWith(prefixes[one])) ?? 'unsaid'
  const rest = kind === 'unsaid' ? text : text.slice(prefixes[kind].length)
  const [, name, scheme, url] = form.exec(rest) ?? []
  if (name === undefined || url === undefined || !URL.canParse(url)) return { kind, name: rest, instance: undefined }
  return { kind, name, instance: scheme === undefined ? withoutSlash(url) : oidcInstance(url) }
}

/**
 * Returns the identities that a name means; empty when none. `config check` and the running gateway both use it. A full form means
 * itself. A short form that is a local account or a badge means that one only. Any other means a user or a group of the only storage
 * server, and `config check` refuses it. With `group:` or in `auth.groupRoles` it means only the group; without a storage server a
 * group of this gateway. A device is meant by `device:` alone, because a supervisor
 * chooses its name.
 */
export function identitiesOf({ kind, name, instance }: ConfigName, space: Namespace): readonly Identity[] {
  const { siteUrl, instances } = space
  const stated = kind === 'unsaid' ? 'user' : kind
  if (instance !== undefined) return [{ kind: stated, name, instance }]
  if (kind === 'device') return siteUrl === undefined ? [] : [{ kind, name, instance: siteUrl }]
  const local = siteUrl === undefined ? [] : [{ kind: 'user' as const, name, instance: siteUrl }]
  if (kind === 'unsaid' && space.isLocal(name)) return local
  const [only, ...others] = instances
  if (only === undefined && kind === 'group') return siteUrl === undefined ? [] : [{ kind, name, instance: siteUrl }]
  if (only === undefined || others.length > 0) return kind === 'group' ? [] : local
  const group = { kind: 'group' as const, name, instance: only }
  if (kind === 'group' || space.isGroup(name)) return [group]
  return [...local, { kind: 'user', name, instance: only }, group]
}

/** Kind of name that a place of the config takes. */
export type Expected = 'user' | 'group' | 'user or group'

/** The namespace with the instances of `auth.oidc`, which only full forms name. */
type CheckedNamespace = Namespace & { readonly providers: readonly string[] }

/** Returns what is wrong with a name; undefined when nothing is. */
export function nameProblem(written: ConfigName, space: CheckedNamespace, expected: Expected): string | undefined {
  const { kind, name, instance } = written
  if (kind === 'device') return deviceProblem(written, space, expected)
  if (kind === 'group' && expected === 'user') return `group:${name} is a group; expected a user`
  if (instance !== undefined) return instanceProblem(instance, expected === 'group', space)
  if (kind === 'unsaid' && expected !== 'group' && space.isLocal(name)) return undefined
  const { siteUrl, instances } = space
  const host = /@([^@\s/]+)$/.exec(name)?.[1]
  const meant = [siteUrl, ...instances].find((url) => url !== undefined && url.slice(url.indexOf('//') + 2) === host)
  if (meant !== undefined) return `write the whole address behind the @: ${meant}`
  if (instances.length > 1)
    return `say whose it is, because there are ${instances.length} storage servers: ${fullForms(written, space, expected)}`
  if (instances.length === 0 && kind === 'group' && expected === 'group')
    return 'no storage server has groups here: storage.instances is empty'
  return undefined
}

function deviceProblem({ name, instance }: ConfigName, { siteUrl }: Namespace, expected: Expected): string | undefined {
  if (expected === 'group') return `device:${name} is a device; expected a group`
  if (instance === undefined || siteUrl === undefined || instance === siteUrl) return undefined
  return `devices are of this gateway: write device:${name}`
}

/** `givesRole`: the place maps groups to roles, and accounts of this gateway have a role themselves. */
function instanceProblem(
  instance: string,
  givesRole: boolean,
  { siteUrl, instances, providers }: CheckedNamespace,
): string | undefined {
  if (isOidcInstance(instance)) {
    if (!providers.includes(instance)) return `${instance} is none of auth.oidc`
    return givesRole ? 'groups of an OpenID provider get their role in groupRoles of its entry in auth.oidc' : undefined
  }
  if (instances.includes(instance) || siteUrl === undefined) return undefined
  if (instance !== siteUrl) return `${instance} is neither site.url nor one of storage.instances`
  return givesRole ? `${instance} is this gateway, and its own accounts have a role without groups` : undefined
}

/** Returns the possible full forms of a short form. */
export function fullForms({ kind, name }: ConfigName, { siteUrl, instances }: Namespace, expected: Expected): string {
  const cloud = instances[0] ?? ''
  const user = kind === 'group' || expected === 'group' ? [] : [`${name}@${cloud}`]
  const group = expected === 'user' ? [] : [`group:${name}@${cloud}`]
  const local = user.length > 0 ? [`${name}@${siteUrl ?? 'SITE.URL'} (an account or a badge)`, `device:${name}`] : []
  return [...user, ...group, ...local].join(', ')
}
