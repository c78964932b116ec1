import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'
import { type Config, checkConfig, problemList } from '../config/index.ts'
import { EXIT_CONFIG, ExitError } from '../errors/index.ts'
import {
  makeGroupFolder,
  readFileIfThere,
  temporaryFolder,
  writeFileDurably,
  writeForGroup,
} from '../platform/index.ts'

/** Changes of the config: maps as they nest, lists of entries with their whole entries. */
export type Patch = { readonly [key: string]: unknown }

/** Lists whose entries are merged by this key, as the config merges drop-ins. */
const identities: Readonly<Record<string, string>> = { users: 'username', cameras: 'id' }

const head = ' Written by gatehouse setup. Running it again changes only what it is asked to change.'

/** Returns the file that setup may write: the config itself while there is none, else a drop-in beside it. */
export function ownFile(configFile: string): string {
  const dropIn = join(dirname(configFile), 'conf.d', '50-setup.yaml')
  return existsSync(configFile) ? dropIn : configFile
}

/** Says what is wrong with a patch, without writing it; undefined: nothing. */
export function problemOf(configFile: string, patch: Patch): string | undefined {
  const copy = temporaryFolder()
  try {
    const file = join(copy, basename(configFile))
    for (const [from, to] of filesBeside(configFile, copy)) {
      mkdirSync(dirname(to), { recursive: true })
      copyFileSync(from, to)
    }
    const own = ownFile(configFile) === configFile ? file : join(copy, 'conf.d', '50-setup.yaml')
    writeFileDurably(own, textWith(readFileIfThere(own), patch))
    return checkConfig(file).problems[0]?.message
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function filesBeside(configFile: string, copy: string): [from: string, to: string][] {
  if (!existsSync(configFile)) return []
  const folder = join(dirname(configFile), 'conf.d')
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.yaml')) : []
  return [
    [configFile, join(copy, basename(configFile))],
    ...names.map((name): [string, string] => [join(folder, name), join(copy, 'conf.d', name)]),
  ]
}

/**
 * Writes a patch, and takes it back when the config then has problems. Returns the file that it changed; undefined when it has the
 * patch already. Throws ExitError (78) for a bad config.
 */
export function applyPatch(configFile: string, patch: Patch): string | undefined {
  const own = ownFile(configFile)
  const before = readFileIfThere(own)
  const text = textWith(before, patch)
  if (before?.toString('utf8') === text || Object.keys(patch).length === 0) return undefined
  makeGroupFolder(dirname(configFile))
  makeGroupFolder(dirname(own))
  writeForGroup(own, text)
  const { config, problems } = checkConfig(configFile)
  const other = config && overridden(config, patch)
  if (config && other === undefined) return own
  if (before) writeForGroup(own, before)
  else rmSync(own, { force: true })
  const why = other === undefined ? problemList(problems) : `a later file in conf.d overrides ${other}`
  throw new ExitError(EXIT_CONFIG, `nothing was changed in the config: ${why}`)
}

/** Returns the first key of a patch that the config does not have in the end. */
function overridden(config: Config, { site, listen }: Patch): string | undefined {
  const wanted = { ...(site as object | undefined) }
  const [key] = Object.entries(wanted).find(([name, value]) => config.site[name as 'id'] !== value) ?? []
  if (key !== undefined) return `site.${key}`
  const ports = (all: unknown) => (all as { port: number }[]).map(({ port }) => port)
  return listen === undefined || isDeepStrictEqual(ports(listen), ports(config.listen)) ? undefined : 'listen'
}

function textWith(before: Buffer | undefined, patch: Patch): string {
  const document: Document = parseDocument(before?.toString('utf8') ?? '')
  if (before === undefined) document.commentBefore = head
  const contents = isMap(document.contents) ? document.contents : document.createNode({})
  document.contents = contents
  mergeInto(document, contents, patch)
  return document.toString({ lineWidth: 0 })
}

function mergeInto(document: Document, map: YAMLMap, patch: Patch): void {
  for (const [key, value] of Object.entries(patch)) {
    const there = map.get(key, true)
    const identity = identities[key]
    if (isMap(there) && isPlain(value)) mergeInto(document, there, value)
    else if (isSeq(there) && identity && Array.isArray(value)) mergeEntries(document, there, value, identity)
    else if (!isDeepStrictEqual(isMap(there) || isSeq(there) ? there.toJSON() : map.get(key), value)) {
      map.set(key, document.createNode(value))
    }
  }
}

function mergeEntries(document: Document, list: YAMLSeq, entries: readonly Patch[], identity: string): void {
  for (const entry of entries) {
    const there = list.items.find((item) => isMap(item) && item.get(identity) === entry[identity])
    if (isMap(there)) mergeInto(document, there, entry)
    else list.add(document.createNode(entry))
  }
}

const isPlain = (value: unknown): value is Patch => typeof value === 'object' && value !== null && !Array.isArray(value)
