import type { z } from 'zod'
import { nearestNames } from '../errors/index.ts'
import { scrubText } from '../platform/index.ts'
import { isCrossCheck } from './cross-checks.ts'
import { type Located, locate } from './document.ts'
import { allowsNull, bare, dotted, facts, fixedKeys, repeated, type Schema, schemaAt } from './keys.ts'
import { kinds } from './kinds.ts'
import type { Place, Problem } from './problems.ts'

type Path = (string | number)[]

/** Turns the schema's issues into problems: sentences for the admin, with file and line. */
export function explain(issues: readonly z.core.$ZodIssue[], root: Located, schema: Schema): Problem[] {
  return issues.flatMap((issue) => {
    const path = issue.path as Path
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key], root, schema))
    const { value, place } = locate(root, path)
    const inMap = value?.kind === 'map' ? issuesOfMap(issue) : undefined
    if (inMap) return explain(inMap, root, schema)
    if (issue.code === 'invalid_key') return [badName(path, keyPlace(root, path), schema)]
    const message = isCrossCheck(issue) ? issue.message : wrongValue(value, path, schema)
    return [{ place, path: dotted(path), message }]
  })
}

/** Returns the issues inside a map, where another type than a map is allowed too; undefined for other issues. */
function issuesOfMap(issue: z.core.$ZodIssue): z.core.$ZodIssue[] | undefined {
  if (issue.code !== 'invalid_union') return undefined
  const inside = issue.errors.find((errors) =>
    errors.some(({ code, path }) => code === 'unrecognized_keys' || path.length > 0),
  )
  return inside?.map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
}

/** Says whether an issue may only mean that a key is missing, as when part of the config could not be read. */
export function maybeIncomplete(issue: z.core.$ZodIssue, root: Located): boolean {
  const { value } = locate(root, issue.path as Path)
  return isCrossCheck(issue) || value === undefined || (value.kind === 'scalar' && value.value === undefined)
}

function unknownKey(path: Path, root: Located, schema: Schema): Problem {
  const written = String(path.at(-1))
  const siblings = Object.keys(fixedKeys(schemaAt(schema, path.slice(0, -1)) ?? schema) ?? {})
  const near = nearestNames(written, siblings)
  const meant = near.length > 0 ? near : elsewhere(schema, written)
  return { place: keyPlace(root, path), path: dotted(path), message: `unknown key${didYouMean(meant)}` }
}

/** Explains a wrong key of a map whose keys are limited (`rateLimit.roles`). */
function badName(path: Path, place: Place, schema: Schema): Problem {
  const map = bare(schemaAt(schema, path.slice(0, -1)) ?? schema)
  const { def } = (map as z.core.$ZodTypes)._zod
  const kind = def.type === 'record' ? kinds.get(def.keyType as Schema) : undefined
  const near = nearestNames(String(path.at(-1)), kind?.choices ?? [])
  return { place, path: dotted(path), message: `expected ${kind?.expected ?? 'another name'}${didYouMean(near)}` }
}

function wrongValue(value: Located | undefined, path: Path, schema: Schema): string {
  const wanted = schemaAt(schema, path) ?? schema
  const kind = kinds.get(bare(wanted))
  const expected = kind?.expected ?? container(wanted)
  if (!value) return `is required: ${expected}`
  const near = value.kind === 'scalar' ? nearestNames(String(value.value), kind?.choices ?? []) : []
  const orNull = allowsNull(wanted) ? 'null or ' : ''
  const found = unquoted(value, wanted) ?? butFound(value, expected, kind?.discreet === true)
  return `expected ${orNull}${expected}${found}${didYouMean(near)}`
}

/** Kinds of text that looks like a number or like `true` when it is not in quotes. */
const nameKinds: ReadonlySet<string | undefined> = new Set(['text', 'path', 'address or host name'])

/** Says how to write a text that YAML reads as a number or as true or false; undefined for any other value. */
function unquoted(value: Located, wanted: Schema): string | undefined {
  if (value.kind !== 'scalar' || value.written === undefined) return undefined
  const kind = kinds.get(bare(wanted))
  const isText = kind ? nameKinds.has(kind.name) : (bare(wanted) as z.core.$ZodTypes)._zod.def.type === 'string'
  if (!isText) return undefined
  const type = typeof value.value === 'number' ? 'the number' : 'the truth value'
  if (kind?.discreet) return `, not ${type.replace('the', 'a')}; write it in quotes`
  return `, not ${type} ${String(value.value)}; write "${value.written}" in quotes`
}

function container(schema: Schema): string {
  const of = repeated(schema)?.container
  return of === 'list' ? 'a list' : 'a map of keys'
}

function butFound({ kind, ...found }: Located, expected: string, discreet: boolean): string {
  if (!('value' in found)) return expected.startsWith(`a ${kind}`) ? '' : `, not a ${kind}`
  const { value } = found
  if (value === null) return ', not nothing'
  if (discreet) return typeof value === 'string' ? '' : `, not a ${typeof value}`
  if (typeof value === 'string') return `, not ${JSON.stringify(scrubText(shortened(value)))}`
  return `, not ${String(value)}`
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text)

function didYouMean(names: readonly string[]): string {
  return names.length > 0 ? `; did you mean ${names.join(' or ')}?` : ''
}

/** Finds where the schema has a key of this name, for a key in the wrong section. */
function elsewhere(schema: Schema, name: string, path = ''): string[] {
  const of = repeated(schema)
  if (of) return elsewhere(of.of, name, of.container === 'list' ? `${path}[]` : path)
  return Object.entries(fixedKeys(schema) ?? {}).flatMap(([key, inner]) => {
    const here = path ? `${path}.${key}` : key
    return [...(key === name && facts.has(inner) ? [here] : []), ...elsewhere(inner, name, here)]
  })
}

function keyPlace(root: Located, path: Path): Place {
  const parent = locate(root, path.slice(0, -1))
  const entry = parent.value?.kind === 'map' ? parent.value.entries.get(String(path.at(-1))) : undefined
  return entry?.key ?? parent.place
}
