import { z } from 'zod'

/** When a change of a key takes effect: at the next reload, or at the next start. */
export type Applies = 'live' | 'restart'

/** Facts of a key besides its type, for the reference, the example and a reload. */
export type Facts = {
  readonly sentence: string
  /** Given once for a section; a key inside it may differ. */
  readonly applies?: Applies
  /** The default in words, where it follows from other keys. */
  readonly derived?: string
  /** Value in the example where the default would say little. */
  readonly example?: unknown
  /** In a list of maps: the key that names an entry. Drop-ins change the entry of that name instead of the whole list. */
  readonly identity?: string
}

export const facts = z.registry<Facts>()

export type Schema = z.core.$ZodType

/** Returns the schema without its default and its `null`; of a word or a map, the map. */
export function bare(schema: Schema): Schema {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'union') return bare(def.options.at(-1) ?? schema)
  return def.type === 'prefault' || def.type === 'nullable' ? bare(def.innerType) : schema
}

export function allowsNull(schema: Schema): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod
  return def.type === 'nullable' || (def.type === 'prefault' && allowsNull(def.innerType))
}

/** Returns the default as it is written (`'5m'`, not 300000); undefined when the key is required. */
export function defaultOf(schema: Schema): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod
  return def.type === 'prefault' ? def.defaultValue : undefined
}

/** Returns the keys of a map with fixed keys, in the order of the schema; else undefined. */
export function fixedKeys(schema: Schema): Readonly<Record<string, Schema>> | undefined {
  const { def } = (bare(schema) as z.core.$ZodTypes)._zod
  return def.type === 'object' ? def.shape : undefined
}

/** Returns the schema of the values of a map with free keys, or of the entries of a list. */
export function repeated(schema: Schema): { readonly container: 'map' | 'list'; readonly of: Schema } | undefined {
  const { def } = (bare(schema) as z.core.$ZodTypes)._zod
  if (def.type === 'array') return { container: 'list', of: def.element }
  return def.type === 'record' ? { container: 'map', of: def.valueType } : undefined
}

/** Returns the schema one step down; undefined for an unknown key. */
export function within(schema: Schema, key: string | number): Schema | undefined {
  const keys = fixedKeys(schema)
  if (keys) return Object.hasOwn(keys, key) ? keys[key] : undefined
  return repeated(schema)?.of
}

/** Returns the schema at a path from the root; undefined for an unknown path. */
export function schemaAt(root: Schema, path: readonly (string | number)[]): Schema | undefined {
  return path.reduce<Schema | undefined>((schema, key) => schema && within(schema, key), root)
}

/** Writes a path for the admin: `cameras[0].motion.sensitivity`, `rateLimit.users["dock 1"]`. */
export function dotted(path: readonly (string | number)[]): string {
  return path.reduce<string>((before, key) => {
    if (typeof key === 'number') return `${before}[${key}]`
    if (!/^[\w-]+$/.test(key)) return `${before}[${JSON.stringify(key)}]`
    return before ? `${before}.${key}` : key
  }, '')
}
