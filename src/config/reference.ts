import { stringify } from 'yaml'
import {
  type Applies,
  allowsNull,
  bare,
  defaultOf,
  type Facts,
  facts,
  fixedKeys,
  repeated,
  type Schema,
} from './keys.ts'
import { kinds } from './kinds.ts'
import { configSchema } from './schema.ts'

export type ConfigKey = {
  /** `cameras[].motion.sensitivity`, `rateLimit.users.NAME`. */
  readonly path: string
  readonly type: string
  readonly standard: string
  readonly unit: string
  readonly applies: Applies
  readonly sentence: string
}

/** Returns the reference as Markdown: every key with type, default, unit, and whether a reload applies it. */
export function configReference(): string {
  const sections = configSections().map(({ name, sentence, keys }) =>
    [`## ${name}`, '', sentence, '', ...table(keys), ''].join('\n'),
  )
  return [...introduction, '', ...sections].join('\n')
}

export type ConfigSection = {
  readonly name: string
  readonly sentence: string
  readonly keys: readonly ConfigKey[]
}

/** Returns the contents of the reference, section by section, for other forms of it. */
export function configSections(): ConfigSection[] {
  return Object.entries(fixedKeys(configSchema) ?? {}).map(([name, schema]) => {
    const [own, ...inner] = rowsOf(name, schema, 'restart')
    return { name, sentence: factsOf(schema).sentence, keys: isSection(schema) || !own ? inner : [own, ...inner] }
  })
}

const introduction = [
  '# Configuration',
  '',
  'One YAML file, `/etc/gatehouse/gatehouse.yaml`, and drop-ins beside it in `conf.d/*.yaml`, which go over it in the',
  'order of their names. Maps are merged; `cameras` and `auth.users` are merged by `id` and `username`; every other list',
  'replaces the one before it. Relative paths are relative to the file that names them. Keys marked *live* follow a',
  'reload (SIGHUP), the others the next start. `[]` stands for each entry of a list, NAME for a key of your choice.',
]

function table(rows: readonly ConfigKey[]): string[] {
  const cells = rows.map((r) => [code(r.path), r.type, code(r.standard), r.unit, r.applies, r.sentence])
  const lines = [['key', 'type', 'default', 'unit', 'applies', 'meaning'], Array(6).fill('---'), ...cells]
  return lines.map((line) => `| ${line.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
}

/** Formats a default as code, unless it is in words. */
const code = (text: string): string => (text === '' || text.startsWith('*') ? text : `\`${text}\``)

function rowsOf(path: string, schema: Schema, inherited: Applies): ConfigKey[] {
  const found = facts.get(schema)
  const applies = found?.applies ?? inherited
  const own = found ? [{ path, ...columnsOf(schema, found), applies, sentence: found.sentence }] : []
  const of = repeated(schema)
  const below = of ? `${path}${of.container === 'list' ? '[]' : '.NAME'}` : path
  const keys = Object.entries(fixedKeys(of?.of ?? schema) ?? {})
  return [...own, ...keys.flatMap(([key, inner]) => rowsOf(`${below}.${key}`, inner, applies))]
}

function columnsOf(schema: Schema, { derived }: Facts): Pick<ConfigKey, 'type' | 'standard' | 'unit'> {
  const standard = defaultOf(schema)
  const unit = kinds.get(bare(repeated(schema)?.of ?? schema))?.unit ?? ''
  const type = `${typeOf(schema)}${allowsNull(schema) && derived === undefined ? ' or null' : ''}`
  if (derived !== undefined) return { type, standard: `*${derived}*`, unit }
  if (standard === undefined) return { type, standard: '*required*', unit }
  return { type, standard: isSection(schema) ? '' : inline(standard), unit }
}

function typeOf(schema: Schema): string {
  const kind = kinds.get(bare(schema))
  if (kind) return kind.name
  const of = repeated(schema)
  return of ? `${of.container} of ${fixedKeys(of.of) ? 'maps' : typeOf(of.of)}` : 'map'
}

/**
 * Returns an example config that explains every key: `site.id` is set, everything else is its default, commented out.
 */
export function configExample(): string {
  const lines = Object.entries(fixedKeys(configSchema) ?? {}).flatMap(([name, schema]) => [
    '',
    ...exampleOf(name, schema, { indent: '', first: '', commented: false }),
  ])
  return `${[...wrapped('', preface), ...lines].join('\n')}\n`
}

const preface =
  'Configuration of gatehouse. Every key but site.id has a default. A commented key shows its default, or an ' +
  'example where "default:" says so. Check a change with "gatehouse config check"; "systemctl reload gatehouse" applies ' +
  'everything but what is marked (restart).'

type Spot = {
  readonly indent: string
  /** `- ` before the first key of a list's entry. */
  readonly first: string
  readonly commented: boolean
}

/**
 * Writes a key of the example. Sentences follow `# `, commented-out keys follow `#` directly: removing every `#`
 * without a blank after it gives a config that sets everything.
 */
function exampleOf(name: string, schema: Schema, spot: Spot): string[] {
  const known = factsOf(schema)
  const comment = wrapped(spot.indent, `${known.sentence}${remark(schema, known)}`)
  const inner = entriesOf(schema)
  const isRequired = defaultOf(schema) === undefined
  const commented = spot.commented || (!inner && !isRequired)
  const lead = `${spot.indent}${commented ? '#' : ''}${spot.first}${name}:`
  if (!inner) return [...comment, `${lead} ${inline(known.example ?? defaultOf(schema))}`]
  const indent = `${spot.indent}${spot.first ? '  ' : ''}  `
  const isList = repeated(schema) !== undefined
  const below = Object.entries(inner).flatMap(([key, of], index) => {
    const dash = isList && index === 0
    const place = isList && index > 0 ? `${indent}  ` : indent
    return exampleOf(key, of, {
      indent: place,
      first: dash ? '- ' : '',
      commented: commented || isList || allowsNull(schema),
    })
  })
  return [...comment, lead, ...below]
}

function remark(schema: Schema, { example, derived, applies }: Facts): string {
  const standard = defaultOf(schema)
  const shown = example !== undefined && standard !== undefined ? ` (default: ${derived ?? inline(standard)})` : ''
  return `${shown}${applies === 'restart' ? ' (restart)' : ''}`
}

/** Returns the keys of a map, or of an entry of a list of maps. */
function entriesOf(schema: Schema): Readonly<Record<string, Schema>> | undefined {
  const of = repeated(schema)
  return of?.container === 'map' ? undefined : fixedKeys(of?.of ?? schema)
}

/** Says whether a key is a section: a map with a default that is not null. */
const isSection = (schema: Schema): boolean => fixedKeys(schema) !== undefined && !allowsNull(schema)

function factsOf(schema: Schema): Facts {
  const found = facts.get(schema)
  if (!found) throw new Error('a key of the config has no sentence')
  return found
}

/** Returns a value as one line of YAML. */
function inline(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim()
}

function wrapped(indent: string, text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && `${last} ${word}`.length <= 110) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`${indent}# ${word}`)
  }
  return lines
}
