import type { Entry, List, Located, Mapping } from './document.ts'
import { allowsNull, bare, facts, fixedKeys, repeated, type Schema, within } from './keys.ts'
import { kinds } from './kinds.ts'

/**
 * Merges a drop-in into the config before it. Maps are merged key by key. Lists whose entries have an identity (cameras,
 * auth.users) are merged entry by entry. Everything else is replaced.
 */
export function merge(before: Located, over: Located, schema: Schema | undefined): Located {
  if (before.kind === 'map' && over.kind === 'map') return mergeMaps(before, over, schema)
  const identity = schema && facts.get(schema)?.identity
  if (before.kind === 'list' && over.kind === 'list' && identity) return mergeEntries(before, over, schema, identity)
  return over
}

function mergeMaps(before: Mapping, over: Mapping, schema: Schema | undefined): Mapping {
  const entries = new Map<string, Entry>(before.entries)
  for (const [name, entry] of over.entries) {
    const there = entries.get(name)
    const inner = schema && within(schema, name)
    entries.set(name, there ? { key: entry.key, value: merge(there.value, entry.value, inner) } : entry)
  }
  return { ...before, entries }
}

/** Merges entries of two files by identity. A name twice in one file stays a problem. */
function mergeEntries(before: List, over: List, schema: Schema, identity: string): List {
  const items = [...before.items]
  const names = before.items.map((item) => nameOf(item, identity))
  for (const item of over.items) {
    const name = nameOf(item, identity)
    const index = name === undefined ? -1 : names.indexOf(name)
    const there = items[index]
    if (there) items[index] = merge(there, item, repeated(schema)?.of)
    else items.push(item)
    delete names[index]
  }
  return { ...before, items }
}

function nameOf(item: Located, identity: string): unknown {
  const name = item.kind === 'map' ? item.entries.get(identity)?.value : undefined
  return name?.kind === 'scalar' && name.value !== null ? name.value : undefined
}

/**
 * Prepares one file before merging. Relative paths become absolute. A section or list whose keys are all commented out (null to
 * YAML) is removed.
 */
export function settle(node: Located, schema: Schema | undefined, resolve: (path: string) => string): Located {
  if (!schema) return node
  if (node.kind === 'list') {
    return { ...node, items: node.items.map((item, index) => settle(item, within(schema, index), resolve)) }
  }
  if (node.kind === 'map') return { ...node, entries: settleEntries(node, schema, resolve) }
  const isPath = typeof node.value === 'string' && node.value !== '' && kinds.get(bare(schema))?.path !== undefined
  return isPath ? { ...node, value: resolve(node.value as string) } : node
}

function settleEntries(map: Mapping, schema: Schema, resolve: (path: string) => string): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const [name, { key, value }] of map.entries) {
    const inner = within(schema, name)
    if (inner && isNull(value) && holdsOthers(inner) && !allowsNull(inner)) continue
    entries.set(name, { key, value: settle(value, inner, resolve) })
  }
  return entries
}

const isNull = (node: Located): boolean => node.kind === 'scalar' && node.value === null

const holdsOthers = (schema: Schema): boolean => fixedKeys(schema) !== undefined || repeated(schema) !== undefined
