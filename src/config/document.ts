import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
  type YAMLMap,
  type Scalar as YamlScalar,
} from 'yaml'
import { dotted } from './keys.ts'
import type { Place, Problem } from './problems.ts'

/** A YAML value with the place where it was written. A scalar of undefined could not be read. */
export type Located = Scalar | Mapping | List
type Scalar = {
  readonly kind: 'scalar'
  readonly place: Place
  readonly value: unknown
  /** The text in the file, of a number and of true and false. */
  readonly written?: string
}
export type Mapping = { readonly kind: 'map'; readonly place: Place; readonly entries: ReadonlyMap<string, Entry> }
export type List = { readonly kind: 'list'; readonly place: Place; readonly items: readonly Located[] }
export type Entry = { readonly key: Place; readonly value: Located }

export type Source = {
  /** File name in messages. */
  readonly file: string
  /** Absolute folder; relative paths in the file are relative to it. */
  readonly folder: string
  readonly text: string
}

type Reading = {
  /** Undefined for an empty file. */
  readonly root: Mapping | undefined
  readonly problems: readonly Problem[]
  /** False: a part could not be read and is missing from `root`. */
  readonly whole: boolean
}

/** Most values after aliases are expanded: a small file with nested aliases could expand without limit. */
const mostValues = 200_000
const deepest = 32
/** Most parser errors that are reported: one typing error causes many. */
const mostFaults = 10
const tooDeep = 'nested too deeply for a config'

/** Reads one YAML file. Returns problems of its content; throws nothing for them. */
export function readDocument(source: Source): Reading {
  const lines = new LineCounter()
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { file: source.file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const document = parse(source.text, lines)
  if (!document) return { root: undefined, problems: [{ place: place(0), path: '', message: tooDeep }], whole: false }
  const faults = [...document.errors, ...document.warnings].slice(0, mostFaults)
  const problems = faults.map((fault) => ({ place: place(fault.pos[0]), path: '', message: inWords(fault) }))
  // The content of a file with syntax errors is not reported further.
  if (document.errors.length > 0) return { root: undefined, problems, whole: false }
  const builder = new Builder(aliasTargets(document), place)
  const root = builder.build(document.contents)
  return { root, problems: [...problems, ...builder.problems], whole: faults.length === 0 && builder.whole }
}

/**
 * Parses the text; undefined when it is nested too deeply for the stack. Our own checks replace the library's for
 * duplicate keys (quadratic there) and aliases (only counted there).
 */
function parse(text: string, lineCounter: LineCounter): Document.Parsed | undefined {
  const options = { schema: 'core', resolveKnownTags: false, uniqueKeys: false, prettyErrors: false }
  const document = parseDocument(text, { ...options, lineCounter })
  return document.errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION') ? undefined : document
}

/** Returns our message for a parser error. The library's may quote secrets from the file. */
function inWords(fault: YAMLError): string {
  if (fault.code === 'TAB_AS_INDENT') return 'a tab cannot indent; use spaces'
  if (fault.code === 'TAG_RESOLVE_FAILED') return 'tags (words that begin with !) are not allowed here'
  if (fault.code === 'MULTIPLE_DOCS') return 'a second YAML document begins here; a config is one'
  return `no YAML: ${fault.message.split(/[:\n]/, 1)[0]}`
}

/** Returns the anchor of each alias: the last one of its name before it. One walk for all aliases. */
function aliasTargets(document: Document.Parsed): Map<Alias, Node> {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Node(_, node) {
      const target = isAlias(node) && anchors.get(node.source)
      if (isAlias(node) && target) targets.set(node, target)
      else if (node.anchor) anchors.set(node.anchor, node)
    },
  })
  return targets
}

class TooMuch extends Error {}

class Builder {
  readonly problems: Problem[] = []
  whole = true
  readonly #targets: ReadonlyMap<Alias, Node>
  readonly #place: (offset: number) => Place
  readonly #reported = new Set<string>()
  #values = 0

  constructor(targets: ReadonlyMap<Alias, Node>, place: (offset: number) => Place) {
    this.#targets = targets
    this.#place = place
  }

  build(contents: Node | null): Mapping | undefined {
    if (!contents || (isScalar(contents) && contents.value === null)) return undefined
    try {
      const root = this.#value(contents, this.#start(contents), [])
      if (root.kind === 'map') return root
      this.#problem(root.place, [], 'expected a map of keys, such as "site:" with its own keys indented below it')
    } catch (error) {
      if (!(error instanceof TooMuch)) throw error
      this.#problem(this.#start(contents), [], error.message)
    }
    this.whole = false
    return undefined
  }

  /** Reads a node. An alias is replaced by its anchor's value, with the place where it is used. */
  #value(node: Node | null, place: Place, path: readonly (string | number)[]): Located {
    this.#values += 1
    if (this.#values > mostValues)
      throw new TooMuch(`with its aliases written out this is more than ${mostValues} values`)
    if (path.length > deepest)
      throw new TooMuch(`${dotted(path.slice(0, 3))} … is nested more than ${deepest} levels deep`)
    if (isAlias(node)) return this.#aliased(node, place, path)
    if (isMap(node)) return { kind: 'map', place, entries: this.#entries(node, path) }
    if (isScalar(node) && losesDigits(node)) return this.#misread(node, place, path)
    if (isScalar(node)) return { kind: 'scalar', place, ...scalarOf(node) }
    if (!isSeq(node)) return { kind: 'scalar', place, value: null }
    const items = node.items as (Node | null)[]
    return {
      kind: 'list',
      place,
      items: items.map((item, i) => this.#value(item, this.#start(item, place), [...path, i])),
    }
  }

  /** Reports a misread number and keeps it as text, so that the schema reports nothing else about it. */
  #misread({ source, value }: YamlScalar, place: Place, path: readonly (string | number)[]): Located {
    const written = source ?? ''
    this.#problem(
      place,
      path,
      `${written} is read as the number ${value}; write "${written}" in quotes if it is a name, ${value} if it is a number`,
    )
    return { kind: 'scalar', place, value: written }
  }

  #aliased(alias: Alias, place: Place, path: readonly (string | number)[]): Located {
    const target = this.#targets.get(alias)
    if (target) return this.#value(target, place, path)
    this.#problem(place, path, 'there is no anchor of this name before it')
    this.whole = false
    return { kind: 'scalar', place, value: undefined }
  }

  #entries(map: YAMLMap, path: readonly (string | number)[]): Map<string, Entry> {
    const entries = new Map<string, Entry>()
    for (const pair of map.items as Pair<Node, Node | null>[]) {
      const key = this.#start(pair.key)
      const name = keyText(pair.key)
      if (name === undefined) {
        this.#problem(key, path, 'a key must be text')
        continue
      }
      const before = entries.get(name)
      const value = this.#value(pair.value, this.#start(pair.value, key), [...path, name])
      if (before) this.#problem(key, [...path, name], `this key is in line ${before.key.line} already`)
      else entries.set(name, { key, value })
    }
    return entries
  }

  #start(node: Node | null, otherwise?: Place): Place {
    if (node?.range) return this.#place(node.range[0])
    return otherwise ?? this.#place(0)
  }

  #problem(place: Place, path: readonly (string | number)[], message: string): void {
    // A problem that aliases repeat is reported once.
    const spot = `${place.line}:${place.column}`
    if (this.#reported.has(spot)) return
    this.#reported.add(spot)
    this.problems.push({ place, path: dotted(path), message })
  }
}

function scalarOf({ value, source }: YamlScalar): Pick<Scalar, 'value' | 'written'> {
  const isText = typeof value === 'string' || value === null
  return isText || source === undefined ? { value } : { value, written: source }
}

/** Says whether YAML reads another number than the one written: `007`, `0123`, `0o17`, `0x1F`. */
const losesDigits = ({ value, source }: YamlScalar): boolean =>
  typeof value === 'number' && /^[-+]?0[0-9ox]/i.test(source ?? '')

/** Returns a key as it is written: the user name 007 is not the number 7. */
function keyText(key: Node): string | undefined {
  if (!isScalar(key) || key.value === null) return undefined
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}

/** Returns the value without places, for the schema. */
export function plain(node: Located): unknown {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(plain)
  return Object.fromEntries([...node.entries].map(([name, { value }]) => [name, plain(value)]))
}

/** Returns the value at a path, and the place of the last existing key on the way. */
export function locate(
  root: Located,
  path: readonly (string | number)[],
): { value: Located | undefined; place: Place } {
  let at: Located = root
  for (const key of path) {
    const next: Located | undefined = step(at, key)
    if (!next) return { value: undefined, place: at.place }
    at = next
  }
  return { value: at, place: at.place }
}

function step(node: Located, key: string | number): Located | undefined {
  if (node.kind === 'map') return node.entries.get(String(key))?.value
  return node.kind === 'list' && typeof key === 'number' ? node.items[key] : undefined
}
