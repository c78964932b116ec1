import { isAbsolute } from 'node:path'
import { namesIn, namespaceOf } from './cross-checks.ts'
import { derivedUrlIsSure } from './derived.ts'
import { type Located, locate } from './document.ts'
import { bare, dotted, type Schema, within } from './keys.ts'
import { isLoopback, kinds } from './kinds.ts'
import { fullForms, identitiesOf, readName } from './names.ts'
import type { Problem } from './problems.ts'
import type { Config, Parsed } from './schema.ts'
import { fileState } from './sources.ts'

type Path = readonly (string | number)[]
type Warning = { readonly path: Path; readonly message: string }

/** What works, but hardly as it is meant. */
export function warningsOf(parsed: Parsed, config: Config, root: Located, schema: Schema): Problem[] {
  const warnings = [
    ...plainListeners(parsed),
    ...plainServers(parsed),
    ...guessedUrl(parsed, config),
    ...unsureNames(config),
    ...files(root, schema, []),
  ]
  return warnings.map(({ path, message }) => ({ place: locate(root, path).place, path: dotted(path), message }))
}

function plainListeners({ listen, metrics }: Parsed): Warning[] {
  const message = 'listens beyond this machine without TLS: secrets travel in the clear'
  const open = listen.flatMap(({ host, tls }, index) =>
    tls || isLoopback(host) ? [] : [{ path: ['listen', index], message }],
  )
  if (!metrics.listen || isLoopback(metrics.listen.host)) return open
  return [...open, { path: ['metrics', 'listen'], message }]
}

function plainServers({ storage }: Parsed): Warning[] {
  return storage.instances.flatMap(({ url }, index) => {
    const { protocol, hostname } = new URL(url)
    if (protocol === 'https:' || isLoopback(hostname.replaceAll(/^\[|\]$/g, ''))) return []
    return [{ path: ['storage', 'instances', index, 'url'], message: 'is not https: secrets travel in the clear' }]
  })
}

function guessedUrl(parsed: Parsed, config: Config): Warning[] {
  if (derivedUrlIsSure(parsed)) return []
  return [{ path: ['site', 'url'], message: `is not set; ${config.site.url} is assumed` }]
}

/** A short form that could be a user, a group, a device or a badge: whoever gets that name first is meant. */
function unsureNames(config: Config): Warning[] {
  const space = namespaceOf(config)
  const [only] = space.instances
  if (only === undefined) return []
  return [...namesIn(config)].flatMap(({ text, path, expected }) => {
    const written = readName(text)
    if (expected === 'group' || path[0] === 'rateLimit' || identitiesOf(written, space).length < 2) return []
    const what = expected === 'user' ? 'the user' : 'the user or the group'
    const message = `is no account of auth.users, so it means ${what} ${written.name} of ${only}; better say which: ${fullForms(written, space, expected)}`
    return [{ path, message }]
  })
}

function* files(node: Located, schema: Schema | undefined, path: Path): Generator<Warning> {
  if (!schema) return
  if (node.kind === 'map') {
    for (const [key, { value }] of node.entries) yield* files(value, within(schema, key), [...path, key])
  } else if (node.kind === 'list') {
    for (const [index, item] of node.items.entries()) yield* files(item, within(schema, index), [...path, index])
  } else if (typeof node.value === 'string') {
    const message = fileTrouble(node.value, kinds.get(bare(schema))?.path)
    if (message) yield { path, message }
  }
}

function fileTrouble(file: string, kind: 'folder' | 'file' | 'secret' | undefined): string | undefined {
  // A relative path is one of credentials that only the service gets.
  if (kind === undefined || kind === 'folder' || !isAbsolute(file)) return undefined
  const state = fileState(file)
  if (state === 'missing') return `${file} does not exist`
  if (state === 'open to all' && kind === 'secret')
    return `${file} can be read by every user of this machine (chmod o-r)`
  return undefined
}
