import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { namesIn, namespaceOf } from './cross-checks.ts'
import { type Located, locate } from './document.ts'
import { bare, dotted, type Schema, within } from './keys.ts'
import { kinds } from './kinds.ts'
import { fullForms, identitiesOf, readName } from './names.ts'
import type { Problem } from './problems.ts'
import type { Config } from './schema.ts'
import { whyUnreadable } from './sources.ts'

type Path = readonly (string | number)[]
type Fault = { readonly path: Path; readonly message: string }

/**
 * Finds faults: things that do not work although the gateway starts, because the floor needs it. `config check` refuses
 * them.
 */
export function faultsOf(config: Config, root: Located, schema: Schema): Problem[] {
  return problemsOf([...signIn(config), ...ambiguousNames(config), ...files(root, schema, [])], root)
}

/** Finds the files that a config names and that cannot be read. */
export function fileFaults(root: Located, schema: Schema): Problem[] {
  return problemsOf([...files(root, schema, [])], root)
}

function problemsOf(faults: readonly Fault[], root: Located): Problem[] {
  return faults.map(({ path, message }) => ({ place: locate(root, path).place, path: dotted(path), message }))
}

/**
 * Finds short forms that could be an account of the database, a badge, or a user or a group of the storage server. Also those that
 * are an account and a group: the account is meant.
 */
function ambiguousNames(config: Config): Fault[] {
  const space = namespaceOf(config)
  const [only] = space.instances
  if (only === undefined) return []
  return [...namesIn(config)].flatMap(({ text, path, expected }) => {
    const written = readName(text)
    const { kind, name, instance } = written
    if (expected === 'group' || path[0] === 'rateLimit' || kind !== 'unsaid' || instance !== undefined) return []
    const forms = fullForms(written, space, expected)
    if (space.isLocal(name)) {
      if (expected === 'user' || !space.isGroup(name)) return []
      return [{ path, message: `is an account of auth.users and a group of auth.groupRoles; write one of ${forms}` }]
    }
    if (identitiesOf(written, space).length < 2) return []
    return [{ path, message: `is no account of auth.users, so it is not certain who is meant; write one of ${forms}` }]
  })
}

/**
 * Returns the places that give a right to a short name which is no account of `auth.users`, where a storage server is configured. An
 * account that gets or loses this name at run time would take the right from somebody of the server, or pass it on.
 */
export function sharedNamePlaces(config: Config, username: string): string[] {
  const space = namespaceOf(config)
  if (space.instances.length === 0 || space.isLocal(username)) return []
  return [...namesIn(config)].flatMap(({ text, path, expected }) => {
    const { kind, name, instance } = readName(text)
    const isMeant = kind === 'unsaid' && instance === undefined && name === username
    return isMeant && expected !== 'group' && path[0] !== 'rateLimit' ? [dotted(path)] : []
  })
}

/** `scrypt:N:r:p:salt:hash`, as "gatehouse credential" prints it. */
const wholeHash = /^scrypt:\d+:\d+:\d+:[\w-]{8,}:[\w-]{43}$/

function signIn({ auth, storage }: Config): Fault[] {
  const broken = auth.users.flatMap(({ username, secretHash }, index) =>
    wholeHash.test(secretHash)
      ? []
      : [
          {
            path: ['auth', 'users', index, 'secretHash'],
            message: `is not whole, so ${JSON.stringify(username)} can never sign in; paste the entry that "gatehouse credential" prints`,
          },
        ],
  )
  if (auth.users.length > 0 || storage.instances.length > 0 || auth.oidc.length > 0) return broken
  const message =
    'no one can sign in: auth.users, auth.oidc and storage.instances are empty; "gatehouse credential --username NAME --role admin" prints an entry for auth.users'
  return [{ path: ['auth', 'users'], message }]
}

function* files(node: Located, schema: Schema | undefined, path: Path): Generator<Fault> {
  if (!schema) return
  if (node.kind === 'map') {
    for (const [key, { value }] of node.entries) yield* files(value, within(schema, key), [...path, key])
  } else if (node.kind === 'list') {
    for (const [index, item] of node.items.entries()) yield* files(item, within(schema, index), [...path, index])
  } else if (typeof node.value === 'string') {
    const message = fileFault(node.value, kinds.get(bare(schema))?.path)
    if (message) yield { path, message }
  }
}

function fileFault(file: string, kind: 'folder' | 'file' | 'secret' | undefined): string | undefined {
  // A path that is still relative begins with the credentials folder, which only the service has.
  if (kind === undefined || kind === 'folder' || !isAbsolute(file)) return undefined
  try {
    const found = statSync(file)
    accessSync(file, constants.R_OK)
    if (found.isDirectory()) return `${file} is a folder; name the file in it`
    return found.size === 0 && found.isFile() ? `${file} is empty; write its value into it` : undefined
  } catch (error) {
    const why = whyUnreadable(error)
    return `${file}: ${why}; ${why === 'there is no such file' ? 'make it, or correct the path' : 'let the user who runs gatehouse read it'}`
  }
}
