import { isAbsolute } from 'node:path'
import { derivedUrlIsSure } from './derived.ts'
import { type Located, locate } from './document.ts'
import { bare, dotted, type Schema, within } from './keys.ts'
import { isLoopback, kinds } from './kinds.ts'
import type { Problem } from './problems.ts'
import type { Config, Parsed } from './schema.ts'
import { isOpenToAll } from './sources.ts'

type Path = readonly (string | number)[]
type Warning = { readonly path: Path; readonly message: string }

/** Finds what works, but probably not as it is meant. */
export function warningsOf(parsed: Parsed, config: Config, root: Located, schema: Schema): Problem[] {
  const warnings = [
    ...plainListeners(parsed),
    ...plainServers(parsed),
    ...guessedUrl(parsed, config),
    ...groupsOfNobody(parsed),
    ...incompleteNotices(parsed),
    ...detectionWithoutModel(parsed),
    ...analyticsWithoutSource(parsed),
    ...pagesOfAnotherVersion(parsed),
    ...openSecrets(root, schema, []),
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

function groupsOfNobody({ auth, storage }: Parsed): Warning[] {
  if (Object.keys(auth.groupRoles).length === 0 || storage.instances.length > 0) return []
  return [{ path: ['auth', 'groupRoles'], message: 'has no effect without storage.instances' }]
}

/** Finds facts that the notices at the doors need and the config lacks: one warning for all of them. */
function incompleteNotices({ cameras, privacy }: Parsed): Warning[] {
  const without = cameras.filter(({ purpose }) => purpose === null).map(({ id }) => id)
  const missing = [
    ...(privacy.controller === null ? ['privacy.controller'] : []),
    ...(privacy.contact === null ? ['privacy.contact'] : []),
    ...(without.length > 0 ? [`the purpose of camera ${without.join(', ')}`] : []),
  ]
  if (cameras.length === 0 || missing.length === 0) return []
  const message = `the notice at the door (GET /api/iot/cctv/ID/notice) has gaps: set ${missing.join(', ')}`
  return [{ path: ['privacy'], message }]
}

function detectionWithoutModel({ console: { objectDetection } }: Parsed): Warning[] {
  if (!objectDetection.enabled || objectDetection.modelFile !== null) return []
  const message = 'is not set, so nothing is marked in live pictures; name an ONNX file'
  return [{ path: ['console', 'objectDetection', 'modelFile'], message }]
}

function analyticsWithoutSource({ cameras }: Parsed): Warning[] {
  const message = 'has no effect while motion.source is pictures; set motion.source to camera or both'
  return cameras.flatMap(({ motion, analytics }, index) => {
    const isSet = analytics.url !== null || Object.keys(analytics.rules).length > 0
    return isSet && motion.source === 'pictures' ? [{ path: ['cameras', index, 'analytics'], message }] : []
  })
}

function pagesOfAnotherVersion({ updates }: Parsed): Warning[] {
  if (updates.floorLayout === 'automatic') return []
  const message = 'is ignored: the floor sees the pages of the running version; remove the key'
  return [{ path: ['updates', 'floorLayout'], message }]
}

function innerOf(node: Located): (readonly [string | number, Located])[] {
  if (node.kind === 'map') return [...node.entries].map(([key, { value }]) => [key, value] as const)
  return node.kind === 'list' ? [...node.items.entries()] : []
}

function* openSecrets(node: Located, schema: Schema | undefined, path: Path): Generator<Warning> {
  if (!schema) return
  if (node.kind === 'scalar' && typeof node.value === 'string' && kinds.get(bare(schema))?.path === 'secret') {
    // A path that is still relative begins with the credentials folder, which only the service has.
    if (!isAbsolute(node.value) || !isOpenToAll(node.value)) return
    yield { path, message: `${node.value} can be read by every user of this machine (chmod o-r)` }
  }
  for (const [key, inner] of innerOf(node)) yield* openSecrets(inner, within(schema, key), [...path, key])
}
